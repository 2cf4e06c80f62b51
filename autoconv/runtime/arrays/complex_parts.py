"""Real and imaginary parts of complex arrays: values in most traces, views in those that also write such an array."""

from __future__ import annotations

from autoconv.runtime.recording.regions import current_region

PARTS_ARE_VIEWS = ("parts", "views")  # kind and value of the fact that a restarted trace begins with


def record_complex_use(use: str) -> None:
    """Record a use of complex arrays: one is "written", or "split" into real and imaginary parts.

    Parts are views in NumPy, but values in a trace without writes. The trace restarts with views when it has both uses.
    """
    region = current_region()
    assert region is not None
    region.trace.complex_array_uses.add(use)
    if len(region.trace.complex_array_uses) > 1:
        region.contract.restart(*PARTS_ARE_VIEWS)


def are_parts_views() -> bool:
    """Return whether parts have to be views: this trace has written a complex array, or an earlier trace did."""
    region = current_region()
    return region is not None and "written" in region.trace.complex_array_uses
