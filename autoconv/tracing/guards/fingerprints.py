"""Fingerprints of values from outside a trace: equal as long as a value is equivalent for the trace.

Most fingerprints are one of these tuples:
- (class, value) for a number or text, and (class, fingerprints of the items) for a container;
- such a pair followed by "and" and a pair of own attributes and class attributes, if the class is the user's;
- (id, pairs of a name and a fingerprint, class attributes) for an object or a module;
- (id, reference) for a value that is compared by identity.
"""

from __future__ import annotations

import enum
import functools
import re
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.lazy_dataclass import dataclass, field
from autoconv.operators.calls.call import FRAMEWORKS, is_user_code
from autoconv.runtime.objects.symbolic_generators import is_generator
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import attributes_of, has_attributes, has_hidden_state
from autoconv.runtime.support.exact_value import exact_value
from autoconv.runtime.support.immutable_classes import is_immutable_object
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.support.structure import ATOMS
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tracing.guards.attribute_reads import AttributeReads
from autoconv.tracing.key.array_keys import NUMERIC_KINDS, needs_numpy

MAX_DEPTH = 20  # nesting of values that are compared
_MAX_COMPARED_BYTES = 1 << 20  # bytes of an array that is compared on every call
_MAX_ITEMS = 100_000  # items of a container that is compared on every call, which takes about a microsecond per item
_MAX_PARTS = 2_000  # containers and objects that are compared on every call; a trace examines each several times
IDENTITY_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, Tensor, Variable,
    np.ufunc, type(np.sum), np.dtype, enum.Enum, types.MethodWrapperType, types.WrapperDescriptorType,
    types.GenericAlias, types.EllipsisType, types.NotImplementedType, re.Pattern,
)  # fmt: skip
_IDENTITY_TYPES_WITH_PARTS = (types.FunctionType, types.ModuleType)
_SCALAR_TYPES = (bool, int, str, bytes, float, complex)
_VALUE_TYPES = (*_SCALAR_TYPES, type(None), list, tuple, dict, set, frozenset, np.ndarray)
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)
_DEPTH_IN_CLASSES = 8  # nesting of values in class attributes
# Attributes that describe a class, and on which no method depends.
_DESCRIPTIVE_CLASS_ATTRIBUTES = frozenset(
    {
        "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__abstractmethods__", "__slots__",
        "__orig_bases__", "__parameters__", "__static_attributes__", "__firstlineno__", "_abc_impl",
        "__dataclass_fields__", "__dataclass_params__",
    }
)  # fmt: skip
# Internal tables of an enumeration.
_ENUMERATION_TABLES = frozenset(
    name for name in vars(enum.Enum("_Sample", ())) if name.startswith("_") and not name.startswith("__")
)
_IMMUTABLE_MODULES = frozenset({"numpy", "autoconv"})  # packages whose attributes programs are presumed not to change
_IDENTITY_HOOKS = ("__autoconv_function__", "__autoconv_resource__", "__autoconv_spec__")


class Unguardable(Exception):
    """Raised for a value whose changes cannot be detected; the arguments are the value's name and the reason."""

    def __str__(self) -> str:
        return "{} ({})".format(*self.args)


