"""What running a node may do besides computing its results."""

from __future__ import annotations

from enum import Flag, auto


class Effects(Flag):
    """Declared on plain ops, computed from the bodies for nodes with regions."""

    PURE = 0
    READ = auto()  # reads a resource
    WRITE = auto()  # writes a resource
    OUTPUT = auto()  # prints, or otherwise talks to the world
    RANDOM = auto()  # draws from a stateful generator
    RAISE = auto()  # may raise

    @property
    def must_run(self) -> bool:
        """Whether a node has to stay although nobody uses its results."""
        return bool(self & (Effects.WRITE | Effects.OUTPUT | Effects.RANDOM))

    @property
    def text(self) -> str:
        return "|".join(str(flag.name).lower() for flag in Effects if flag in self) or "pure"


def conflict(first: Effects, second: Effects) -> bool:
    """Whether two nodes with these effects have to keep the order of the program."""
    ordered = Effects.WRITE | Effects.OUTPUT | Effects.RANDOM | Effects.RAISE
    if first & ordered and second & ordered:
        return True
    return bool((first & Effects.WRITE and second & Effects.READ) or (first & Effects.READ and second & Effects.WRITE))
