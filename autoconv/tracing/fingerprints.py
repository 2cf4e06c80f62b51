"""Fingerprints of values from outside a trace: what compares equal as long as a value means the same to it."""

from __future__ import annotations

import enum
import functools
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autoconv.operators.calls import is_user_code
from autoconv.runtime.attributes import attributes_of, has_attributes
from autoconv.runtime.journal import MISSING
from autoconv.runtime.tensor import Tensor
from autoconv.runtime.variable import Variable
from autoconv.tracing.array_keys import is_of_its_own
from autoconv.tracing.reads import Reads

DEPTH = 20
_LARGE = 1 << 20  # bytes of an array that are not gone through on every call
_MOST_ITEMS = 100_000  # of a container that are: each takes about a microsecond
IDENTITY = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, Tensor, Variable,
    np.ufunc, type(np.sum), np.dtype, enum.Enum, types.MethodWrapperType, types.WrapperDescriptorType,
    types.GenericAlias,
)  # fmt: skip
_WITH_PARTS = (types.FunctionType, types.ModuleType)
_SINGLE = (bool, int, str, bytes, float, complex)
_VALUES = (*_SINGLE, type(None), list, tuple, dict, set, frozenset, np.ndarray)
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)
_DEPTH_IN_CLASSES = 8
# What a class says of itself, and of which methods depend on nothing.
_DESCRIBING_CLASSES = frozenset(
    {
        "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__abstractmethods__", "__slots__",
        "__orig_bases__", "__parameters__", "__static_attributes__", "__firstlineno__", "_abc_impl",
        "__dataclass_fields__", "__dataclass_params__",
    }
)  # fmt: skip
# The books that an enumeration keeps of its members.
_DESCRIBING_ENUMERATIONS = frozenset(
    name for name in vars(enum.Enum("_Sample", ())) if name.startswith("_") and not name.startswith("__")
)
_HELD_BY_GRAPHS = ("__autoconv_function__", "__autoconv_resource__", "__autoconv_spec__")


class Unguardable(Exception):
    """A value whose changes cannot be noticed; `str()` says what it is."""