@dataclass(slots=True)
class Fingerprints:
    """Computes fingerprints of values, which are equal as long as the values are equivalent.

    Attributes and items in `input_keys`, pairs of the owner's id and a name or position, are inputs of the trace and
    not compared. If `strict` is true, Unguardable is raised for values that cannot be guarded; otherwise they are
    compared by identity, and their names are added to `unguarded`. Visited arrays are added to `arrays` by id, the
    classes whose attributes are compared to `compared_classes`, and the classes of visited objects to
    `object_classes`. If `reads` is given, only attributes that it names count; otherwise `module_attributes` are
    the names of module attributes that are compared.
    """

    input_keys: frozenset[Any] = frozenset()
    strict: bool = True
    unguarded: list[str] = field(default_factory=list)
    arrays: dict[int, np.ndarray] = field(default_factory=dict)
    reads: AttributeReads | None = None
    module_attributes: frozenset[str] = frozenset()
    compared_classes: set[type] = field(default_factory=set)
    object_classes: set[type] = field(default_factory=set)
    _attributes_by_class: dict[type, tuple[Any, ...]] = field(default_factory=dict)  # class -> their fingerprints
    _visited: dict[int, Any] = field(default_factory=dict)  # id of a visited value -> its fingerprint if it recurs

    def of(self, value: Any, name: str = "", depth: int = MAX_DEPTH) -> Any:
        """Return the fingerprint of a value with its parts, nested `depth` deep at most; `name` is for messages."""
        if isinstance(value, _SCALAR_TYPES) and not isinstance(value, np.number):
            return self._scalar(value, name, depth)
        if value is MISSING or value is None:
            return (type(value),)
        if isinstance(value, TensorShape):
            return TensorShape, repr(value)
        if isinstance(value, types.MethodType) and depth:
            return types.MethodType, *(self.of(part, name, depth - 1) for part in (value.__func__, value.__self__))
        if isinstance(value, type):
            return id(value), _live_reference(value), self._class_values(value, name) if is_user_code(value) else ()
        if isinstance(value, enum.Enum):
            return self._once(value, self._enum_member, name, depth)
        if is_compared_by_identity(value) and not isinstance(value, _IDENTITY_TYPES_WITH_PARTS):
            return id(value), _live_reference(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value), value, name)
        if depth == 0 and isinstance(value, _IDENTITY_TYPES_WITH_PARTS):
            return id(value), _live_reference(value)
        if depth == 0:
            return self._fingerprint_by_identity(value, name, "it is nested too deeply")
        if id(value) in self._visited:
            return self._visited[id(value)]
        # A value that is reached again, in a cycle or not, is identified by its position in visiting order. So shared
        # parts are compared once, and not along every path.
        self._visited[id(value)] = "visited", len(self._visited)
        if self.strict and len(self._visited) > _MAX_PARTS:
            return self._fingerprint_by_identity(value, name, f"more than {_MAX_PARTS:,} objects would be compared")
        result = self._parts(value, name, depth - 1)
        if isinstance(value, (tuple, frozenset, range, slice)):  # a program cannot tell two equal ones from one
            self._visited[id(value)] = result
        return result

    def _once(self, value: Any, make: Callable[[Any, str, int], Any], name: str, depth: int) -> Any:
        """Return make(value, name, depth), computed once for each value.

        In the fingerprint of a value that contains itself, a number stands for the value.
        """
        if id(value) not in self._visited:
            self._visited[id(value)] = "visited", len(self._visited)
            self._visited[id(value)] = make(value, name, max(depth - 1, 0))
        return self._visited[id(value)]

    def _enum_member(self, value: enum.Enum, name: str, depth: int) -> Any:
        """Return the fingerprint of a member of an enumeration: its identity and its attributes."""
        self.compared_classes.add(type(value))
        self.object_classes.add(type(value))
        return id(value), self._own_attributes(value, name, depth)

    def _parts(self, value: Any, name: str, depth: int) -> Any:
        """Return the fingerprint of a function, module, container or object, which consists of those of its parts."""
        if isinstance(value, types.FunctionType):
            return id(value), _live_reference(value), value.__code__, self._function_values(value, name, depth)
        if isinstance(value, types.ModuleType):
            names_read = self.module_attributes if self.reads is None else self.reads.module_names
            parts = guarded_module_attributes(value, names_read)
            return id(value), tuple((key, self.of(part, f"{name}.{key}", depth)) for key, part in parts.items()), ()
        return self._container(value, name, depth)

    def _container(self, value: Any, name: str, depth: int) -> Any:
        """Return the fingerprint of a container or object: its parts, preceded by its id if identity matters."""
        cls = type(value)
        cls = getattr(cls, "__autoconv_plain__", cls)  # a traced container becomes a plain one
        if self.strict and isinstance(value, (list, tuple, dict, set, frozenset)):
            count = base_of(value).__len__(value)  # type: ignore[attr-defined]
            if count > _MAX_ITEMS:
                return self._fingerprint_by_identity(value, name, f"{with_article(cls)} of {count:,} items")
        if isinstance(value, (list, tuple)):
            return self._sequence(value, cls, name, depth)
        if isinstance(value, dict):
            pairs = list(iterate_as_builtin(value))  # at once, as other threads may change it meanwhile
            items = tuple(
                (self.of(key, name, depth), self.of(item, f"{name}[{_key_text(key)}]", depth)) for key, item in pairs
            )
            if cls is dict:
                return cls, items
            return cls, items, "and", self._attributes_and_class(value, name, depth)
        if isinstance(value, (set, frozenset)):  # in iteration order, which is visible in loops
            items = tuple(self.of(item, name, depth) for item in tuple(iterate_as_builtin(value)))
            if cls in (set, frozenset):
                return cls, items
            return cls, items, "and", self._attributes_and_class(value, name, depth)
        if isinstance(value, (range, slice)):
            return cls, tuple(self.of(bound, name, depth) for bound in (value.start, value.stop, value.step))
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return id(value), tuple(self.of(part, name, depth) for part in parts)
        is_of_framework = cls.__module__.partition(".")[0] in FRAMEWORKS  # such objects keep their state in variables
        if (is_of_framework and not self.strict) or getattr(cls, "__autoconv_identity__", False):
            return id(value), _live_reference(value)
        is_opaque = is_generator(value) or (cls.__module__ in ("numpy", "builtins") and cls is not np.vectorize)
        is_exception = issubclass(cls, BaseException)
        if not has_attributes(value) or is_opaque or (has_hidden_state(cls) and not is_exception):
            return self._fingerprint_by_identity(value, name, with_article(cls))
        self.object_classes.add(cls)
        attributes = self._own_attributes(value, name, depth)
        if is_exception:
            attributes += (("args", self.of(value.args, f"{name}.args", depth)),)
        return id(value), attributes, self._class_values(cls, name)

    def _sequence(self, value: Any, cls: type, name: str, depth: int) -> Any:
        """Return the fingerprint of a list or tuple of the class `cls`."""
        parts = tuple(
            None if (id(value), i) in self.input_keys else self.of(item, f"{name}[{i}]", depth)
            for i, item in enumerate(iterate_as_builtin(value))
        )
        if self.input_keys and any((id(value), i) in self.input_keys for i in range(len(parts))):
            parts += id(value), _live_reference(value)  # guard the identity: inputs are read from this very sequence
        if cls in (list, tuple):
            return cls, parts
        return cls, parts, "and", self._attributes_and_class(value, name, depth)

    def _own_attributes(self, value: Any, name: str, depth: int) -> tuple[Any, ...]:
        """Return the fingerprint of an object's own attributes; their order counts if all attributes are compared."""
        names_read = self.reads.names_for_class(type(value)) if self.reads is not None else None
        attributes = attributes_of(value)
        return tuple(
            (key, self.of(attributes[key], f"{name}.{key}", depth))
            for key in (attributes if names_read is None else sorted(attributes.keys() & names_read))
            if not key.startswith("__autoconv") and (id(value), key) not in self.input_keys
        )

    def _scalar(self, value: Any, name: str, depth: int) -> Any:
        """Return the fingerprint of a number or text, with its attributes if its class is the user's."""
        if type(value) in _SCALAR_TYPES:
            return type(value), exact_value(value)
        return type(value), exact_value(value), "and", self._once(value, self._attributes_and_class, name, depth)

    def _attributes_and_class(self, value: Any, name: str, depth: int) -> tuple[Any, ...]:
        """Return the attributes and class values of a container, number or text of a user's class."""
        cls = type(value)
        self.object_classes.add(cls)
        return self._own_attributes(value, name, depth), self._class_values(cls, name) if is_user_code(cls) else ()

    def _array(self, array: np.ndarray, value: Any, name: str) -> Any:
        """Return the fingerprint of an array: identity, dtype, shape and, unless it is large, contents."""
        if array is value:
            self.arrays[id(array)] = array
        is_large_array = array.nbytes > _MAX_COMPARED_BYTES
        if self.strict and (is_large_array or array.dtype.kind not in NUMERIC_KINDS or needs_numpy(value)):
            return self._fingerprint_by_identity(value, name, with_article(type(value)))
        identity = (id(value), _live_reference(value)) if array is value else ()
        if is_large_array or array.dtype.hasobject:
            self.unguarded.append(f"{name} (its contents are not compared: it is large or holds objects)")
            return np.ndarray, identity, array.dtype.str, array.shape
        return np.ndarray, identity, array.dtype.str, array.shape, array.tobytes()

    def _class_values(self, cls: type, name: str) -> tuple[Any, ...]:
        """Return the ids of the bases of a class, and the fingerprints of its and their user-defined attributes."""
        if cls not in self._attributes_by_class:
            names_read = self.reads.names_for_class(cls) if self.reads is not None else None
            self._attributes_by_class[cls] = ("itself",)  # the fingerprint where its own attributes refer to it
            self.compared_classes.add(cls)
            self._attributes_by_class[cls] = tuple(map(id, cls.__mro__)), *(
                (key, self.class_value(value, f"{name}.{key}", self.reads is None or key in self.reads.names))
                for base in cls.__mro__
                for key, value in guarded_class_attributes(base, names_read)
                if (id(base), key) not in self.input_keys
            )
        return self._attributes_by_class[cls]

    def class_value(self, value: Any, name: str = "", is_read: bool = False) -> Any:
        """Return the fingerprint of a class attribute; one that cannot be guarded is compared by identity.

        If traced code reads the attribute (`is_read`), raise Unguardable for mutable data instead.
        """
        if isinstance(value, (staticmethod, classmethod)):
            return id(value), self.class_value(value.__func__, name)
        if isinstance(value, property):
            return id(value), *(self.class_value(part, name) for part in (value.fget, value.fset, value.fdel))
        if isinstance(value, _DESCRIPTORS) or (not self.strict and not isinstance(value, _VALUE_TYPES)):
            return id(value)
        try:
            return self.of(value, name, _DEPTH_IN_CLASSES)
        except Unguardable:
            if is_read and _is_mutable_data(value):
                raise
        return id(value)

    def _fingerprint_by_identity(self, value: Any, name: str, reason: str) -> Any:
        """Return the fingerprint by identity of a value that cannot be guarded; raise Unguardable if `strict`."""
        if self.strict:
            raise Unguardable(name, reason)
        self.unguarded.append(f"{name} ({reason})")
        return id(value), _live_reference(value)

    def _function_values(self, function: types.FunctionType, name: str, depth: int) -> tuple[Any, ...]:
        """Return the fingerprints of the defaults and attributes of a user's function; () if there are none."""
        defaults = function.__defaults__, function.__kwdefaults__
        if not (any(defaults) or function.__dict__) or not depth or not is_user_code(function):
            return ()
        own_attributes = [
            (key, value)
            for key, value in function.__dict__.items()
            if not key.startswith("__") and (id(function), key) not in self.input_keys
        ]
        return tuple(self.of(part, name, depth - 1) for part in defaults) + tuple(
            (key, self.class_value(value, name)) for key, value in own_attributes
        )


