"""Generated guard checks: Python code specialised for the values that a trace depends on.

Fingerprints give the same result, but are recomputed on every call, which takes ten times as long. A checker compares
the values one by one and stops at the first difference. Then fingerprints decide, because values that the checker
distinguishes may be equivalent.
"""

from __future__ import annotations

import collections
import enum
import functools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from autoconv.operators.calls.call import is_user_code
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.support.attributes import (
    attributes_of,
    dict_of,
    has_dict,
    has_plain_dict,
    instance_attributes,
    slots_of,
)
from autoconv.tracing.guards.fingerprints import (
    Fingerprints,
    Unguardable,
    base_of,
    guarded_class_attributes,
    guarded_module_attributes,
    is_compared_by_identity,
    is_large,
    is_user_module,
)
from autoconv.tracing.guards.python_codegen import FunctionWriter, TooLong

_MAX_ITEMS = 64  # items of a list, tuple or dict that are compared one by one
_NUMBER_AND_TEXT_TYPES = (int, str, bytes, float, complex, np.number, np.bool_)
_ATOM_TYPES = frozenset({int, str, bytes, float, complex, bool, type(None)})
_GET_FUNCTION_PARTS = operator.attrgetter("__code__", "__defaults__", "__kwdefaults__", "__dict__")
_IMMUTABLE_TYPES = (
    *_NUMBER_AND_TEXT_TYPES, bool, type(None),
    types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
    type(vars(collections.namedtuple("_", "x"))["x"]),  # the descriptor of a field
)  # fmt: skip
# Values of these types that have no comparison of their own in `compare` are compared by their fingerprints.
_FINGERPRINTED_TYPES = (list, tuple, dict, set, frozenset, range, slice, functools.partial, np.ndarray, np.generic)

Binding = tuple[Any, str | None]  # where a value is read: (namespace, name), or (closure cell, None)


class OutsideValue(NamedTuple):
    """A value that a trace read: its name for messages, the function that reads it, and its binding, if known."""

    name: str
    read: Callable[[], Any]
    binding: Binding | None


class Check(NamedTuple):
    """A guard of an outside value: the value has to keep its fingerprint."""

    value: OutsideValue
    fingerprint: Any


def generate_checker(
    outside_values: Iterable[OutsideValue], fingerprints: Callable[[], Fingerprints]
) -> Callable[[], bool] | None:
    """Return a function that returns true only while all values have the fingerprints that they have now.

    Return None if there are too many values. `fingerprints` makes an object that computes them.
    """
    check_writer = _CheckWriter(fingerprints)
    try:
        for _, read, binding in outside_values:
            check_writer.compare(read(), check_writer.read_expression(read, binding))
    except (TooLong, Unguardable):
        return None
    check_writer.release_containers()
    return check_writer.writer.finish("True")


