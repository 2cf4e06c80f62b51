"""NumPy's warnings about floating-point errors, which a graph does not give.

The processor keeps flags of invalid values, divisions by zero and overflows. Where they are up after a call of a trace,
the call runs once more, as plain Python, and the result is that of plain Python: NumPy itself warns then, or does not.
Flags may also be up without reason, such as after a lane of a vector that a mask left out. Native code raises them as
well for errors of integers, which raise none in the processor.

A call that changes what was there before has to be undone first. Copying and logging that costs more than small graphs
do. Hence such a trace is run with care in its first calls, and again for some calls after one with flags; the warnings
of a call with the first flags after many without any are lost.

A graph does not compute what nothing uses, and raises no flags for it. Where such results may have errors, the first
calls of a trace run as plain Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends import backend_named
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.python.reversibility import can_undo
from autoconv.ops.python.revocable_run import Revoked, revocable
from autoconv.ops.record import Op
from autoconv.runtime.recording.contracts import Contract
from autoconv.tracing.execute.rollback import leaves_nothing
from autoconv.tracing.execute.typed_numbers import computes_typed_numbers
from autoconv.tracing.outputs.growing_arrays import read_values

_EACH, _NEVER, _RARELY = "each", "never", "rarely"
_FIRST = 4  # flagged calls that run once more where a warning is shown once a line
_CAREFUL = 6  # calls that can be undone, at first and after one with flags
_LARGEST = 1 << 26  # bytes of arrays that are copied before such a call
_SOME = 1 << 12  # elements of constants that are looked at
_ANY_FLAG = 16  # stands for an error of constants


class FloatErrors:
    """The facts about floating-point errors of a trace.

    `may_occur` says whether there may be some, for which NumPy's error state matters; `is_certain` whether constants
    alone have one, for which no flag is raised; `careful` is the number of further calls that can be undone, or run as
    plain Python for `unused_calls` of these.
    """

    __slots__ = (
        "_array_positions",
        "_calls",
        "_can_undo",
        "_filters",
        "_flags",
        "_leaves_nothing",
        "_next",
        "_share",
        "careful",
        "is_certain",
        "may_occur",
        "unused_calls",
    )  # fmt: skip

    def __init__(self, recorded: Graph, graph: Graph, contract: type[Contract], uses_tensors: bool) -> None:
        self.may_occur = any(map(computes_typed_numbers, graph.walk()))
        unused = contract.runs_plain and _may_have_unused_error(recorded)
        self.may_occur |= unused
        warns = self.may_occur and contract.runs_plain and not uses_tensors
        self._leaves_nothing = warns and leaves_nothing(graph)
        self._can_undo = warns and not self._leaves_nothing and can_undo(graph)
        self._array_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
        self.unused_calls = _CAREFUL if warns and unused else 0
        self.careful = _CAREFUL if self._can_undo or self.unused_calls else 0
        self.is_certain = warns and any(map(_has_error_of_constants, graph.nodes))
        self._filters: list[Any] = []
        self._share, self._calls, self._flags, self._next = "", 0, 0, _FIRST

    def take_flags(self) -> int:
        """Return the flags that are up in this thread, and clear them; 0 where a call would not run once more."""
        if not (self._leaves_nothing or self._can_undo):
            return 0
        return backend_named().taken_float_errors() | (_ANY_FLAG if self.is_certain else 0)

    def run_again(self, flags: int) -> bool:
        """Count a call after which these flags are up; return whether it runs once more.

        A call that left changes does not, but later ones can be undone.
        """
        if self._leaves_nothing:
            return self._shows(flags)
        if self._can_undo and self._shows(flags):
            self.careful = _CAREFUL
        return False

    def warns_before_error(self) -> bool:
        """Return whether a call that ends with an error can run once more for its warnings, and may have some."""
        flags = self.take_flags() | (_ANY_FLAG if self.unused_calls else 0)
        return bool(flags) and self._leaves_nothing and self._shows(flags)

    def run(self, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
        """Run a graph, with care where that is due.

        Where flags are up then and a warning may be shown, its changes are undone, and Revoked is raised. It is raised
        at once where results that nothing uses may have errors.
        """
        if not self.careful:
            return run(values)
        self.careful -= 1
        if self.unused_calls:
            self.unused_calls -= 1
            if _share(list(warnings.filters)) != _NEVER:
                raise Revoked
        if not self._can_undo:
            return run(values)
        arrays = [values[i] for i in self._array_positions if isinstance(values[i], np.ndarray)]
        if sum(array.nbytes for array in arrays) > _LARGEST:
            return run(values)

        def is_wrong() -> bool:
            flags = self.take_flags()
            return bool(flags) and self._shows(flags)

        try:
            return revocable(run, values, arrays, is_wrong)
        except Revoked:
            self.careful = _CAREFUL
            raise

    def _shows(self, flags: int) -> bool:
        """Count a call with these flags; return whether its warnings may be shown.

        If filters show a warning once per line, it is true for the first calls and for calls with new flags. Of the
        others it is true for every second, fourth and so on. With filters that show each warning, or raise it, it is
        for all.
        """
        if self._filters != warnings.filters or not self._share:
            self._filters = list(warnings.filters)
            self._share, self._calls, self._flags, self._next = _share(self._filters), 0, 0, 2 * _FIRST
        if self._share != _RARELY:
            return self._share == _EACH
        self._calls += 1
        if self._calls > _FIRST and not flags & ~self._flags:
            if self._calls < self._next:
                return False
            self._next *= 2
        self._flags |= flags
        return True


def _may_have_unused_error(graph: Graph) -> bool:
    """Return whether elements that nothing reads may have errors."""
    nodes = [node for node in graph.walk() if _may_have_error(node)]
    read = read_values(graph) if nodes else set()
    return any(read.isdisjoint(node.results) for node in nodes)


def _may_have_error(node: Node) -> bool:
    """Return whether elements that the node computes may raise a flag."""
    traits = node.op.traits
    if not computes_typed_numbers(node) or not (traits.elementwise or traits.reduction is not None):
        return False
    types = [value.type for value in (*node.inputs, *node.results) if isinstance(value.type, TensorType)]
    is_of_floats = any(type_.dtype.is_floating or type_.dtype.is_complex for type_ in types)
    return is_of_floats or traits.costly or (len(node.inputs) == 2 and _divides_integers(node.op))


def _divides_integers(op: Op) -> bool:
    """Return whether NumPy warns of the op where an integer meets 0."""
    kernel: Any = getattr(op.kernel, "__wrapped__", op.kernel)
    try:
        with np.errstate(divide="raise"):
            kernel(np.array([1]), np.array([0]))
    except FloatingPointError:
        return True
    except Exception:
        return False
    return False


def _has_error_of_constants(node: Node) -> bool:
    """Return whether a node has a floating-point error whatever the arguments are.

    Its inputs are constants, for which it was not folded, or arrays without elements, such as those of a mean.
    """
    kernel = getattr(node.op.kernel, "__wrapped__", node.op.kernel)
    if kernel is None or node.regions or not node.inputs or node.effects & ~Effects.RAISE:
        return False
    values = [_known_value(value) for value in node.inputs]
    if any(value is None for value in values) or sum(np.size(value) for value in values) > _SOME:
        return False
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel(*values, **node.attributes)
    except FloatingPointError:
        return True
    except Exception:
        return False
    return False


def _known_value(value: Value) -> Any:
    """Return an array with the elements that the value has in each call, None where these differ."""
    if value.node is not None and value.node.op.name == "constant":
        return np.asarray(value.node.attributes["value"])
    type_ = value.type
    if isinstance(type_, TensorType) and type_.dtype.is_floating and type_.shape is not None and 0 in type_.shape:
        return np.empty([size or 0 for size in type_.shape], type_.dtype.numpy)
    return None


def _share(filters: list[Any]) -> str:
    """Return for which flagged calls these filters may show a warning."""
    for action, text, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            if action in ("always", "all", "error"):
                return _EACH
            if text is None and module is None and not line:
                return _NEVER if action == "ignore" else _RARELY
    return _RARELY


__all__ = ["FloatErrors"]
