"""Results of branches that are arrays: each is one of those that exist before the branch, or a new one of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autoconv.backends.portable.cells import Cell, Choice, Item, View, cells_of, options_of
from autoconv.backends.portable.memory import Memory
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import int32

_DIFFERENT = "the arms give views of different arrays"


@dataclass
class _Fresh:
    """An array that some of the arms make: their cells, None for the other arms, and the cell after the branch."""

    cells: tuple[Cell | None, ...]
    cell: Cell | None = None


class JoinedArrays:
    """The arrays among the results of a branch; `known` cells exist before it."""

    def __init__(self, memory: Memory, index: Term, cell_count: int, captures: Sequence[Item]) -> None:
        self._memory = memory
        self._index = index
        self._outer_cells = set(memory.cells[:cell_count])
        self._captures = captures
        self._fresh: list[_Fresh] = []
        self._tags: list[list[Term]] = []  # what arms give besides, for each result that is a choice in one of them

    def add(self, items: Sequence[Item]) -> _JoinedArray:
        """Take the items that the arms give for a result."""
        if any(not isinstance(item, View) for item in items):
            raise GraphUnfit("cond", _DIFFERENT)
        options: list[View | _Fresh] = []
        places: list[list[int]] = []
        fresh = self._fresh_of(items)
        for item in items:
            options_of_item: list[View | _Fresh] = (
                [fresh] if fresh is not None and item.cell in fresh.cells else list(self._options(item))
            )
            for one in options_of_item:
                if not any(_is_same(one, other) for other in options):
                    options.append(one)
            places.append(
                [next(i for i, other in enumerate(options) if _is_same(one, other)) for one in options_of_item]
            )
        tags = None
        if any(len(own) > 1 for own in places):
            zero = self._memory.w.constant(0, int32)
            tags = len(self._tags)
            self._tags.append([item.cell.tag if isinstance(item.cell, Choice) else zero for item in items])
        return _JoinedArray(options, places, tags)

    def _fresh_of(self, items: Sequence[View]) -> _Fresh | None:
        """Return the array that arms make for a result, if one does."""
        cells = tuple(
            item.cell if isinstance(item.cell, Cell) and item.cell not in self._outer_cells else None for item in items
        )
        if not any(cells):
            return None
        if any(item.chain or cell.twins for item, cell in zip(items, cells, strict=True) if cell is not None):
            raise GraphUnfit("cond", _DIFFERENT)
        for one in self._fresh:
            if one.cells == cells:
                return one
            if any(cell is not None and cell in one.cells for cell in cells):
                raise GraphUnfit("cond", _DIFFERENT)
        self._fresh.append(_Fresh(cells))
        return self._fresh[-1]

    def _options(self, item: View) -> list[View]:
        if any(cell not in self._outer_cells for cell in cells_of(item)):
            raise GraphUnfit("cond", _DIFFERENT)
        result = options_of(item)
        if any(operands for option in result for _, operands in option.chain) and item not in self._captures:
            raise GraphUnfit("cond", _DIFFERENT)  # the operands may be values of the arm
        return result

    def values(self, arm: int, contents: dict[Cell, Term]) -> list[Term]:
        """Return what an arm gives besides other results; `contents` are those of its cells at its end."""
        found = []
        for fresh in self._fresh:
            own = fresh.cells[arm]
            if own is None:
                like = next(cell.term for cell in fresh.cells if cell is not None)
                if static_shape(like.shape) is None:
                    raise GraphUnfit("cond", _DIFFERENT)
                found.append(self._memory.w.expanded(self._memory.w.constant(0, like.dtype), like.shape))
            else:
                found.append(contents[own])
        return [*found, *(tags[arm] for tags in self._tags)]

    def enter(self, terms: list[Term]) -> None:
        """Take the values after the branch from the front of `terms`."""
        for fresh in self._fresh:
            fresh.cell = self._memory.new_cell(terms.pop(0))
        self._tags = [[terms.pop(0)] for _ in self._tags]

    def result(self, joined: _JoinedArray) -> View:
        options = [View(one.cell) if isinstance(one, _Fresh) and one.cell else one for one in joined.options]
        if len(options) == 1:
            return options[0]  # type: ignore[return-value]
        return View(Choice(tuple(options), self._tag(joined)))  # type: ignore[arg-type]

    def _tag(self, joined: _JoinedArray) -> Term:
        """Return the position of the array that the arm gave."""
        w, index = self._memory.w, self._index
        inner = None if joined.tags is None else self._tags[joined.tags][0]
        of_arms = []
        for places in joined.places:
            tag = w.constant(places[-1], int32)
            for i, place in enumerate(places[:-1]):
                assert inner is not None
                tag = w.select(inner.same(i), w.constant(place, int32), tag)
            of_arms.append(tag)
        *others, result = of_arms
        for arm, tag in reversed(list(enumerate(others))):
            result = w.select(index if index.dtype.is_bool else index.same(arm), tag, result)
        return result


@dataclass(frozen=True)
class _JoinedArray:
    """A result: the arrays that it may be, and for each arm the positions of its options among them."""

    options: list[View | _Fresh]
    places: list[list[int]]
    tags: int | None


def _is_same(one: View | _Fresh, other: View | _Fresh) -> bool:
    if isinstance(one, View) and isinstance(other, View):
        return one.cell is other.cell and one.chain == other.chain
    return one is other


__all__ = ["JoinedArrays"]
