"""The interface through which a lowering uses the region that it is written into.

Lowerings take a `LoweringContext` and never the class `Region` that implements it: no file below the region's own
imports that one. Most lowerings need a `ValueContext` alone: where instructions go, and how values are held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type


class Launches(Protocol):
    """Calls that are collected while independent plan items are written, to run concurrently."""

    cut: int | None
    is_single_threaded: bool

    def add(self, function: str, arguments: Sequence[str], returns_flag: bool) -> str: ...


class ValueContext(Protocol):
    """The function into which instructions are written, and the representations of the region's values."""

    body: Body
    out: FunctionText

    def number(self, value: Value) -> Element:
        """Return a number in a register."""

    def object(self, value: Value) -> Object:
        """Return a value that is held as a Python object."""

    def native(self, value: Value) -> Native:
        """Return a value however it is held."""

    def element(self, value: Value, index: Index) -> Element:
        """Load the element at `index` of a value, through views."""

    def set(self, value: Value, native: Native) -> None:
        """Define a value."""

    def data(self, value: Value) -> str:
        """Return the address of the first element of an array, or of a contiguous view."""

    def address(self, array: Object) -> str:
        """Return the address of the first element of an object that is an array."""

    def new_array(self, type_: Type) -> Object:
        """Allocate an array whose elements are not set."""

    def refuse(self, node: Node, outside: str) -> None:
        """Let the kernel of `node` raise where the i1 `outside` holds."""

    def reject(self, node: Node, outside: str) -> None:
        """Let the kernel of `node` raise where the i1 `outside` holds, and never go on there."""

    def box(self, element: Element) -> Object:
        """Return a number as an array without dimensions."""


class LoweringContext(ValueContext, Protocol):
    """A `ValueContext` with control flow, ownership and the way back to Python kernels."""

    graph: Graph
    call_sites: tuple[Node, ...]  # call sites around the region, whose spans errors get
    checked_positions: dict[Node, list[Any]]  # checked positions of indexed views
    launches: Launches | None
    uses: Any  # remaining uses of each value, a Counter

    def holder(self, value: Value) -> Object:
        """Return the object whose memory an array, or a view of one, lies in."""

    def is_view(self, value: Value) -> bool:
        """Return whether a value is only looked through, and never made."""

    def is_lent(self, value: Value) -> bool:
        """Return whether the elements of a value are read in the array in memory that it was loaded from."""

    def lent(self, value: Value) -> Memory:
        """Return that array."""

    def patches(self, node: Node) -> Patches | None:
        """Return the patch matrix that a product reads in place of its left operand."""

    def take(self, value: Value, last: bool) -> str:
        """Return a new reference to an object; `last`: the one that its slot owned."""

    def is_last_reader(self, item: Any, value: Value) -> bool:
        """Return whether a plan item holds the last use of a value, by exactly one node."""

    def drop_later(self, object_: Object, type_: Type) -> None:
        """Release an object that belongs to no value behind the item that is being written."""

    def inner(self, graph: Graph, arguments: Sequence[Native], owners: tuple[Node, ...] | None = None) -> list[Native]:
        """Write a nested region in place; return its results."""

    def function(self, body: Body, graph: Graph, arguments: Sequence[Native]) -> LoweringContext:
        """Write a graph as the body of a native function of its own."""

    def results(self) -> list[Native]:
        """Return the outputs of the region, with new references to objects."""

    def guard(self, node: Node) -> None:
        """Check the dynamic indices of a view once, and make them positive."""

    def write(self, item: Any) -> None:
        """Write a plan item."""

    def write_kernel(self, node: Node) -> None:
        """Define the results of a node by its Python kernel."""

    def call_kernel(self, node: Node, rarely: bool = False) -> list[Native]:
        """Call the Python kernel of a node; `rarely`: on a cold path, where native code cannot go on."""

    def call_function(self, node: Node, function: Callable[[FunctionText], str], *more: Element) -> list[Native]:
        """Call a Python function with the operands of a node and further numbers; its results are those of the node."""

    def call_kernel_if(self, node: Node, rare: str) -> None:
        """Replace the results of a node by its kernel's where the i1 `rare` holds."""

    def loop_arguments(self, item: Any, kernel: Any) -> tuple[dict[Value, str], list[str]]:
        """Allocate what the loops of an item store; return the cells of single numbers and the call's arguments."""

    def launch(self, function: str, arguments: Sequence[str], returns_flag: bool = True) -> str:
        """Call a long-running native function, or collect the call; return its i1, if it returns one."""
