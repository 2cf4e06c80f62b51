"""What a converted module on disk says of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConvertedModule:
    """The marker `__autoconv__`: the functions of this module are converted already."""

    name: str


def module(name: str) -> ConvertedModule:
    return ConvertedModule(name)
