"""The processor of this machine, by the system's description."""

from __future__ import annotations

import functools
import itertools


@functools.cache
def instructions() -> frozenset[str]:
    """Return the instruction sets of the first processor that the system reports; empty if it reports none."""
    facts = description()
    return frozenset((facts.get("flags") or facts.get("Features") or "").split())


@functools.cache
def description() -> dict[str, str]:
    """Return the system's description of its first processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = list(itertools.takewhile(str.strip, file))
    except OSError:
        lines = []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
