"""The worker process of a task, which has variables, and runs graphs that arrive as text, each compiled once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.backends import compile_graph
from autoconv.backends.protocol import CompiledGraph
from autoconv.errors import UnavailableError
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS
from autoconv.ops.control.resources import VariableCell


@dataclass(frozen=True)
class CellKey:
    """A variable of the worker among the arguments of a graph: its number, and its name for errors."""

    number: int
    name: str


class Worker:
    """A task's state: compiled graphs by their text, and the cells of its variables by their numbers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._compiled_by_text: dict[str, CompiledGraph] = {}
        self._cells: dict[int, VariableCell] = {}

    def process_id(self) -> int:
        """Return the id of the process; the call is answered as soon as the process has started."""
        return os.getpid()

    def run(self, text: str, assigns_variables: bool, *arguments: Any) -> Any:
        """Run a graph on arrays and variables; return its outputs, a single one as it is, several as a tuple.

        If `assigns_variables`, a None follows the outputs: the caller waits for it until the assignments are done.
        Raises the graph's errors, and UnavailableError for a lost variable.
        """
        if text not in self._compiled_by_text:
            self._compiled_by_text[text] = compile_graph(from_text(text, OPS))
        results = self._compiled_by_text[text](list(map(self._local_argument, arguments)))
        outputs = (*results, None) if assigns_variables else tuple(results)
        return outputs[0] if len(outputs) == 1 else outputs

    def read_cell(self, key: CellKey) -> Any:
        """Return the value of a variable."""
        return self._cell(key).value

    def set_cell(self, number: int, value: Any) -> None:
        """Set the value of a variable, also of a new one."""
        self._cells[number] = VariableCell(np.array(value))

    def drop_cell(self, number: int) -> None:
        """Free a variable."""
        self._cells.pop(number, None)

    def _cell(self, key: CellKey) -> VariableCell:
        """Return the cell of a variable; raise UnavailableError if it was lost."""
        if key.number not in self._cells:
            raise UnavailableError(
                f"the value of the variable {key.name!r} was lost with the process of {self._name}: assign one, or "
                "restore a checkpoint"
            )
        return self._cells[key.number]

    def _local_argument(self, argument: Any) -> Any:
        """Return an argument for native code: the cell of a key, or a copy of an array.

        Arrays that Ray passes are read-only, and may share their memory with other processes.
        """
        if isinstance(argument, CellKey):
            return self._cell(argument)
        return np.array(argument) if isinstance(argument, np.ndarray) else argument