class _CheckWriter:
    """Writes the comparisons, value by value, to the `writer`."""

    def __init__(self, fingerprints: Callable[[], Fingerprints]) -> None:
        self.writer = FunctionWriter(fallback="False")
        self._fingerprints = fingerprints
        # Values in `_input_keys` (pairs of an owner's id and a key) are not compared; only attributes in `_reads` are.
        self._input_keys, self._reads = fingerprints().input_keys, fingerprints().reads
        self._visited: dict[int, tuple[str, Any]] = {}  # id of a container -> (its variable, the container)
        self._compared_classes: set[type] = set()

    def release_containers(self) -> None:
        """Release the visited containers, because the generated comparisons of classes keep this writer alive."""
        self._visited.clear()

    def read_expression(self, read: Callable[[], Any], binding: Binding | None) -> str:
        """Return the expression by which the generated code reads a value."""
        if binding is None or read() is MISSING:
            return f"{self.writer.constant(read)}()"
        container, key = binding
        constant = self.writer.constant(container)
        return f"{constant}.cell_contents" if key is None else f"{constant}[{key!r}]"

    def compare(self, value: Any, expression: str) -> None:
        """Write the comparison of `value` with what `expression` reads when the checker runs."""
        if value is None or value is True or value is False:
            self.writer.require(f"{expression} is {value}")
            return
        variable = self.writer.variable(expression)
        if value is MISSING:
            self.writer.require(f"{variable} is {self.writer.constant(MISSING)}")
        elif isinstance(value, _NUMBER_AND_TEXT_TYPES) and not attributes_of(value) and not is_user_code(type(value)):
            self.writer.require_equal(value, variable)
        elif isinstance(value, types.FunctionType):
            self._compare_function(value, variable)
        elif isinstance(value, type):
            self.writer.require_same(value, variable)
            if is_user_code(value):
                self._compare_class(value)
        elif isinstance(value, types.MethodType) or base_of(value) in (list, tuple, dict):
            self._compare_parts(value, variable)
        elif isinstance(value, types.ModuleType):
            self._compare_module(value, variable)
        elif is_compared_by_identity(value) and not isinstance(value, enum.Enum):
            self.writer.require_same(value, variable)
        elif type(value) is np.ndarray and not is_large(value) and not value.dtype.hasobject:
            self._compare_array(value, variable)
        elif type(value) in (types.SimpleNamespace, np.vectorize):
            self._compare_object(value, variable)
        elif isinstance(value, _FINGERPRINTED_TYPES) or not is_user_code(type(value)):
            self._compare_fingerprint(value, variable)
        elif has_plain_dict(value) or not has_dict(value):
            self._compare_object(value, variable)
        else:
            self._compare_fingerprint(value, variable)

    def _compare_function(self, value: types.FunctionType, variable: str) -> None:
        """Compare a function: by identity, and the user's functions by their code and defaults as well."""
        if not is_user_code(value):
            self.writer.require_same(value, variable)
        elif value.__defaults__ or value.__kwdefaults__ or value.__dict__:
            self._compare_fingerprint(value, variable)
        else:
            self.writer.require_same(value, variable)
            self.writer.require(f"{variable}.__code__ is {self.writer.constant(value.__code__)}")
            self.writer.require(f"not ({variable}.__defaults__ or {variable}.__kwdefaults__ or {variable}.__dict__)")

    def _compare_module(self, value: types.ModuleType, variable: str) -> None:
        """Compare a module: its identity, and those of its attributes that traced code may read."""
        self.writer.require_same(value, variable)
        if self._reads is None:
            return
        names = self._reads.module_names
        parts = guarded_module_attributes(value, names)
        if not is_user_module(value) and not parts:
            return
        attributes = self.writer.variable(f"{variable}.__dict__")
        present_names = names & vars(value).keys()
        self._require_names(attributes, names, present_names)
        if not self._require_same_if_repeated(value, variable):
            for name, part in parts.items():
                self.compare(part, f"{attributes}[{name!r}]")

    def _require_names(self, attributes: str, names: frozenset[str], present: frozenset[str]) -> None:
        """Require that the dict in the variable `attributes` has, of `names`, only those that are `present` now."""
        self.writer.require(f"{attributes}.keys() & {self.writer.constant(names)} == {self.writer.constant(present)}")

    def _compare_parts(self, value: Any, variable: str) -> None:
        """Compare a list, tuple, dict or method part by part."""
        if self._require_same_if_repeated(value, variable):
            return
        self.writer.require(f"type({variable}) is {self.writer.constant(type(value))}")
        if isinstance(value, types.MethodType):
            self.compare(value.__func__, f"{variable}.__func__")
            self.compare(value.__self__, f"{variable}.__self__")
            return
        base: Any = base_of(value)
        keys = list(base.keys(value) if base is dict else range(base.__len__(value)))
        is_exact_builtin = type(value) is base
        if len(keys) > _MAX_ITEMS or not all(type(key) in (str, int, bytes) for key in keys):
            self._compare_as_a_whole(value, variable)
            return
        if base is dict:
            keys_expression = variable if is_exact_builtin else f"{self.writer.constant(dict.keys)}({variable})"
            self.writer.require_keys(keys, keys_expression)
        else:
            get_length = "len" if is_exact_builtin else self.writer.constant(base.__len__)
            self.writer.require(f"{get_length}({variable}) == {len(keys)}")
        get_item = "" if is_exact_builtin else self.writer.constant(base.__getitem__)
        if base is not dict and any((id(value), key) in self._input_keys for key in keys):
            self.writer.require_same(value, variable)  # not an equal one, as inputs of the trace are read from it
        for key in keys:
            if base is dict or (id(value), key) not in self._input_keys:
                item_expression = f"{variable}[{key!r}]" if is_exact_builtin else f"{get_item}({variable}, {key!r})"
                self.compare(base.__getitem__(value, key), item_expression)
        if not is_exact_builtin:
            self._compare_attributes(value, variable)

    def _compare_as_a_whole(self, value: Any, variable: str) -> None:
        """Compare the items of a large container by identity if they are immutable; otherwise compare fingerprints.

        If an item was replaced by an equal object, the comparison fails, and fingerprints decide.
        """
        cls = type(value)
        is_partly_compared = any(owner == id(value) for owner, _ in self._input_keys)
        # Lists of items, each after the suffix that reads it from the variable; a dict has lists of keys and of values.
        item_lists = [("", list(value))] + ([(".values()", list(dict.values(value)))] if cls is dict else [])
        has_only_atoms = {type(item) for _, items in item_lists for item in items} <= _ATOM_TYPES
        if cls not in (list, tuple, dict) or is_partly_compared or not has_only_atoms:
            self._compare_fingerprint(value, variable)
            return
        self.writer.require(f"len({variable}) == {len(value)}")
        for suffix, items in item_lists:
            is_same = self.writer.constant(operator.is_)
            comparisons = f"map({is_same}, {variable}{suffix}, {self.writer.constant(items)})"
            self.writer.require(f"all({comparisons})")

    def _compare_array(self, value: np.ndarray, variable: str) -> None:
        """Compare an array: its identity, dtype, shape and contents."""
        self.writer.require_same(value, variable)
        self.writer.require(f"{variable}.dtype is {self.writer.constant(value.dtype)}")
        self.writer.require(f"{variable}.shape == {value.shape!r}")
        self.writer.require(f"{variable}.tobytes() == {self.writer.constant(value.tobytes())}")

    def _compare_object(self, value: Any, variable: str) -> None:
        """Compare an object: its identity, class and attributes."""
        if self._require_same_if_repeated(value, variable):
            return
        self.writer.require_same(value, variable)
        self.writer.require(f"type({variable}) is {self.writer.constant(type(value))}")
        self._compare_attributes(value, variable)

    def _compare_attributes(self, value: Any, variable: str) -> None:
        """Compare the attributes of an object and of its class."""
        read_names = self._reads.names_for_class(type(value)) if self._reads is not None else None
        if dict_of(value) is not None:
            attributes = self.writer.variable(f"{variable}.__dict__")
            present_attributes = instance_attributes(value)
            if read_names is None:
                self.writer.require(f"[*{attributes}] == {self.writer.constant(list(present_attributes))}")
            else:
                self._require_names(attributes, read_names, read_names & present_attributes.keys())
            for name, part in present_attributes.items():
                is_compared = not name.startswith("__autoconv") and (id(value), name) not in self._input_keys
                if is_compared and (read_names is None or name in read_names):
                    self.compare(part, f"{attributes}[{name!r}]")
        for name, slot in slots_of(type(value)):
            if (id(value), name) not in self._input_keys and (read_names is None or name in read_names):
                self._compare_slot(slot, value, variable)
        self._compare_class(type(value))

    def _compare_slot(self, slot: Any, value: Any, variable: str) -> None:
        """Compare the value in a slot of an object, which may be empty."""
        try:
            part = slot.__get__(value)
        except AttributeError:  # the slot is empty
            self.writer.require(f"{self.writer.constant(_is_empty)}({self.writer.constant(slot)}, {variable})")
        else:
            self.compare(part, f"{self.writer.constant(slot)}.__get__({variable})")

    def _compare_class(self, cls: type) -> None:
        """Compare the bases and attributes of a class: by identity, and mutable attributes by fingerprint as well."""
        if cls in self._compared_classes:
            return
        self._compared_classes.add(cls)
        self.writer.require(f"{self.writer.constant(cls)}.__mro__ is {self.writer.constant(cls.__mro__)}")
        read_names = self._reads.names_for_class(cls) if self._reads is not None else None
        for base in filter(is_user_code, cls.__mro__):
            attributes = dict(guarded_class_attributes(base, read_names))
            values = {name: value for name, value in attributes.items() if (id(base), name) not in self._input_keys}
            namespace = self.writer.constant(vars(base))
            self.writer.require(f"len({namespace}) == {len(vars(base))}")
            # Keeps the values alive, so that their ids stay unique.
            self.writer.constant([value for value in values.values() if not isinstance(value, np.ndarray)])
            ids = self.writer.constant([id(value) for value in values.values()])
            self.writer.require(f"[*map(id, map({namespace}.get, {self.writer.constant(list(values))}))] == {ids}")
            functions = [function for value in values.values() for function in _functions_of(value)]
            self._compare_functions([*filter(_is_compared_by_parts, filter(is_user_code, functions))])
            for name, value in values.items():
                if type(value) is dict and not value:
                    self.writer.require(f"not {namespace}[{name!r}]")
                elif isinstance(value, enum.Enum):
                    self.compare(value, f"{namespace}[{name!r}]")
                elif not (_never_changes(value) or _has_only_compared_functions(value)):
                    fingerprint = self._fingerprint_of_class_value
                    expression = f"{self.writer.constant(fingerprint)}({namespace}[{name!r}])"
                    self.writer.require(f"{expression} == {self.writer.constant(fingerprint(value))}")

    def _compare_functions(self, functions: list[types.FunctionType]) -> None:
        """Compare the code, defaults and attributes of functions, all at once."""
        if functions:
            expression = f"[*map({self.writer.constant(_GET_FUNCTION_PARTS)}, {self.writer.constant(functions)})]"
            parts_of_functions = map(_GET_FUNCTION_PARTS, functions)
            parts = [(*other_parts, dict(attributes)) for *other_parts, attributes in parts_of_functions]
            self.writer.require(f"{expression} == {self.writer.constant(parts)}")
        for function in functions:
            if function.__defaults__:  # by identity, as == does not distinguish 1 from 1.0
                defaults = f"{self.writer.constant(function)}.__defaults__"
                self.writer.require(f"{defaults} is {self.writer.constant(function.__defaults__)}")

    def _compare_fingerprint(self, value: Any, variable: str) -> None:
        """Compare a value by its fingerprint, which is computed in each call."""
        fingerprint = self._fingerprint
        expected_fingerprint = self.writer.constant(fingerprint(value))
        self.writer.require(f"{self.writer.constant(fingerprint)}({variable}) == {expected_fingerprint}")

    def _fingerprint(self, value: Any) -> Any:
        return self._fingerprints().of(value)

    def _fingerprint_of_class_value(self, value: Any) -> Any:
        return self._fingerprints().class_value(value)

    def _require_same_if_repeated(self, value: Any, variable: str) -> bool:
        """Require the object that the variable of an earlier comparison holds; return false if there was none."""
        first_variable, _ = self._visited.setdefault(id(value), (variable, value))
        if first_variable == variable:
            return False
        self.writer.require(f"{variable} is {first_variable}")
        return True


