"""Complex arrays: one trace may either write their elements or take their parts."""

from __future__ import annotations

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place


def note_complex(what: str) -> None:
    """Note that a complex array is "written", or "taken" apart into real and imaginary parts.

    Parts are views in NumPy, but values here until such an array is written: parts that are taken before prevent
    writes; StagingError where there are some.
    """
    region = current_region()
    assert region is not None
    region.trace.complexes.add(what)
    if len(region.trace.complexes) > 1:
        raise StagingError("parts of complex arrays are read where such arrays are changed", current_place())


def are_written() -> bool:
    """Return whether the trace has changed a complex array, so that parts have to be views."""
    region = current_region()
    return region is not None and "written" in region.trace.complexes
