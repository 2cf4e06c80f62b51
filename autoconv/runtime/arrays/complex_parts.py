"""Real and imaginary parts of complex arrays: values, or views where a trace needs these."""

from __future__ import annotations

from autoconv.runtime.recording.regions import current_region

PARTS_ARE_VIEWS = ("parts", "views")  # kind and value of the fact with which the trace starts again


def record_complex_use(use: str) -> None:
    """Record a use of complex arrays: one is "written", or "split" into real and imaginary parts.

    Parts are views in NumPy, but values here until such an array is written. Where parts are taken before, the trace
    starts again with views.
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
