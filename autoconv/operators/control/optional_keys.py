"""Dicts with optional keys, whose presence a tensor decides, under `function`.

During the trace, Python's dict contains an optional key always; the value is a variant with one arm for its absence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.operators.control.conditionals import if_exp, is_staged
from autoconv.operators.control.variants import selects_object
from autoconv.runtime.objects.containers import TracedDict, is_optional, record_container_change
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch

_METHODS: dict[str, Callable[..., Any]] = {}
# The result of `dict.get` for a key that the dict never has; MISSING marks the absence of an optional key at run time.
_NOT_IN_DICT: Any = object()


def call_method(owner: TracedDict, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a method of a dict with optional keys.

    Raises StagingError for a method that needs the set of present keys while tracing, such as `keys`.
    """
    method = _METHODS.get(name)
    if method is None:
        _refuse(name)
    return method(owner, *args, **kwargs)


def count_keys(owner: TracedDict) -> Any:
    """Return the number of keys present."""
    count: Any = 0
    for value in dict.values(owner):
        count = count + (dispatch.apply("select", _is_present(value), 1, 0) if is_optional(value) else 1)
    return count


def has_key(owner: TracedDict, key: object) -> Any:
    """Return whether a key is present; for an optional key, a tensor."""
    value = dict.get(owner, key, _NOT_IN_DICT)
    return _is_present(value) if is_optional(value) else value is not _NOT_IN_DICT


def _get(owner: TracedDict, key: object, default: object = None) -> Any:
    """`owner.get(key, default)`; an optional key is tested at run time."""
    value = dict.get(owner, key, default)
    if not is_optional(value):
        return value
    return if_exp(_is_present(value), lambda: _require_present(key, value), lambda: default)


def _item(owner: TracedDict, key: object) -> Any:
    return _require_present(key, dict.__getitem__(owner, key))


def _set(owner: TracedDict, key: object, value: object) -> None:
    record_container_change(owner)
    dict.__setitem__(owner, key, value)


def _delete(owner: TracedDict, key: object) -> None:
    _item(owner, key)  # raises KeyError for an absent key
    record_container_change(owner)
    dict.__delitem__(owner, key)


def _pop(owner: TracedDict, key: object, *default: Any) -> Any:
    value = _get(owner, key, *default) if default else _item(owner, key)
    record_container_change(owner)
    dict.pop(owner, key, None)
    return value


def _setdefault(owner: TracedDict, key: object, default: object = None) -> Any:
    value = _get(owner, key, default)
    _set(owner, key, value)
    return value


def _clear(owner: TracedDict) -> None:
    record_container_change(owner)
    dict.clear(owner)


def _copy(owner: TracedDict) -> TracedDict:
    return TracedDict(list(dict.items(owner)))


def _update(owner: TracedDict, *mapping: Any, **values: Any) -> None:
    for key, value in dict(*mapping, **values).items():
        _set(owner, key, value)


_METHODS.update(
    {
        "__getitem__": _item, "get": _get, "__setitem__": _set, "__delitem__": _delete, "pop": _pop, "copy": _copy,
        "setdefault": _setdefault, "clear": _clear, "update": _update,
    }
)  # fmt: skip
TracedDict.call_with_optional_keys = call_method  # type: ignore[assignment]


def _is_present(value: Any) -> Any:
    is_missing = selects_object(value, MISSING)
    return dispatch.apply("logical_not", is_missing) if is_staged(is_missing) else not is_missing


def _require_present(key: Any, value: Any) -> Any:
    """Return the value; at run time, raise KeyError where the optional key is absent."""
    return value.__autoconv_present__(MISSING, KeyError(key)) if is_optional(value) else value


def _refuse(name: str) -> NoReturn:
    """Raise StagingError for the method `name`, which needs the set of present keys while tracing."""
    raise StagingError(
        f"the keys of this dict depend on a tensor, and {name} needs them while tracing", current_place(),
        "all keys from the start, with None where there is no value yet",
    )  # fmt: skip
