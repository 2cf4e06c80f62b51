"""Results of branches that are arrays: in each arm, one that existed before the branch or one that the arm makes."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.portable.cells import Cell, Choice, Item, View, cells_of, options_of
from autoconv.backends.portable.memory import Memory
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import int32
from autoconv.lazy_dataclass import dataclass

_DIFFERENT_ARRAYS = "the arms give views of different arrays"


@dataclass
class _NewArray:
    """An array that some arms make, and that is one array after the branch."""

    cells: tuple[Cell | None, ...]  # the cell of each arm; None if the arm makes none
    cell: Cell | None = None  # the cell after the branch; None until it is written


class JoinedArrays:
    """The arrays among the results of a branch.

    `index` chooses the arm, the first `cell_count` cells of the memory exist before the branch, and `captures` are the
    items that the arms use from before it.
    """

    def __init__(self, memory: Memory, index: Term, cell_count: int, captures: Sequence[Item]) -> None:
        self._memory = memory
        self._index = index
        self._outer_cells = set(memory.cells[:cell_count])
        self._captures = captures
        self._new_arrays: list[_NewArray] = []
        self._tags_by_arm: list[list[Term]] = []  # for each result that is a choice in an arm: its tag in each arm
        self._chosen_tags: list[Term] = []  # the tags of these results after the branch

    def add(self, items: Sequence[Item]) -> _JoinedArray:
        """Add a result of the branch; `items` has the array that it is in each arm."""
        if any(not isinstance(item, View) for item in items):
            raise GraphUnfit("cond", _DIFFERENT_ARRAYS)
        options: list[View | _NewArray] = []
        positions_by_arm: list[list[int]] = []
        new_array = self._find_new_array(items)
        for item in items:
            options_of_item: list[View | _NewArray] = (
                [new_array]
                if new_array is not None and item.cell in new_array.cells
                else list(self._outer_options(item))
            )
            for option in options_of_item:
                if not any(_are_same(option, known_option) for known_option in options):
                    options.append(option)
            positions_by_arm.append(
                [next(i for i, option in enumerate(options) if _are_same(x, option)) for x in options_of_item]
            )
        tag_index = None
        if any(len(positions) > 1 for positions in positions_by_arm):
            zero = self._memory.writer.constant(0, int32)
            tag_index = len(self._tags_by_arm)
            self._tags_by_arm.append([item.cell.tag if isinstance(item.cell, Choice) else zero for item in items])
        return _JoinedArray(options, positions_by_arm, tag_index)

    def _find_new_array(self, items: Sequence[View]) -> _NewArray | None:
        """Return the array that arms make for a result; None if no arm makes one."""
        cells = tuple(
            item.cell if isinstance(item.cell, Cell) and item.cell not in self._outer_cells else None for item in items
        )
        if not any(cells):
            return None
        new_items = [(item, cell) for item, cell in zip(items, cells, strict=True) if cell is not None]
        if any(item.chain or cell.possible_aliases for item, cell in new_items):
            raise GraphUnfit("cond", _DIFFERENT_ARRAYS)
        for new_array in self._new_arrays:
            if new_array.cells == cells:
                return new_array
            if any(cell is not None and cell in new_array.cells for cell in cells):
                raise GraphUnfit("cond", _DIFFERENT_ARRAYS)
        self._new_arrays.append(_NewArray(cells))
        return self._new_arrays[-1]

    def _outer_options(self, item: View) -> list[View]:
        """Return the arrays from before the branch that an arm's result may be."""
        if any(cell not in self._outer_cells for cell in cells_of(item)):
            raise GraphUnfit("cond", _DIFFERENT_ARRAYS)
        result = options_of(item)
        if any(operands for option in result for _, operands in option.chain) and item not in self._captures:
            raise GraphUnfit("cond", _DIFFERENT_ARRAYS)  # the operands may be values of the arm
        return result

    def values_of_arm(self, arm: int, contents: dict[Cell, Term]) -> list[Term]:
        """Return an arm's contents of new arrays, and its tags; `contents` are by cell, at the end of the arm."""
        values = []
        for new_array in self._new_arrays:
            cell = new_array.cells[arm]
            if cell is None:
                model = next(cell.term for cell in new_array.cells if cell is not None)
                shape = [size if isinstance(size, int) else 0 for size in model.shape]
                values.append(self._memory.writer.expand(self._memory.writer.constant(0, model.dtype), shape))
            else:
                values.append(contents[cell])
        return [*values, *(tags[arm] for tags in self._tags_by_arm)]

    def take_results(self, terms: list[Term]) -> None:
        """Take the values after the branch from the front of `terms`."""
        for new_array in self._new_arrays:
            new_array.cell = self._memory.new_cell(terms.pop(0))
        self._chosen_tags = [terms.pop(0) for _ in self._tags_by_arm]

    def result(self, joined_array: _JoinedArray) -> View:
        """Return a result after the branch, see `take_results`."""
        options = [
            View(option.cell) if isinstance(option, _NewArray) and option.cell else option
            for option in joined_array.options
        ]
        if len(options) == 1:
            return options[0]  # type: ignore[return-value]
        return View(Choice(tuple(options), self._tag(joined_array)))  # type: ignore[arg-type]

    def _tag(self, array: _JoinedArray) -> Term:
        """Return the position, among the options of a result, of the array that the branch has chosen."""
        writer, index = self._memory.writer, self._index
        tag_of_choice = None if array.tag_index is None else self._chosen_tags[array.tag_index]
        arm_tags = []
        for positions in array.positions_by_arm:
            tag = writer.constant(positions[-1], int32)
            for i, position in enumerate(positions[:-1]):
                assert tag_of_choice is not None
                tag = writer.select(tag_of_choice.same(i), writer.constant(position, int32), tag)
            arm_tags.append(tag)
        *other_tags, chosen_tag = arm_tags
        for arm, tag in reversed(list(enumerate(other_tags))):
            chosen_tag = writer.select(index if index.dtype.is_bool else index.same(arm), tag, chosen_tag)
        return chosen_tag


@dataclass(frozen=True)
class _JoinedArray:
    """A result: the arrays that it may be, and for each arm the positions of the arm's options among them.

    `tag_index` is its position among the results that are choices in an arm; None if it is not one of them.
    """

    options: list[View | _NewArray]
    positions_by_arm: list[list[int]]
    tag_index: int | None


def _are_same(first: View | _NewArray, second: View | _NewArray) -> bool:
    """Return whether both arms have the same array, or equal views of one cell."""
    if isinstance(first, View) and isinstance(second, View):
        return first.cell is second.cell and first.chain == second.chain
    return first is second
