"""Warn of loops over long ranges that `function` unrolls into the graph."""

from __future__ import annotations

import logging
import operator

from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.remedies import BY_COMPILE
from autoconv.runtime.support.spans import current_place

LONG_RANGE = 1000  # iterations still to come
_RANGES = (range, type(iter(range(0))))
_LOGGER = logging.getLogger("autoconv")
_WARNED: set[tuple[str, int]] = set()  # file and line: one warning each


def warn_of_unrolling(iterable: object, region: Region | None, nodes: int) -> None:
    """Log a warning after a loop's first iteration, if that recorded ops and more than LONG_RANGE follow.

    `nodes` is the number of nodes in the graph before that iteration.
    """
    if type(iterable) not in _RANGES or region is None or region.contract.stages_long_loops:
        return
    iterations = operator.length_hint(iterable)  # for an iterator, the remaining ones
    if iterations <= LONG_RANGE or len(region.graph.nodes) <= nodes:
        return
    place = current_place()
    place_key = (place.file, place.line) if place is not None else ("", 0)
    if place_key in _WARNED:
        return
    _WARNED.add(place_key)
    _LOGGER.warning(
        "%s: a loop over a range of %s turns is unrolled: under @autoconv.function each turn over a Python range "
        "becomes a part of the graph. Loop over autoconv.range(…), which is one loop of the graph, or: %s.",
        place if place is not None else "a loop", f"{iterations:,}", BY_COMPILE,
    )  # fmt: skip
