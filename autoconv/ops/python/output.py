"""Python's print of plain values and of Python numbers in a graph."""

from __future__ import annotations

from typing import Any

from autoconv.graph.effects import Effects
from autoconv.ops.control.flow import format_data
from autoconv.ops.python.held_output import write_output
from autoconv.ops.record import define, no_gradient


def _print(*data: Any, template: tuple[Any, ...], flush: bool = False) -> tuple[()]:
    """Write the template to the current sys.stdout; each int in it is the index of an input."""
    write_output("".join(piece if isinstance(piece, str) else format_data(data[piece]) for piece in template), flush)
    return ()


define(
    name="python_print", graphdef="PrintV2", result=lambda *_, **__: (), kernel=_print,
    gradient=no_gradient("makes no value"), effects=Effects.OUTPUT | Effects.RAISE,
    prints=True,
)  # fmt: skip
