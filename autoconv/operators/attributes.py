"""Attributes that a tensor decides to be there: a read of a missing one raises AttributeError when the graph runs."""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.containers import is_maybe
from autoconv.runtime.journal import MISSING
from autoconv.runtime.objects import HEAP, record_object
from autoconv.runtime.recording import Region, current_region
from autoconv.runtime.spans import current_place


class MaybeMissing:
    """Stands in the class for an attribute that some of its instances may not have, for as long as a trace runs.

    `before` is what the class had there.
    """

    __autoconv_maybe_missing__ = True

    def __init__(self, name: str, before: Any) -> None:
        self.name = name
        self.before = before

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self._of_class(None, owner)
        held = vars(instance)
        if HEAP in held and current_region() is not None:
            return record_object("object_get_attribute", [held[HEAP]], name=self.name)
        if self.name not in held:
            return self._of_class(instance, type(instance))
        value = held[self.name]
        if not may_be_missing(value) or current_region() is None:
            return value
        kind = type(instance).__name__
        return value.__autoconv_present__(MISSING, AttributeError(f"{kind!r} object has no attribute {self.name!r}"))

    def _of_class(self, instance: Any, owner: Any) -> Any:
        found: Any = MISSING
        for base in owner.__mro__:
            known = vars(base).get(self.name, MISSING) if found is MISSING else MISSING
            found = known.before if isinstance(known, MaybeMissing) else known if found is MISSING else found
        if found is MISSING:
            kind = f"type object {owner.__name__!r}" if instance is None else f"{owner.__name__!r} object"
            error = AttributeError(f"{kind} has no attribute {self.name!r}", name=self.name, obj=instance)
            error._autoconv_run_time = True  # type: ignore[attr-defined]
            raise error
        return found.__get__(instance, owner) if hasattr(type(found), "__get__") else found

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = value

    def __delete__(self, instance: Any) -> None:
        if self.name not in vars(instance):
            raise AttributeError(self.name)
        del vars(instance)[self.name]


def may_be_missing(value: Any) -> bool:
    return is_maybe(value)


def maybe_missing(owner: Any, name: Any) -> Any:
    """What an object holds under a name, where a tensor decides whether it does; None otherwise."""
    held = getattr(owner, "__dict__", None)
    value = held.get(name) if isinstance(held, dict) and isinstance(name, str) else None
    return value if may_be_missing(value) else None


def expect_missing(region: Region, owner: Any, name: str) -> None:
    """Has reads of the attribute find out whether it is there, until the trace ends."""
    cls = type(owner)
    known = vars(cls).get(name, MISSING)
    if isinstance(known, MaybeMissing):
        return
    if not hasattr(owner, "__dict__"):
        raise StagingError(
            f"a tensor decides whether a {cls.__name__}, which has slots, has the attribute {name!r}", current_place(),
            "an attribute that is None where there is no value",
        )  # fmt: skip
    region.trace.stand_ins[cls, name] = known
    setattr(cls, name, MaybeMissing(name, known))


__all__ = ["expect_missing", "may_be_missing", "maybe_missing"]