@dataclass(slots=True)
class Fingerprints:
    """Makes fingerprints of values: what compares equal as long as a value means the same.

    `skip` are attributes that do not count, as (id of the object, name). With `strict`, what cannot be guarded raises
    Unguardable; else it counts by identity, and `blind` gets its name. `arrays` gets the arrays that were met, `kinds`
    the classes, `of_objects` those that objects were met of. Of objects only those attributes count that `reads` names,
    where it is given; `names` are those of modules.
    """

    skip: frozenset[Any] = frozenset()
    strict: bool = True
    blind: list[str] = field(default_factory=list)
    arrays: dict[int, np.ndarray] = field(default_factory=dict)
    reads: Reads | None = None
    names: frozenset[str] = frozenset()
    kinds: set[type] = field(default_factory=set)
    of_objects: set[type] = field(default_factory=set)
    _classes: dict[type, tuple[Any, ...]] = field(default_factory=dict)
    _met: dict[int, Any] = field(default_factory=dict)  # by id: what is reached twice, or holds itself

    def of(self, value: Any, name: str = "", depth: int = DEPTH) -> Any:
        if isinstance(value, _SINGLE) and not isinstance(value, np.number):
            return self._single(value, name, depth)
        if value is MISSING or value is None:
            return (type(value),)
        if isinstance(value, types.MethodType) and depth:
            return types.MethodType, *(self.of(part, name, depth - 1) for part in (value.__func__, value.__self__))
        if isinstance(value, type):
            return id(value), _weak(value), self._class_values(value, name) if is_user_code(value) else ()
        if isinstance(value, enum.Enum):
            self.kinds.add(type(value))
            self.of_objects.add(type(value))
            return id(value), self._own(value, name, max(depth - 1, 0))
        if is_by_identity(value) and not isinstance(value, _WITH_PARTS):
            return id(value), _weak(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value), value, name)
        if depth == 0 and isinstance(value, _WITH_PARTS):
            return id(value), _weak(value)
        if depth == 0:
            return self._unguardable(value, name, "it is nested too deeply")
        if id(value) not in self._met:
            self._met[id(value)] = "met", len(self._met)  # what holds itself does so at one place or at another
            self._met[id(value)] = self._parts(value, name, depth - 1)
        return self._met[id(value)]

    def _parts(self, value: Any, name: str, depth: int) -> Any:
        if isinstance(value, types.FunctionType):
            return id(value), _weak(value), value.__code__, self._function_values(value, name, depth)
        if isinstance(value, types.ModuleType):
            read = parts_of_module(value, self.names if self.reads is None else self.reads.of_modules)
            return id(value), tuple((k, self.of(part, f"{name}.{k}", depth)) for k, part in read.items()), ()
        return self._container(value, name, depth)

    def _container(self, value: Any, name: str, depth: int) -> Any:
        kind = type(value)
        if self.strict and isinstance(value, (list, tuple, dict, set, frozenset)):
            base: Any = base_of(value)
            count = base.__len__(value)
            if count > _MOST_ITEMS:
                return self._unguardable(value, name, f"a {kind.__name__} of {count:,} items")
        if isinstance(value, (list, tuple)):
            parts = tuple(
                None if (id(value), i) in self.skip else self.of(item, f"{name}[{i}]", depth)
                for i, item in enumerate(held_items(value))
            )
            return (kind, parts) if kind in (list, tuple) else (kind, parts, "and", self._besides(value, name, depth))
        if isinstance(value, dict):
            pairs = list(held_items(value))  # at once: other threads may change it meanwhile
            items = tuple((self.of(k, name, depth), self.of(v, f"{name}[{k!r}]", depth)) for k, v in pairs)
            return (kind, items) if kind is dict else (kind, items, "and", self._besides(value, name, depth))
        if isinstance(value, (set, frozenset)):  # in their order, which loops show
            items = tuple(self.of(item, name, depth) for item in tuple(held_items(value)))
            plain = kind in (set, frozenset)
            return (kind, items) if plain else (kind, items, "and", self._besides(value, name, depth))
        if isinstance(value, range):
            return range, value.start, value.stop, value.step
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return id(value), tuple(self.of(part, name, depth) for part in parts)
        if not has_attributes(value) or kind.__module__ in ("numpy", "builtins"):
            return self._unguardable(value, name, f"a {kind.__name__}")
        self.of_objects.add(kind)
        return id(value), self._own(value, name, depth), self._class_values(kind, name)

    def _own(self, value: Any, name: str, depth: int) -> tuple[Any, ...]:
        """What the attributes of an object are, apart from its class's; in their order where `vars` may show it."""
        read = self.reads.of(type(value)) if self.reads is not None else None
        held = attributes_of(value)
        return tuple(
            (k, self.of(held[k], f"{name}.{k}", depth))
            for k in (held if read is None else sorted(held.keys() & read))
            if not k.startswith("__autoconv") and (id(value), k) not in self.skip
        )

    def _single(self, value: Any, name: str, depth: int) -> Any:
        """A number or text, and what attributes it has where its class is the user's."""
        kind = type(value)
        found = kind, repr(value) if isinstance(value, (float, complex)) else value
        return found if kind in _SINGLE else (*found, "and", self._besides(value, name, max(depth - 1, 0)))

    def _besides(self, value: Any, name: str, depth: int) -> tuple[Any, ...]:
        """What there is to a container, number or text of a class of its own besides what all such hold."""
        kind = type(value)
        self.of_objects.add(kind)
        return self._own(value, name, depth), self._class_values(kind, name) if is_user_code(kind) else ()

    def _array(self, array: np.ndarray, value: Any, name: str) -> Any:
        """By identity and, while it is not large, by what is in it: Python may have read that while tracing."""
        if array is value:
            self.arrays[id(array)] = array
        if self.strict and (array.nbytes > _LARGE or array.dtype.kind not in "biufc" or is_of_its_own(value)):
            return self._unguardable(value, name, f"a {type(value).__name__}")
        identity = (id(value), _weak(value)) if array is value else ()
        if array.nbytes > _LARGE or array.dtype.hasobject:
            self.blind.append(f"{name} (what Python itself computes of an array this large)")
            return np.ndarray, identity, array.dtype.str, array.shape
        return np.ndarray, identity, array.dtype.str, array.shape, array.tobytes()

    def _class_values(self, cls: type, name: str) -> tuple[Any, ...]:
        """What a class and its bases hold for their instances: plain values, containers of such, arrays, methods;
        without the attributes in `skip`, by (id of the class, name)."""
        if cls not in self._classes:
            read = self.reads.of(cls) if self.reads is not None else None
            self._classes[cls] = ("itself",)
            self.kinds.add(cls)
            self._classes[cls] = tuple(map(id, cls.__mro__)), *(
                (key, self.class_value(value, f"{name}.{key}", self.reads is None or key in self.reads.names))
                for base in cls.__mro__
                for key, value in class_parts(base, read)
                if (id(base), key) not in self.skip
            )
        return self._classes[cls]

    def class_value(self, value: Any, name: str = "", is_read: bool = False) -> Any:
        """As `of`; what cannot be guarded by identity, unless it is data that the trace reads by its name."""
        if isinstance(value, (staticmethod, classmethod)):
            return id(value), self.class_value(value.__func__, name)
        if isinstance(value, property):
            return id(value), *(self.class_value(part, name) for part in (value.fget, value.fset, value.fdel))
        if isinstance(value, _DESCRIPTORS) or (not self.strict and not isinstance(value, _VALUES)):
            return id(value)
        try:
            return self.of(value, name, _DEPTH_IN_CLASSES)
        except Unguardable:
            if is_read and _is_data(value):
                raise
        return id(value)

    def _unguardable(self, value: Any, name: str, why: str) -> Any:
        if self.strict:
            raise Unguardable(why)
        self.blind.append(f"{name} ({why})")
        return id(value), _weak(value)

    def _function_values(self, function: types.FunctionType, name: str, depth: int) -> tuple[Any, ...]:
        """What a function holds besides its code: defaults and attributes."""
        held = (function.__defaults__, function.__kwdefaults__, function.__dict__)
        if not any(held) or not depth or not is_user_code(function):
            return ()
        own = [(key, value) for key, value in function.__dict__.items() if not key.startswith("__")]
        return tuple(self.of(part, name, depth - 1) for part in held[:2]) + tuple(
            (key, self.class_value(value, name)) for key, value in own
        )


