"""`tensorflow.python.framework.type_spec_registry`: specs of composites by name."""

from __future__ import annotations

from typing import Any

from autoconv.api.extension_types import named_extension_types

_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_TYPE_SPEC_TO_NAME: dict[type, str] = {}


def register(name: str) -> Any:
    """Return a decorator that registers a class of specs; it raises ValueError for a name that is taken."""

    def decorate(cls: type) -> type:
        if _NAME_TO_TYPE_SPEC.get(name, cls) is not cls:
            raise ValueError(f"Name {name} has already been registered for class {_NAME_TO_TYPE_SPEC[name]}.")
        _NAME_TO_TYPE_SPEC[name], _TYPE_SPEC_TO_NAME[cls] = cls, name
        return cls

    return decorate


def get_name(cls: type) -> str:
    """Return the registered name of a class; raises ValueError if it has none."""
    if cls not in _TYPE_SPEC_TO_NAME:
        _register_own_specs()
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def lookup(name: str) -> type:
    """Return the class that is registered under a name; raises ValueError if there is none."""
    if name not in _NAME_TO_TYPE_SPEC:
        _register_own_specs()
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]


def _register_own_specs() -> None:
    """Register the specs of the package itself, under TensorFlow's names."""
    import autoconv

    for name in ("TensorSpec", "RaggedTensorSpec", "SparseTensorSpec", "TensorArraySpec"):
        register(f"tf.{name}")(getattr(autoconv, name))
    for type_name, extension_type in named_extension_types():
        if f"{type_name}.Spec" not in _NAME_TO_TYPE_SPEC:
            register(f"{type_name}.Spec")(extension_type.Spec)
