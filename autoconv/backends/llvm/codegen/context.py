"""Interfaces of the region into which a lowering writes its instructions.

Lowerings take a `LoweringContext` and not the class `Region` that implements it, so that none of them imports
`region.py`. Most lowerings need only a `ValueContext`: the function under construction and the values' representations.
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
    """A collection of calls from independent plan items, which run concurrently later.

    One call is collected from each plan item; `has_call` is true once the current item has its call. If
    `is_single_threaded` is true, BLAS and LAPACK use no threads of their own in these calls.
    """

    has_call: bool
    is_single_threaded: bool

    def add(self, function: str, arguments: Sequence[str], returns_flag: bool) -> str:
        """Collect a call of a native function; return its result, an i1, if `returns_flag` is true, otherwise ""."""


class ValueContext(Protocol):
    """The function into which instructions are written, and the representations of the region's values."""

    body: Body
    out: FunctionText

    def number(self, value: Value) -> Element:
        """Return a number in a register."""

    def object(self, value: Value) -> Object:
        """Return a value that is represented as a Python object."""

    def representation_of(self, value: Value) -> Native:
        """Return a value in its representation."""

    def element(self, value: Value, index: Index) -> Element:
        """Load the element at `index` of a value, through views."""

    def set(self, value: Value, native: Native) -> None:
        """Define a value by its representation."""

    def data(self, value: Value) -> str:
        """Return the address of the first element of an array, or of a contiguous view."""

    def address(self, array: Object) -> str:
        """Return the address of the first element of an array."""

    def new_array(self, type_: Type) -> Object:
        """Allocate an array whose elements are not set."""

    def raise_if(self, node: Node, condition: str) -> None:
        """Call the kernel of `node`, which raises its error, if the i1 `condition` holds.

        In the code, the path of the call joins the path without it.
        """

    def raise_and_leave_if(self, node: Node, condition: str) -> None:
        """Call the kernel of `node`, which raises its error, if the i1 `condition` holds; then leave the function.

        As the path of the call does not join the other one, LLVM may keep numbers in registers that were loaded before
        the check.
        """

    def box(self, element: Element) -> Object:
        """Return a number as an array of rank 0."""


class LoweringContext(ValueContext, Protocol):
    """A `ValueContext` with control flow, ownership and calls of Python kernels."""

    graph: Graph
    enclosing_calls: tuple[Node, ...]  # call sites around the region; errors report their spans
    checked_positions: dict[Node, list[Any]]  # indexed view -> positions that `check_positions` checked
    launches: Launches | None
    remaining_uses: Any  # a Counter: value -> number of its uses for which no code is written yet

    def memory_owner(self, value: Value) -> Object:
        """Return the object that owns the memory of an array or of a view."""

    def is_view(self, value: Value) -> bool:
        """Return whether a value exists only as an index map into another value."""

    def is_lent(self, value: Value) -> bool:
        """Return whether a value is lent: its readers read the array in memory from which it was loaded."""

    def lent_array(self, value: Value) -> Memory:
        """Return the array in memory from which a lent value was loaded."""

    def patches(self, node: Node) -> Patches | None:
        """Return the patch matrix that a product reads in place of its left operand; None if there is none."""

    def take_reference(self, value: Value, is_last_use: bool) -> str:
        """Return an owned reference to an object; if `is_last_use`, the reference is taken from the value's slot."""

    def is_last_reader(self, item: Any, value: Value) -> bool:
        """Return whether a plan item holds the last use of a value, by exactly one node."""

    def release_after_item(self, object_: Object, type_: Type) -> None:
        """Release an object that belongs to no value, after the current plan item."""

    def write_nested(
        self, graph: Graph, arguments: Sequence[Native], enclosing_calls: tuple[Node, ...] | None = None
    ) -> list[Native]:
        """Write a nested region at the current position and return its results.

        `enclosing_calls` are the call sites around it, by default those of this region.
        """

    def write_function(self, body: Body, graph: Graph, arguments: Sequence[Native]) -> LoweringContext:
        """Write a graph as the body of a native function of its own."""

    def results(self) -> list[Native]:
        """Return the outputs of the region; objects among them have new references."""

    def check_positions(self, node: Node) -> None:
        """Check the dynamic indices of a view once, and normalise them to count from the start."""

    def write(self, item: Any) -> None:
        """Write a plan item."""

    def write_kernel(self, node: Node) -> None:
        """Define the results of a node of the class "kernel", which need not be those of a call (see KernelCalls)."""

    def call_kernel(self, node: Node, is_rare: bool = False) -> list[Native]:
        """Call the Python kernel of a node and return its results; `is_rare` is true on a path that is seldom taken."""

    def call_function(self, node: Node, function: Callable[[FunctionText], str], *numbers: Element) -> list[Native]:
        """Call a Python function with the operands of a node and further numbers; return the node's results."""

    def call_kernel_if(self, node: Node, condition: str) -> None:
        """Replace the results of a node by those of its kernel, if the i1 `condition` holds."""

    def loop_arguments(self, item: Any, writer: Any) -> tuple[dict[Value, str], list[str]]:
        """Allocate the results of a plan item's loops; return the cells of scalar results, and the loops' arguments."""

    def launch(self, function: str, arguments: Sequence[str], returns_flag: bool = True) -> str:
        """Call a long-running native function, or collect the call in `launches`; return its i1, or "" without one."""
