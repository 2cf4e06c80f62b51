"""Complex arrays of which one trace may either write the elements or take the parts."""

from __future__ import annotations

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place


def note_complex(what: str) -> None:
    """Note that a complex array is "written", or "taken" apart into real and imaginary parts.

    Those parts are views in NumPy and values here, so one trace may not do both; StagingError where it does.
    """
    region = current_region()
    assert region is not None
    region.trace.complexes.add(what)
    if len(region.trace.complexes) > 1:
        raise StagingError("parts of complex arrays are read where such arrays are changed", current_place())
