"""Warn of loops over long ranges that `function` unrolls into the graph."""

from __future__ import annotations

import logging
import operator

from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.remedies import COMPILE_ADVICE
from autoconv.runtime.support.spans import current_place

LONG_RANGE = 1000  # remaining iterations above which a loop is reported
_RANGE_CLASSES = (range, type(iter(range(0))))
_LOGGER = logging.getLogger("autoconv")
_WARNED_PLACES: set[tuple[str, int]] = set()  # file and line: one warning each


def warn_of_unrolling(iterable: object, region: Region | None, nodes_before: int) -> None:
    """Log a warning after a loop's first iteration, if that recorded ops and more than LONG_RANGE follow.

    `nodes_before` is the number of nodes in the graph before that iteration.
    """
    if type(iterable) not in _RANGE_CLASSES or region is None or region.contract.stages_long_loops:
        return
    remaining_iterations = operator.length_hint(iterable)  # for an iterator, the remaining ones
    if remaining_iterations <= LONG_RANGE or len(region.graph.nodes) <= nodes_before:
        return
    place = current_place()
    place_key = (place.file, place.line) if place is not None else ("", 0)
    if place_key in _WARNED_PLACES:
        return
    _WARNED_PLACES.add(place_key)
    _LOGGER.warning(
        "%s: a loop over a range of %s turns is unrolled: under @autoconv.function each turn over a Python range "
        "becomes a part of the graph. Loop over autoconv.range(…), which is one loop of the graph, or: %s.",
        place if place is not None else "a loop", f"{remaining_iterations:,}", COMPILE_ADVICE,
    )  # fmt: skip
