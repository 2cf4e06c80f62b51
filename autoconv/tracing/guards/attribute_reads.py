"""Attributes of objects that the functions of a trace may read, by their code: only these are guarded.

A log in an attribute that no function names, for example, may change between calls. If a function may read attributes
that it does not name (`getattr`, `vars`, `copy.copy`, a class pattern), all attributes are guarded.
The analysis is conservative: the set of names only grows, to a fixed point over the functions and classes reached.
"""

from __future__ import annotations

import abc
import builtins
import copy
import dataclasses
import functools
import inspect
import itertools
import types
import typing
import weakref
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from autoconv.operators.calls.call import is_user_code
from autoconv.runtime.support.attribute_hooks import has_compared_class, hooks_attributes
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.bytecode import instructions_of
from autoconv.runtime.support.structure import raw_items

_MAX_VALUES = 2000  # values searched at most
_MAX_FUNCTIONS = 300  # functions that are examined; with more, all attributes count

# "Open" code may read attributes whose names are not in its text: by these builtins, or by these attributes. Code is
# "closed" if it reads attributes by name only.
_OPEN_BUILTINS = (getattr, hasattr, delattr, vars, dir, eval, exec, compile, locals, globals, __import__)
_OPEN_NAMES = frozenset(
    {
        "__dict__", "__slots__", "__getstate__", "__reduce__", "__reduce_ex__", "__getattribute__", "__getattr__",
        "__subclasses__", "__builtins__", "__globals__", "__closure__", "__match_args__", "__dataclass_fields__",
        "format", "format_map",
    }
)  # fmt: skip
# Modules whose functions read only special methods of objects, which their classes define.
_CLOSED_MODULES = frozenset(
    {
        "builtins", "numpy", "math", "cmath", "time", "random", "itertools", "functools", "collections", "typing",
        "enum", "abc", "numbers", "__future__", "warnings",
    }
)  # fmt: skip
# Special methods that are added when they run, and not because an object of the class is reachable.
_CREATION_METHODS = frozenset({"__init__", "__new__", "__del__", "__init_subclass__"})
_BASES_WITHOUT_CODE = (object, abc.ABC, typing.Generic, typing.Protocol)
_TYPES_WITHOUT_PARTS = frozenset({int, float, bool, complex, str, bytes, type(None), range, slice})
_FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType)
_DESCRIPTORS = (
    types.FunctionType, property, staticmethod, classmethod, functools.cached_property, types.MemberDescriptorType,
    types.GetSetDescriptorType, types.WrapperDescriptorType, type(functools.lru_cache(len)),
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class CodeNames:
    """The names in code and its inner functions.

    `globals` and `attributes` are read, `modules` are imported, and `texts` are strings that could be names. If
    `is_closed` is true, the code reads no attributes other than `attributes`.
    """

    globals: frozenset[str]
    attributes: frozenset[str]
    modules: frozenset[str]
    texts: frozenset[str]
    is_closed: bool


def names_in_code(code: types.CodeType) -> CodeNames:
    """Return the names that a code object reads, collected once."""
    result = _NAMES_BY_CODE.get(code)
    if result is None:
        result = _NAMES_BY_CODE[code] = _collect_names(code)
    return result


_NAMES_BY_CODE: weakref.WeakKeyDictionary[types.CodeType, CodeNames] = weakref.WeakKeyDictionary()
_GLOBAL_OPCODES = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})
_ATTRIBUTE_OPCODES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "DELETE_ATTR", "IMPORT_FROM"})


def _collect_names(code: types.CodeType) -> CodeNames:
    """Collect the names from the bytecode of a code object and of its inner functions."""
    global_names: set[str] = set()
    attributes: set[str] = set()
    modules: set[str] = set()
    texts = {constant for constant in code.co_consts if isinstance(constant, str) and constant.isidentifier()}
    is_closed = True
    for instruction in instructions_of(code):
        opcode, name = instruction.opname, instruction.argval
        if opcode in _GLOBAL_OPCODES:
            global_names.add(name)
            is_closed &= name != "__builtins__"
        elif opcode in _ATTRIBUTE_OPCODES:
            attributes.add(name)
            is_closed &= name not in _OPEN_NAMES
        elif opcode == "IMPORT_NAME":
            modules.add(name)
            is_closed &= _is_closed_module(name) and name != "builtins"
        elif opcode == "MATCH_CLASS":
            is_closed = False
    for inner in (names_in_code(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)):
        global_names |= inner.globals
        attributes |= inner.attributes
        modules |= inner.modules
        texts |= inner.texts
        is_closed &= inner.is_closed
    return CodeNames(frozenset(global_names), frozenset(attributes), frozenset(modules), frozenset(texts), is_closed)


