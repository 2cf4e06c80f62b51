"""Side effects of nodes."""

from __future__ import annotations

from enum import Flag, auto


class Effects(Flag):
    """Side effects of a node: those that its op declares, and those of its regions."""

    PURE = 0
    READ = auto()  # reads a resource
    WRITE = auto()  # writes a resource
    OUTPUT = auto()  # prints, or has other external output
    RANDOM = auto()  # draws from a stateful generator
    RAISE = auto()  # may raise

    # The operators of `Flag` look up the result by its value through the class, which takes ten times as long.
    def __and__(self, other: Effects) -> Effects:
        return _EFFECTS_BY_VALUE[self._value_ & other._value_]

    def __or__(self, other: Effects) -> Effects:
        return _EFFECTS_BY_VALUE[self._value_ | other._value_]

    @property
    def must_run(self) -> bool:
        """True if a node has to stay even if its results are unused."""
        return bool(self & (Effects.WRITE | Effects.OUTPUT | Effects.RANDOM))

    @property
    def text(self) -> str:
        return "|".join(str(flag.name).lower() for flag in Effects if flag in self) or "pure"


_EFFECTS_BY_VALUE = tuple(Effects(value) for value in range(2 * Effects.RAISE.value))


def must_keep_order(first: Effects, second: Effects) -> bool:
    """Return whether two nodes with these effects must keep their program order."""
    ordered_effects = Effects.WRITE | Effects.OUTPUT | Effects.RANDOM | Effects.RAISE
    if first & ordered_effects and second & ordered_effects:
        return True
    return bool((first & Effects.WRITE and second & Effects.READ) or (first & Effects.READ and second & Effects.WRITE))
