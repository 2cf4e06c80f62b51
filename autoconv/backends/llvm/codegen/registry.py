"""Registry of lowerings: functions that write the native code of a node, by the node's lowering class or by its op.

A decorator registers each lowering where it is defined, with a predicate for its nodes; `lowerings.py` imports the
modules. Regions find lowerings only through this registry.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.classify import (
    CLASSIFIERS,
    COMPLEX_CLASSIFIERS,
    DATA_SIZED_OPS,
    LIBRARY_OPS,
    MEMORY_OPS,
    SERIAL_WORK,
)
from autoconv.backends.llvm.analysis.representation import is_represented, uses_open_sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.graph.graph import Node
from autoconv.ops.rule_table import RuleTable

Lowering = Callable[[LoweringContext, Node], None]
Fits = Callable[[Node], bool]
BY_CLASS: RuleTable[Lowering] = RuleTable("lowering of a class")
BY_OP: RuleTable[Lowering] = RuleTable("lowering")  # for classes without a lowering in BY_CLASS
class_lowering = BY_CLASS.of  # registers a function as the lowering of all nodes of these classes
lowering = BY_OP.of  # registers a function as the lowering of ops whose class another rule determines


def lower(region: LoweringContext, node: Node, lowering_class: str) -> None:
    """Write a node of a lowering class, by the lowering of the class, or else by that of the op."""
    (BY_CLASS.get(lowering_class) or BY_OP[node.op.name])(region, node)


def native_lowering(
    *names: str, fits: Fits, work: Callable[[Node], int] | None = None, fits_open: Fits | None = None,
    calls_library: bool = False,
) -> Callable[[Lowering], Lowering]:  # fmt: skip
    """Register a function as the lowering of ops, for the nodes that fit; other nodes run by kernels.

    Inputs and results are numbers in registers and arrays of known shapes; for nodes that fit `fits_open`, also arrays
    with open dimensions. `work` estimates the work of a node that one thread executes, in units of 0.05 ns, and is 0
    for nodes that threads share. If `calls_library` is true, kernels of the ops take about as long as native code (see
    LIBRARY_OPS).
    """
    for name in names:
        CLASSIFIERS[name] = lambda node: _classify_native(node, fits, fits_open)
        if work is not None:
            SERIAL_WORK[name] = work
    LIBRARY_OPS.update(names if calls_library else ())
    return lowering(*names)


def _classify_native(node: Node, fits: Fits, fits_open: Fits | None) -> str | None:
    """Return the lowering class of a node; None for a node with open sizes if there is no `fits_open`."""
    predicate = fits_open if uses_open_sizes(node) else fits
    if predicate is None:
        return None
    return "whole" if predicate(node) else "kernel"


def complex_lowering(*names: str, fits: Fits, calls_library: bool = False) -> Callable[[Lowering], Lowering]:
    """Register a lowering, as `native_lowering`, of ops with complex operands or results."""
    COMPLEX_CLASSIFIERS.update(dict.fromkeys(names, lambda node: "whole" if fits(node) else "kernel"))
    LIBRARY_OPS.update(names if calls_library else ())
    return lowering(*names)


def data_sized_lowering(*names: str, fits: Fits = lambda node: True) -> Callable[[Lowering], Lowering]:
    """Register a lowering, as `native_lowering`, of ops whose result sizes depend on the values of the inputs."""
    DATA_SIZED_OPS.update(dict.fromkeys(names, fits))
    return lowering(*names)


def memory_lowering(
    *names: str, fits: Fits = lambda node: True, needs_native_values: bool = True
) -> Callable[[Lowering], Lowering]:  # fmt: skip
    """Register a lowering of ops on arrays in memory.

    If `needs_native_values` is true, nodes fit only if all of their values have a native representation.
    """

    def fits_and_is_represented(node: Node) -> bool:
        return all(is_represented(value.type) for value in (*node.inputs, *node.results)) and fits(node)

    MEMORY_OPS.update(dict.fromkeys(names, fits_and_is_represented if needs_native_values else fits))

    def register(write: Lowering) -> Lowering:
        """Register a lowering whose code counts as a loop over elements where it is inside of a loop."""

        def write_and_mark_loops(region: LoweringContext, node: Node) -> None:
            if region.body.loop_depth:
                region.body.module.has_loops = region.out.has_element_loops = True
            write(region, node)

        lowering(*names)(write_and_mark_loops)
        return write

    return register
