"""Attributes that are looked up in classes: where one is written that another shows, they are one place until that gets
an attribute of its own."""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.recording import COMPILE, Trace
from autoconv.runtime.spans import current_place


def note_inherited(trace: Trace, owner: Any, attribute: str) -> None:
    """Told before an attribute is written. Raises StagingError where it is written of a class and of what shows that in
    one trace: which of the two is read, the running graph may decide."""
    if trace.contract != COMPILE:
        return
    classes, heirs = trace.inherited.setdefault(attribute, ([], []))
    if isinstance(owner, type):
        classes.append(owner)
    if any(attribute in vars(base) for base in _bases(owner)):  # whether it has its own now says nothing in a trace
        heirs.append(owner)
    if any(kind is not heir and kind in _bases(heir) for kind in classes for heir in heirs):
        raise StagingError(
            f"the attribute {attribute!r} of a class is written, and one of its own by what shows that",
            current_place(),
            "another name for one of them",
        )


def _bases(owner: Any) -> tuple[type, ...]:
    return owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__


__all__ = ["note_inherited"]