class AttributeReads:
    """The attributes that the functions given to `add` may read of objects."""

    def __init__(self) -> None:
        self._names = {"keys"}  # read by `f(**x)` and `dict(x)`
        self._texts: set[str] = set()  # possible names in `getattr(module, "name")`
        self._final_names: frozenset[str] = frozenset()  # `_names` after the last search of the reachable classes
        self._is_closed = True
        self._functions: set[Any] = set()
        self._pending: list[types.FunctionType] = []
        # Class -> whether attributes of its objects are read by the names in `_names` only.
        self._is_closed_by_class: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()

    def add(self, function: types.FunctionType) -> None:
        """Add a function that runs, and the user's functions that it names."""
        self._pending.append(function)
        self._examine_pending()

    def _examine_pending(self) -> None:
        """Examine the functions found so far, and those that they name."""
        while self._pending:
            function = self._pending.pop()
            if function not in self._functions:
                self._functions.add(function)
                self._is_closed &= len(self._functions) < _MAX_FUNCTIONS
                self._examine(function)
            if not self._is_closed:  # all attributes count now, so further functions add nothing
                self._pending.clear()

    def _examine(self, function: types.FunctionType) -> None:
        """Add the names in a function's code, and visit the values of its cells, defaults and global names."""
        code_names = names_in_code(function.__code__)
        self._names |= code_names.attributes
        self._texts |= code_names.texts
        self._is_closed &= code_names.is_closed
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
        for value in (*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._visit(value)
        for name in code_names.globals:
            self._visit(function.__globals__.get(name, getattr(builtins, name, None)))

    def copy(self) -> AttributeReads:
        """Return an independent copy."""
        other = copy.copy(self)
        other._names, other._functions, other._pending = set(self._names), set(self._functions), list(self._pending)
        other._texts = set(self._texts)
        other._is_closed_by_class = self._is_closed_by_class.copy()
        return other

    def include(self, other: AttributeReads) -> AttributeReads:
        """Add the reads of another trace that becomes part of this one; return the sum, this object."""
        self._names |= other._names
        self._texts |= other._texts
        self._is_closed &= other._is_closed
        return self

    def with_reachable_classes(self, values: Collection[Any]) -> AttributeReads | None:
        """Return a copy to which `add_reachable_classes` added the values.

        Return None if so many values are reachable that all attributes count as read: visiting them could take seconds.
        """
        if sum(1 for _ in itertools.islice(reachable_values(values), _MAX_VALUES)) == _MAX_VALUES:
            return None
        result = self.copy()
        result.add_reachable_classes(values)
        return result

    def add_reachable_classes(self, values: Iterable[Any]) -> list[Any]:
        """Add the classes of all objects that are reachable from the values; return these objects.

        Special methods of these classes may run, and methods whose names are read. Numbers and texts are left out.
        """
        objects = list(reachable_values(values))
        self._is_closed &= len(objects) < _MAX_VALUES
        for value in objects:
            self._visit(value)
        self._examine_pending()
        counts_before: tuple[int, int] | None = None  # the numbers of names and classes before the last repetition
        while counts_before != (len(self._names), len(self._is_closed_by_class)):
            counts_before = len(self._names), len(self._is_closed_by_class)
            for base in {base for cls in list(self._is_closed_by_class) for base in cls.__mro__ if is_user_code(base)}:
                for name, value in list(vars(base).items()):
                    if name in self._names or (name.startswith("__") and name not in _CREATION_METHODS):
                        self._visit(value)
            self._examine_pending()
        self._functions.clear()
        self._final_names = frozenset(self._names)
        return objects

    @property
    def names(self) -> frozenset[str]:
        """All attributes that the functions read by name, as of the last `add_reachable_classes`."""
        return self._final_names

    @property
    def module_names(self) -> frozenset[str]:
        """The attributes that may be read of modules; valid before `add_reachable_classes` as well."""
        return frozenset(self._names | self._texts)

    @property
    def attribute_names_if_all_known(self) -> frozenset[str] | None:
        """The attributes in `names`; None if functions may also read attributes that they do not name."""
        return self._final_names if self._is_closed else None

    def names_for_class(self, cls: type) -> frozenset[str] | None:
        """Return the attributes that may be read of objects of a class that was added; None for all of them."""
        return self._final_names if self._is_closed and self._is_closed_by_class.get(cls, False) else None

    def _visit(self, value: Any) -> None:
        """Add the functions and classes whose code may run if the value is used."""
        if has_compared_class(type(value)):
            return
        if hooks_attributes(type(value)):  # only the class is examined: the value would run code of the program
            self._visit_class(type(value))
        elif isinstance(value, types.FunctionType) and is_user_code(value):
            self._pending.append(value)
        elif isinstance(value, types.MethodType):
            self._visit(value.__func__)
        elif isinstance(value, types.ModuleType):
            self._is_closed &= _is_closed_module(value.__name__) and value is not builtins  # builtins has getattr
        elif isinstance(value, type):
            self._visit_class(value)
            self._is_closed &= _is_closed_module(value.__module__)  # operator.attrgetter is not closed
        elif isinstance(value, _FUNCTION_TYPES):
            self._is_closed &= value not in _OPEN_BUILTINS and _is_closed_module(value.__module__ or "builtins")
        elif isinstance(value, (types.MethodWrapperType, np.ufunc)):
            # Only NumPy's own ufuncs are closed: others may run Python functions, and a wrapper be `__getattribute__`.
            self._is_closed &= getattr(np, value.__name__, None) is value
        elif type(value) not in _TYPES_WITHOUT_PARTS:
            self._visit_class(type(value))
            for function in _wrapped_functions(value):
                self._visit(function)
            is_known = is_user_code(type(value)) or _is_closed_module(type(value).__module__)
            self._is_closed &= is_known or not callable(value) or hasattr(type(value), "__autoconv_function__")

    def _visit_class(self, cls: type) -> None:
        """Note a class, and whether attributes of its objects are read by names in code only."""
        if cls in self._is_closed_by_class:
            return
        bases = [base for base in cls.__mro__ if base not in _BASES_WITHOUT_CODE]
        # A static lookup, because the metaclass may compute attributes.
        is_protocol = inspect.getattr_static(cls, "_is_protocol", False)
        for base in bases if is_protocol else ():  # isinstance reads a protocol's attributes
            self._names.update(vars(base), vars(base).get("__annotations__", ()))
        is_dataclass = any("__dataclass_fields__" in vars(base) for base in bases)
        self._is_closed_by_class[cls] = bool(bases) and not is_dataclass and all(map(_is_closed_class, bases))


def _is_closed_class(cls: type) -> bool:
    """Return whether attributes of a class's objects are only read by name, or by functions of the class itself."""
    attributes = vars(cls)
    if not is_user_code(cls) or "__getattr__" in attributes or "__getattribute__" in attributes:
        return False
    descriptors = [value for value in list(attributes.values()) if hasattr(type(value), "__get__")]
    return all(
        isinstance(value, _DESCRIPTORS) or is_user_code(type(value)) or hasattr(type(value), "__autoconv_function__")
        for value in descriptors
    )


def _wrapped_functions(value: Any) -> Iterator[Any]:
    """Iterate over the functions inside a property, a partial, or the result of a decorator."""
    if isinstance(value, (*_DESCRIPTORS, functools.partial)):
        parts = (getattr(value, name, None) for name in ("__func__", "__wrapped__", "fget", "fset", "fdel", "func"))
        yield from (part for part in parts if part is not None)


def reachable_values(
    values: Iterable[Any], input_keys: frozenset[Any] = frozenset(), reads: AttributeReads | None = None
) -> Iterator[Any]:
    """Iterate over the values and their parts, except numbers and text.

    Items and attributes in `input_keys` are left out, which are pairs of the id of a list or object and a position or
    name. If `reads` is given, attributes that are not read are left out as well.
    """
    visited_ids: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) in visited_ids or type(value) in _TYPES_WITHOUT_PARTS:
            continue
        visited_ids.add(id(value))
        yield value
        if isinstance(value, dict):
            pending += _values_with_parts((*dict.keys(value), *dict.values(value)))
        elif input_keys and isinstance(value, (list, tuple)):
            pending += [item for i, item in enumerate(raw_items(value)) if (id(value), i) not in input_keys]
        elif isinstance(value, (list, tuple, set, frozenset)):
            pending += _values_with_parts(raw_items(value))
        elif isinstance(value, functools.partial):
            pending += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, types.MethodType):
            pending += [value.__self__, value.__func__]
        elif is_user_code(type(value)) and not isinstance(value, (type, types.FunctionType)):
            pending += attribute_values(value, input_keys, reads)


