"""A decorator like `dataclasses.dataclass`, for classes whose methods are compiled once they are called often.

Python compiles up to six methods of a dataclass when it is defined. This took a quarter of the time to import this
package, and a program never calls most of these methods. The first calls of a method are interpreted, since compiling
takes as long as some fifty of them.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from dataclasses import field as field  # for the importers of `dataclass`
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

_INTERPRETED_CALLS = 50  # of a method, before it is compiled
_IRREGULAR = object()  # the result of interpreted calls with wrong arguments

_Class = TypeVar("_Class", bound=type)


@overload
def dataclass(cls: _Class) -> _Class: ...


@overload
def dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> Callable[[_Class], _Class]: ...


@dataclass_transform(field_specifiers=(field, Field))
def dataclass(
    cls: Any = None,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,
    kw_only: bool = False,
) -> Any:
    """Add the methods of a dataclass to `cls`; the parameters are those of `dataclasses.dataclass`.

    The functions `fields`, `replace`, `asdict` and `astuple` of `dataclasses` accept such classes and their objects.

    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0), dataclasses.replace(Point(1.0), y=2.0)
    (Point(x=1.0, y=0.0), True, Point(x=1.0, y=2.0))
    """
    if cls is None:
        options = {"frozen": frozen, "slots": slots, "eq": eq, "repr": repr, "kw_only": kw_only}
        return lambda cls: dataclass(cls, **options)
    # Python sets `__hash__` to None in a class that defines `__eq__`.
    own_names = {name for name, value in vars(cls).items() if value is not None}
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclasses` would determine a signature
    if "__init__" not in own_names:
        cls.__signature__ = _SIGNATURE
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    methods: dict[str, Any] = {"__init__": _stub(cls, "__init__", frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _stub(cls, "__eq__")
        methods["__hash__"] = _stub(cls, "__hash__") if frozen else None
    if frozen:
        methods |= _frozen_methods(cls)
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own_names:
            setattr(cls, name, method)
    return cls


class _Factory:
    """The class of the default value of a parameter whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"  # as in signatures of `dataclasses`


_FACTORY = _Factory()