def _functions_of(value: Any) -> list[Any]:
    """Return the functions inside a function, class-level method or property."""
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    candidates = (value.fget, value.fset, value.fdel) if type(value) is property else (value,)
    return [candidate for candidate in candidates if isinstance(candidate, types.FunctionType)]


def _has_only_compared_functions(value: Any) -> bool:
    """Return whether the value holds functions, all of which are compared by their parts."""
    functions = _functions_of(value)
    return bool(functions) and all(map(_is_compared_by_parts, functions))


def _is_compared_by_parts(value: Any) -> bool:
    """Return whether `value` is a function for which the comparison in `_compare_functions` suffices.

    That holds for functions that are not the user's, or have immutable defaults and only special attributes.
    """
    if not isinstance(value, types.FunctionType) or (value.__kwdefaults__ and is_user_code(value)):
        return False
    if not is_user_code(value):
        return True
    return all(name.startswith("__") for name in value.__dict__) and _never_changes(value.__defaults__)


def _never_changes(value: Any) -> bool:
    """Return whether the value is deeply immutable."""
    if type(value) is tuple:
        return all(map(_never_changes, value))
    return type(value) in _IMMUTABLE_TYPES or isinstance(value, (np.number, np.bool_))


def _is_empty(slot: Any, value: Any) -> bool:
    """Return whether an object has no value in a slot."""
    try:
        slot.__get__(value)
    except AttributeError:
        return True
    return False
