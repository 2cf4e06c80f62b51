"""Attributes inherited from classes: class and heir share one location until the heir gets an attribute of its own."""

from __future__ import annotations

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.support.spans import current_place


def register_inherited_write(trace: Trace, owner: object, attribute: str) -> None:
    """Register a write to an attribute, before it happens.

    Raises StagingError under `compile` where one trace writes an attribute both of a class and of its heir (a subclass
    or an instance). The running graph may then decide which of the two a read finds.
    """
    if not trace.contract.objects_in_graph:
        return
    classes, heirs = trace.inherited_attributes.setdefault(attribute, ([], []))
    if isinstance(owner, type):
        classes.append(owner)
    # While tracing it is unknown whether the owner has an attribute of its own.
    if any(attribute in vars(base) for base in _bases(owner)):
        heirs.append(owner)
    if any(kind is not heir and kind in _bases(heir) for kind in classes for heir in heirs):
        raise StagingError(
            f"the attribute {attribute!r} of a class is written, and also that of a subclass or an instance",
            current_place(),
            "another name for one of them",
        )


def _bases(owner: object) -> tuple[type, ...]:
    """Return the classes from which a class or an instance inherits attributes, in the order of lookup."""
    return owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__