class _Signature:
    """The signature of a class, for `inspect.signature`: determined when it is read."""

    def __get__(self, instance: object, owner: Any) -> inspect.Signature:
        if instance is not None:
            raise AttributeError("__signature__")  # an object that can be called has that of its `__call__`
        if isinstance(owner.__init__, types.FunctionType) and owner.__init__.__module__ == __name__:
            owner.__init__.__dict__["compile"]()
        signature = inspect.signature(owner.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


_SIGNATURE = _Signature()


def _stub(cls: Any, name: str, frozen: bool = False) -> Callable[..., Any]:
    """Return a method that interprets its first calls, and then is replaced by the compiled one of that name."""
    interpreted_calls: Iterator[Callable[..., Any]] = iter(())  # the interpreter, for each call that is left
    has_begun = False

    def compile_method() -> Callable[..., Any]:
        """Compile the method, put it into the class, and return it."""
        names: dict[str, Any] = {"__name__": cls.__module__}  # so that the method counts as code of that module
        text = _init_text(cls, frozen, names) if name == "__init__" else _comparison_text(cls, name)
        exec(compile(text, f"<dataclass {cls.__qualname__}>", "exec"), names)
        compiled = names[name]
        compiled.__qualname__ = method.__qualname__
        if name == "__init__":
            compiled.__annotations__ = {item.name: item.type for item in dataclasses.fields(cls) if item.init}
            compiled.__annotations__["return"] = None
        setattr(cls, name, compiled)
        return compiled  # type: ignore[no-any-return]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Interpret the call, or compile the method and call it: after some calls, or for irregular arguments."""
        nonlocal interpreted_calls, has_begun
        if not has_begun:
            interpreter = _init_interpreter(cls, frozen) if name == "__init__" else _comparison_interpreter(cls, name)
            interpreted_calls, has_begun = itertools.repeat(interpreter, _INTERPRETED_CALLS), True
        for interpreter in interpreted_calls:
            result = interpreter(self, *args, **kwargs)
            if result is not _IRREGULAR:
                return result
            break
        return compile_method()(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    method.__dict__["compile"] = compile_method
    return method


def _init_interpreter(cls: Any, frozen: bool) -> Callable[..., Any]:
    """Return a function that does what the text of `__init__` does; its result is _IRREGULAR for wrong arguments."""
    items = dataclasses.fields(cls)
    positional = [item.name for item in items if item.init and not item.kw_only]
    accepted = {item.name for item in items if item.init}
    assign: Callable[[Any, str, Any], None] = object.__setattr__ if frozen else setattr

    def initialise(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Set the fields from the arguments and defaults; return None, or _IRREGULAR for wrong arguments."""
        values = dict(zip(positional, args, strict=False))
        is_regular = kwargs.keys() <= accepted and values.keys().isdisjoint(kwargs)
        if not is_regular or len(args) > len(positional):
            return _IRREGULAR
        values |= kwargs
        for item in items:
            if item.name in values:
                value = values[item.name]
            elif item.default is not MISSING:
                value = item.default
            elif item.default_factory is not MISSING:
                value = item.default_factory()
            elif item.init:
                return _IRREGULAR
            else:
                continue
            assign(self, item.name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()
        return None

    return initialise


def _comparison_interpreter(cls: Any, name: str) -> Callable[..., Any]:
    """Return a function that does what the text of `__eq__` or `__hash__` does."""
    key = _key_function([item.name for item in dataclasses.fields(cls) if _is_compared(item, name)])
    if name == "__hash__":
        return lambda self: hash(key(self))
    return lambda self, other: key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented


def _key_function(names: Sequence[str]) -> Callable[[Any], Any]:
    """Return a function of an object: the tuple of its attributes of these names."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _is_compared(item: Field[Any], name: str) -> bool:
    """Return whether `__eq__` or `__hash__` reads a field."""
    return item.compare if name == "__eq__" or item.hash is None else item.hash


def _init_text(cls: Any, frozen: bool, names: dict[str, Any]) -> str:
    """Return the text of `__init__`, and add the objects that it refers to by name to `names`."""
    names |= {"FACTORY": _FACTORY, "set_attribute": object.__setattr__}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}  # the key is true for keyword-only parameters
    statements = []
    for item in dataclasses.fields(cls):
        name, value, default = item.name, item.name, ""
        if item.default is not MISSING:
            names[f"default_{name}"] = item.default
            default = f"=default_{name}"
        elif item.default_factory is not MISSING:
            names[f"new_{name}"] = item.default_factory
            default = "=FACTORY"
            value = f"new_{name}() if {name} is FACTORY else {name}"
        if item.init:
            parameters[bool(item.kw_only)].append(name + default)
        elif default:
            value = f"new_{name}()" if default == "=FACTORY" else f"default_{name}"
        else:
            continue
        statements.append(f"set_attribute(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        statements.append("self.__post_init__()")
    parameter_list = ", ".join(parameters[False] + (["*", *parameters[True]] if parameters[True] else []))
    return f"def __init__({parameter_list}):\n " + "\n ".join(statements or ["pass"])


def _comparison_text(cls: Any, name: str) -> str:
    """Return the text of `__eq__` or `__hash__`."""
    fields = [item for item in dataclasses.fields(cls) if _is_compared(item, name)]
    if name == "__hash__":
        return f"def __hash__(self):\n return hash({_values('self', fields)})"
    condition = "if other.__class__ is self.__class__ else NotImplemented"
    return f"def __eq__(self, other):\n return {_values('self', fields)} == {_values('other', fields)} {condition}"


def _values(owner: str, fields: Sequence[Field[Any]]) -> str:
    """Return the text of a tuple of an object's fields."""
    return f"({''.join(f'{owner}.{item.name}, ' for item in fields)})"


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in dataclasses.fields(self) if item.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _frozen_methods(cls: Any) -> dict[str, Any]:
    """Return methods that refuse to assign and delete the fields of an object."""
    names = frozenset(item.name for item in dataclasses.fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(self: Any) -> list[Any]:
    return [getattr(self, item.name) for item in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for item, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, item.name, value)