def _is_data(value: Any) -> bool:
    """Whether this is what a program changes: no descriptor, function, lock or value that stays as it is."""
    kind = type(value)
    changes = kind.__hash__ is None or isinstance(value, (tuple, memoryview)) or is_user_code(kind)
    return changes and not (hasattr(kind, "__get__") or callable(value) or is_large(value))


def base_of(value: Any) -> type:
    """The class of a value, or where that is the user's the first of its bases that is not."""
    return next(kind for kind in type(value).__mro__ if not is_user_code(kind))


def held_items(value: Any) -> Any:
    """The items of a list, tuple or set, or the pairs of a dict, as the class that Python made for such holds them."""
    base: Any = base_of(value)
    return base.items(value) if isinstance(value, dict) else base.__iter__(value)


def class_parts(base: type, read: frozenset[str] | None) -> Iterator[tuple[str, Any]]:
    """What a class of the user's holds that may be `read` of it: special methods may always."""
    if is_user_code(base):
        is_enumeration = issubclass(base, enum.Enum)
        for key, value in list(vars(base).items()):
            of_python = key in _DESCRIBING_CLASSES or (is_enumeration and key in _DESCRIBING_ENUMERATIONS)
            if (read is None or key in read or key.startswith("__")) and not of_python:
                yield key, value


def is_user_module(module: types.ModuleType) -> bool:
    return is_user_code(types.SimpleNamespace(__module__=module.__name__, __code__=None))


def parts_of_module(module: types.ModuleType, names: frozenset[str]) -> dict[str, Any]:
    """What counts of what a module holds under these names: of one that is not the user's, what may change."""
    held = {name: vars(module)[name] for name in sorted(names & vars(module).keys())}
    if is_user_module(module):
        return held
    fixed = module.__name__.partition(".")[0] in _UNCHANGING_MODULES
    return {} if fixed else {name: part for name, part in held.items() if _may_change(name, part)}


def _may_change(name: str, value: Any) -> bool:
    return type(value).__hash__ is None and not (name.startswith("_") or is_by_identity(value))


_UNCHANGING_MODULES = frozenset({"numpy", "autoconv"})


def is_by_identity(value: Any) -> bool:
    """Whether a value, no function or class with values of its own, means the same only where it is the same."""
    return isinstance(value, IDENTITY) or any(hasattr(type(value), held) for held in _HELD_BY_GRAPHS)


def is_large(value: Any) -> bool:
    """Whether this is an array of numbers too large to be looked at on every call."""
    return isinstance(value, np.ndarray) and value.nbytes > _LARGE and value.dtype.kind in "biufc"


def difference(old: Any, new: Any) -> str:
    """The attribute, item or key in which two fingerprints differ, as it is written; "" for the value itself."""
    if not (isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new) and len(old) in (2, 3)):
        return ""
    kind, parts, others = old[0], old[1], new[1]
    is_dict = isinstance(kind, type) and issubclass(kind, dict)
    if kind != new[0] or not (isinstance(parts, tuple) and isinstance(others, tuple)) or len(parts) != len(others):
        return ""
    for position, (part, other) in enumerate(zip(parts, others, strict=True)):
        if part == other:
            continue
        if not (isinstance(part, tuple) and isinstance(other, tuple)):
            return ""
        if is_dict and part[0] == other[0]:
            return f"[{part[0][1]!r}]{difference(part[1], other[1])}"
        if len(old) == 3 and part[0] == other[0]:
            return f".{part[0]}{difference(part[1], other[1])}"
        return f"[{position}]{difference(part, other)}" if kind in (list, tuple) else ""
    return ""


def _weak(value: Any) -> Any:
    """Keeps an id from meaning another object: a weak reference where there can be one, else the object."""
    try:
        return _Held(weakref.ref(value))
    except TypeError:
        return _Held(lambda: value)


class _Held:
    __slots__ = ("get",)

    def __init__(self, get: Callable[[], Any]) -> None:
        self.get = get

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.get() is other.get() and self.get() is not None

    def __hash__(self) -> int:
        return 0
