"""Registry of whole-array lowerings: the ops they are for, when they apply, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.classify import COMPLEX, COUNTED, OPEN, ROLES
from autoconv.graph.graph import Node

Write = Callable[[Any, Node], None]  # of a LoweringContext and the node
WRITERS: dict[str, Write] = {}
WORK: dict[str, Callable[[Node], int]] = {}
# Ops whose kernels call library routines that take about as long as native code, whatever the sizes. They do not
# justify code for each shape.
BY_LIBRARY: set[str] = set()


def native(
    *names: str, fits: Callable[[Node], bool], work: Callable[[Node], int] | None = None,
    of_open: Callable[[Node], bool] | None = None, library: bool = False,
) -> Callable[[Write], Write]:  # fmt: skip
    """Register a function as the writer of these ops, for nodes that fit; other nodes run by kernels.

    All inputs and results are numbers in registers and arrays of known shapes; where `of_open` holds, also arrays with
    open dimensions. `work` estimates a node's work, in units of 0.05 ns, where a single thread does it all, else 0.
    `library`: see BY_LIBRARY.
    """

    def register(write: Write) -> Write:
        for name in names:
            WRITERS[name] = write
            if library:
                BY_LIBRARY.add(name)
            ROLES[name] = lambda node: "whole" if fits(node) else "kernel"
            if work is not None:
                WORK[name] = work
            if of_open is not None:
                OPEN[name] = lambda node: "whole" if of_open(node) else "kernel"
        return write

    return register


def complex_native(*names: str, fits: Callable[[Node], bool], library: bool = False) -> Callable[[Write], Write]:
    """Register a writer, as `native`, of ops with complex operands or results."""

    def register(write: Write) -> Write:
        for name in names:
            WRITERS[name] = write
            if library:
                BY_LIBRARY.add(name)
            COMPLEX[name] = lambda node: "whole" if fits(node) else "kernel"
        return write

    return register


def counted(*names: str, fits: Callable[[Node], bool]) -> Callable[[Write], Write]:
    """Register a writer, as `native`, of ops whose input shapes alone are known: result sizes depend on the values."""

    def register(write: Write) -> Write:
        for name in names:
            WRITERS[name] = write
            COUNTED[name] = fits
        return write

    return register