def _is_mutable_data(value: Any) -> bool:
    """Return whether a value is data that a program may change: no descriptor, callable, lock or large array."""
    cls = type(value)
    may_change = cls.__hash__ is None or isinstance(value, (tuple, memoryview)) or is_user_code(cls)
    return may_change and not (hasattr(cls, "__get__") or callable(value) or is_large(value))


def base_of(value: Any) -> type:
    """Return the first class in the value's method resolution order that is not user-defined."""
    return next(cls for cls in type(value).__mro__ if not is_user_code(cls))


def iterate_as_builtin(value: Any) -> Any:
    """Return the items of a list, tuple or set, or the pairs of a dict, without calling user-defined methods."""
    base: Any = base_of(value)
    return base.items(value) if isinstance(value, dict) else base.__iter__(value)


def guarded_class_attributes(base: type, names_read: frozenset[str] | None) -> Iterator[tuple[str, Any]]:
    """Iterate over a user's class attributes that are special methods or among `names_read` (None: all names)."""
    if is_user_code(base):
        is_enumeration = issubclass(base, enum.Enum)
        for key, value in list(vars(base).items()):
            is_internal = key in _DESCRIPTIVE_CLASS_ATTRIBUTES or (is_enumeration and key in _ENUMERATION_TABLES)
            if (names_read is None or key in names_read or key.startswith("__")) and not is_internal:
                yield key, value


