"""Fields of dataclasses that the program leaves to default factories when it makes an object under trace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from autoconv.runtime.objects.containers import traced_result
from autoconv.runtime.recording.regions import current_region


def call_factories(
    cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], convert: Callable[[Any], Callable[..., Any]]
) -> dict[str, Any]:
    """Call the program's default factories of fields that the arguments leave out; return the values by name.

    `convert(factory)` is the form of a factory that runs under trace. The constructor itself calls the factories of
    fields with `init=False`; the contract checks these for effects.
    """
    values_by_name = {}
    for field in _default_fields(cls, args, kwargs):
        factory = field.default_factory
        if getattr(factory, "__module__", "") == "builtins":
            continue  # the constructor calls list, dict and the like, and `trace_defaults` tracks their results
        if field.init:
            values_by_name[field.name] = convert(factory)()
        elif (region := current_region()) is not None:
            region.contract.before_call(factory)
    return values_by_name


def trace_defaults(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Track the lists, dicts and sets that a dataclass created with its default factories."""
    for field in _default_fields(instance, args, kwargs):
        # A container that only the attribute refers to is new; one with more references existed before.
        object.__setattr__(instance, field.name, traced_result(getattr(instance, field.name), references=1))


def _default_fields(
    instance_or_class: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[dataclasses.Field[Any]]:
    """Return the fields with a factory that the arguments of the constructor leave out."""
    fields = dataclasses.fields(instance_or_class)
    names = [field.name for field in fields if field.init and not field.kw_only]
    names_given = {*names[: len(args)], *kwargs}
    return [
        field for field in fields if field.default_factory is not dataclasses.MISSING and field.name not in names_given
    ]
