"""The class of a value (`x.__class__`), membership in classes, and statements that create classes."""

from __future__ import annotations

import types
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.calls.call import call, is_user_code
from autoconv.operators.control.conditionals import not_, or_
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place


def class_of(x: object) -> Any:
    """Return `x.__class__`; for a placeholder of the trace, the class of the value in plain Python."""
    if current_region() is not None and type(x).__module__.partition(".")[0] == "autoconv":
        return call(type)(x)
    return x.__class__


def class_statement(*parts: Any) -> None:
    """Raise StagingError under `compile` for a class statement that may run user code, which must run on every call.

    `parts` are its bases, metaclasses and decorators, or empty where these are unknown.
    """
    region = current_region()
    if region is None or not region.contract.runs_plain:
        return
    if not parts or any(map(_runs_code, parts)):
        raise StagingError(
            "a class statement runs the program's code", current_place(), "the class outside of the function"
        )


def _runs_code(value: object) -> bool:
    """Return whether a class statement with this base, metaclass or decorator runs code of the user."""
    if not isinstance(value, type):
        return is_user_code(value if isinstance(value, types.FunctionType) else type(value))
    user_bases = [base for base in value.__mro__ if is_user_code(base)]
    has_hooks = any(name in vars(base) for base in user_bases for name in ("__init_subclass__", "__set_name__"))
    return has_hooks or is_user_code(type(value)) or bool(user_bases and issubclass(value, type))


_class_of_value = OVERRIDES[type]


def _type(*args: Any) -> Any:
    """`type(x)`, or `type(name, bases, namespace)`."""
    if len(args) == 3 and isinstance(args[1], tuple):
        class_statement(*args[1])
    return _class_of_value(*args)


def _is_instance(x: object, kinds: Any) -> Any:
    """`isinstance(x, kinds)`; an `__instancecheck__` of the program's metaclass is converted and called."""
    classes = kinds if isinstance(kinds, tuple) else kinds.__args__ if type(kinds) is types.UnionType else None
    if classes is not None and any(_deciding_method(kind) is not None for kind in classes):
        return or_(False, *[lambda kind=kind: _is_instance(x, kind) for kind in classes])
    method = _deciding_method(kinds) if classes is None else None
    if method is None:
        return _isinstance_by_class(x, kinds)
    return class_of(x) is kinds or not_(not_(call(method)(kinds, x)))


def _deciding_method(kind: object) -> Any:
    """Return the `__instancecheck__` that decides for a class if its metaclass is the program's; else None."""
    for base in type(kind).__mro__:
        if "__instancecheck__" in vars(base):
            region = current_region()
            replaced_values = region.trace.patched_classes.get(base, {}) if region is not None else {}
            return {**vars(base), **replaced_values}["__instancecheck__"] if is_user_code(base) else None
    return None


_isinstance_by_class = OVERRIDES[isinstance]
OVERRIDES[type] = _type
OVERRIDES[isinstance] = _is_instance