def is_user_module(module: types.ModuleType) -> bool:
    """Return whether a module is the user's, so that its functions may be converted."""
    return is_user_code(types.SimpleNamespace(__module__=module.__name__, __code__=None))


def guarded_module_attributes(module: types.ModuleType, names: frozenset[str]) -> dict[str, Any]:
    """Return the module's attributes with these names; only the mutable ones for a module that is not the user's."""
    attributes = {name: vars(module)[name] for name in sorted(names & vars(module).keys())}
    if is_user_module(module):
        return attributes
    is_immutable = module.__name__.partition(".")[0] in _IMMUTABLE_MODULES
    return {} if is_immutable else {name: part for name, part in attributes.items() if _may_change(name, part)}


def _may_change(name: str, value: Any) -> bool:
    """Return whether a module attribute is public and mutable: its class is unhashable, and no identity guards it."""
    return type(value).__hash__ is None and not (name.startswith("_") or is_compared_by_identity(value))


def is_compared_by_identity(value: Any) -> bool:
    """Return whether a value is equivalent only to itself, so that its identity guards it."""
    if type(value) is object or isinstance(value, IDENTITY_TYPES) or is_immutable_object(value):
        return True
    return any(hasattr(type(value), hook) for hook in _IDENTITY_HOOKS)


