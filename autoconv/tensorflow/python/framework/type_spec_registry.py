"""`tensorflow.python.framework.type_spec_registry`: specs of composites by name."""

from __future__ import annotations

from typing import Any

_BY_NAME: dict[str, type] = {}
_NAMES: dict[type, str] = {}


def register(name: str) -> Any:
    """Return a decorator that registers a class of specs; ValueError for a name that is taken."""

    def decorated(cls: type) -> type:
        if _BY_NAME.get(name, cls) is not cls:
            raise ValueError(f"Name {name} has already been registered for class {_BY_NAME[name]}.")
        _BY_NAME[name], _NAMES[cls] = cls, name
        return cls

    return decorated


def get_name(cls: type) -> str:
    """Return the registered name of a class; raises ValueError for another one."""
    if cls not in _NAMES:
        _fill()
    if cls not in _NAMES:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _NAMES[cls]


def lookup(name: str) -> type:
    """Return the class that has a name; raises ValueError for another name."""
    if name not in _BY_NAME:
        _fill()
    if name not in _BY_NAME:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _BY_NAME[name]


def _fill() -> None:
    """Register the specs of the package itself, under TensorFlow's names."""
    import autoconv

    for name in ("TensorSpec", "RaggedTensorSpec", "SparseTensorSpec"):
        register(f"tf.{name}")(getattr(autoconv, name))
