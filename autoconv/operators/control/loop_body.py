"""The body of a loop, with its state variables and how it is left early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, ClassVar

from autoconv.lazy_dataclass import dataclass
from autoconv.operators.control.conditionals import Cells, and_, is_staged, record_cells
from autoconv.operators.support.protected_names import BREAK, NORMAL


@dataclass(slots=True)
class LoopBody:
    """The body of a for statement: `run(item, *state)` returns the state after an iteration, or None without state.

    The state variable named `exit` holds the exit code; without a name, no iteration leaves the loop. `cells` are
    names that the body writes in place.
    """

    __autoconv_loop_body__: ClassVar[bool] = True

    run: Callable[..., Any]
    names: tuple[str, ...] = ()
    exit: str = ""
    cells: Cells | None = None
    exit_position: int = field(init=False)  # the position of the exit code in the state; -1 without one

    def __post_init__(self) -> None:
        self.exit_position = self.names.index(self.exit) if self.exit else -1

    def step(self, item: object, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the body for one item; return the state after it."""
        return self.run(item, *state) or ()

    def exit_code(self, state: tuple[Any, ...]) -> Any:
        """Return the exit code in the state; NORMAL if no iteration leaves the loop."""
        return NORMAL if self.exit_position < 0 else state[self.exit_position]

    def has_left(self, state: tuple[Any, ...]) -> bool:
        """Return whether an iteration has left the loop; False while a tensor decides."""
        code = self.exit_code(state)
        return not is_staged(code) and bool(code >= BREAK)

    def continues_if(self, state: tuple[Any, ...], has_next: Callable[[], Any]) -> Any:
        """Return the condition of the next iteration: no early exit, and then `has_next()`."""
        return has_next() if self.exit_position < 0 else and_(state[self.exit_position] < BREAK, has_next)

    def with_run(self, run: Callable[..., Any]) -> LoopBody:
        """Return this body with other code for the same state."""
        return replace(self, run=run)

    def with_journal(self) -> LoopBody:
        """Return this body with its cells recorded in the journal before each iteration."""
        cells = self.cells
        if cells is None:
            return self

        def run(*values: Any) -> Any:
            record_cells(cells)
            return self.run(*values)

        return self.with_run(run)
