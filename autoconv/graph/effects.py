"""Side effects of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag, auto
from itertools import zip_longest

from autoconv.graph.types import Type


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
    write_then_read = first & Effects.WRITE and second & Effects.READ
    read_then_write = first & Effects.READ and second & Effects.WRITE
    return bool(write_then_read or read_then_write)


def may_fail_to_broadcast(types: Iterable[Type]) -> bool:
    """Return whether the shapes of operands may fail to broadcast at run time."""
    shapes = [shape for type_ in types if (shape := getattr(type_, "shape", ())) != ()]
    if len(shapes) < 2:
        return False
    if None in shapes:
        return True
    for dimensions in zip_longest(*map(reversed, shapes), fillvalue=1):
        sizes = [size for size in dimensions if size != 1]
        may_differ = None in sizes or len(set(sizes)) > 1
        if len(sizes) > 1 and may_differ:
            return True
    return False