def _values_with_parts(items: Iterable[Any]) -> list[Any]:
    """Return the items that are no numbers, texts or the like."""
    return [item for item in items if type(item) not in _TYPES_WITHOUT_PARTS]


def attribute_values(value: Any, input_keys: frozenset[Any], reads: AttributeReads | None = None) -> list[Any]:
    """Return the values of an object's attributes, without those in `input_keys` and those that are not read."""
    names = None if reads is None else reads.names_for_class(type(value))
    return [
        part
        for name, part in attributes_of(value).items()
        if (id(value), name) not in input_keys and (names is None or name in names)
    ]


def reachable_classes(values: Iterable[Any]) -> set[type]:
    """Return the classes of the values reached, apart from numbers and text; the search ends at `_MAX_VALUES`."""
    return set(map(type, itertools.islice(reachable_values(values), _MAX_VALUES)))


def _is_closed_module(name: str) -> bool:
    """Return whether a module's functions read special methods only, or are the user's, which are examined."""
    package = name.partition(".")[0]
    return package in _CLOSED_MODULES or is_user_code(types.SimpleNamespace(__module__=name))


def _is_bound(cell: Any) -> bool:
    """Return whether a cell is not empty; reading an empty cell raises ValueError."""
    try:
        cell.cell_contents  # noqa: B018 reading it is the test
    except ValueError:
        return False
    return True


def iterate_names(code: types.CodeType) -> Iterator[str]:
    """Iterate over the names of globals and attributes that code uses, its inner functions included."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from iterate_names(constant)
