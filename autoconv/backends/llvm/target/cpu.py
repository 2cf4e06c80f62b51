"""The processor of this machine, as the system describes it."""

from __future__ import annotations

import functools
import itertools


@functools.cache
def instructions() -> frozenset[str]:
    """Return the instruction sets of the first processor, as the system reports them; empty if it reports none."""
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