def is_large(value: Any) -> bool:
    """Return whether a value is a numeric array too large to be compared on every call."""
    return isinstance(value, np.ndarray) and value.nbytes > _MAX_COMPARED_BYTES and value.dtype.kind in NUMERIC_KINDS


def has_to_be_input(value: Any) -> bool:
    """Return whether guards cannot compare a value that can be an input: a large array, or a random generator."""
    return is_large(value) or is_generator(value)


def _key_text(key: Any) -> str:
    """Return a dict's key for messages, without running a `__repr__` of the program."""
    if type(key) is tuple:
        return f"({', '.join(map(_key_text, key))})"
    return repr(key) if type(key) in ATOMS else f"<{type(key).__name__}>"


def _live_reference(value: Any) -> Any:
    """Return a reference that tells a value from a later one with the same id: weak where possible, else strong."""
    try:
        return _LiveReference(weakref.ref(value))
    except TypeError:
        return _LiveReference(lambda: value)


class _LiveReference:
    """A reference that equals another one while both refer to the same living object."""

    __slots__ = ("get",)

    def __init__(self, get: Callable[[], Any]) -> None:
        self.get = get

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _LiveReference) and self.get() is other.get() and self.get() is not None

    def __hash__(self) -> int:
        return 0  # equality depends on the object being alive, so all references have one hash
