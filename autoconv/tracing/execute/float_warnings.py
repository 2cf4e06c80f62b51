"""Warnings of NumPy about floating-point errors, which a graph does not issue.

The processor keeps flags of invalid values, divisions by zero and overflows. If some are set after a call of a trace,
the call runs once more as plain Python, whose result counts: NumPy itself then warns, or does not. Flags may also be
set without a reason, such as by a masked lane of a vector. For errors of integers, such as a division by zero, the
processor sets no flag; native code sets one itself.

A call that writes to existing objects has to be undone first, and the copies and logs for that take longer than a small
graph. Hence only the first calls of such a trace, and some calls after one with flags, have copies and logs. If a flag
is set in a call without them, its warnings are lost. While filters raise the warnings as exceptions, all calls have
copies and logs. So have calls of graphs in which NumPy itself computes with arrays that are objects: it reports errors
to a function meanwhile, instead of warning, as the rerun warns.

A graph does not compute unused results, and sets no flags for them. Where these may have errors, the first calls of a
trace run as plain Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends import get_backend
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ArrayType, ObjectType, TensorType
from autoconv.ops.analysis.reads import read_inputs
from autoconv.ops.python.generator_states import state_saver
from autoconv.ops.python.reversibility import can_undo
from autoconv.ops.python.revocable_run import Revoked, run_revocably
from autoconv.ops.record import Op
from autoconv.process_state import without_warnings
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.execute.rollback import has_no_lasting_effects
from autoconv.tracing.execute.typed_numbers import computes_typed_numbers
from autoconv.tracing.outputs.growing_arrays import read_values

# Calls whose warnings Python shows: each call, none, or only the first for each line of the program. It may also raise
# them as exceptions.
_EACH, _NEVER, _RARELY, _RAISED = "each", "never", "rarely", "raised"
_RERUN_LIMIT = 4  # flagged calls that run once more if a warning is shown once for each line
_UNDOABLE_CALLS = 6  # number of calls that can be undone, at first and after one with flags
_COPY_LIMIT = 1 << 26  # bytes of arrays that are copied before a call that can be undone
_CONSTANT_LIMIT = 1 << 12  # elements of a node's constants, up to which they are examined for errors
_ANY_FLAG = 16  # a bit beyond the processor's flags, for errors that set no flag


@skipped_by_warnings
class FloatErrors:
    """Floating-point errors of a trace, and the decisions which of its calls run once more.

    `may_occur` is true if there may be errors, so NumPy's error state matters. `is_certain` is true if a computation on
    constants has an error, for which no flag is set. `has_unused_errors` is true if results that nothing uses may have
    errors. `undoable_calls` is the number of further calls that can be undone; the first `plain_calls` of these run as
    plain Python.
    """

    __slots__ = (
        "_array_positions", "_can_repeat", "_can_undo", "_filters", "_flagged_calls", "_frequency", "_next_rerun",
        "_runs_numpy", "_save_states", "_seen_flags", "has_unused_errors", "is_certain", "may_occur", "plain_calls",
        "undoable_calls",
    )  # fmt: skip

    def __init__(
        self, recorded: Graph, graph: Graph, contract: type[Contract], uses_tensors: bool, warns_of_constants: bool
    ) -> None:
        self.may_occur = any(map(computes_typed_numbers, graph.walk()))
        self.has_unused_errors = contract.runs_plain and _may_have_unused_error(recorded)
        self.may_occur |= self.has_unused_errors or warns_of_constants
        warns = self.may_occur and contract.runs_plain and not uses_tensors
        self._runs_numpy = warns and can_undo(graph) and any(map(_runs_numpy, graph.walk()))
        # A complete run may run once more.
        self._can_repeat = warns and not self._runs_numpy and has_no_lasting_effects(graph)
        self._can_undo = warns and not self._can_repeat and can_undo(graph)
        self._array_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
        self._save_states = state_saver(graph) if self._can_undo else None
        self.plain_calls = _UNDOABLE_CALLS if warns and self.has_unused_errors else 0
        self.undoable_calls = _UNDOABLE_CALLS if self._can_undo or self.plain_calls else 0
        self.is_certain = warns and (warns_of_constants or any(map(_has_error_of_constants, graph.nodes)))
        self._filters: list[Any] = []
        self._frequency, self._flagged_calls, self._seen_flags, self._next_rerun = "", 0, 0, 0

    @property
    def is_slow_for_now(self) -> bool:
        """True if calls can be undone now, which takes time, and later calls cannot."""
        return bool(self.undoable_calls) and not self._runs_numpy

    def take_flags(self) -> int:
        """Return and clear the flags that are set in this thread; return 0 if calls do not run again for flags."""
        if not (self._can_repeat or self._can_undo):
            return 0
        return get_backend().take_float_errors() | (_ANY_FLAG if self.is_certain else 0)

    def must_rerun(self, flags: int) -> bool:
        """Count a call that set these flags; return whether it runs once more.

        A call with side effects does not run again, but later calls can be undone.
        """
        if self._can_repeat:
            return self._may_show_warning(flags)
        if self._can_undo and self._may_show_warning(flags):
            self.undoable_calls = _UNDOABLE_CALLS
        return False

    def must_rerun_after_error(self) -> bool:
        """Count a call that ended with an error; return whether it runs once more, as it may have warnings."""
        flags = self.take_flags() | (_ANY_FLAG if self.has_unused_errors else 0)
        return bool(flags) and self.must_rerun(flags)

    def run(self, run: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> Any:
        """Run a graph; the run can be undone while `undoable_calls` is above 0.

        If flags are set after the run and a warning may be shown, undo its changes and raise Revoked. While
        `plain_calls` is above 0, raise Revoked without a run.
        """
        if not self.undoable_calls:
            return run(values)
        frequency = _warning_frequency(list(warnings.filters))
        self.undoable_calls -= frequency != _RAISED and not self._runs_numpy
        if self.plain_calls:
            self.plain_calls -= frequency != _RAISED
            if frequency != _NEVER:
                raise Revoked
        if not self._can_undo:
            return run(values)
        arrays = [values[i] for i in self._array_positions if isinstance(values[i], np.ndarray)]
        if sum(array.nbytes for array in arrays) > _COPY_LIMIT:
            return run(values)
        reported_flag = 0  # `_ANY_FLAG` once NumPy has reported an error
        flags, is_shown = 0, False  # the flags of the run so far, and whether a warning may be shown for them

        def report_error(*_: Any) -> None:
            nonlocal reported_flag
            reported_flag = _ANY_FLAG

        def has_warnings() -> bool:
            """Take the new flags of the run; return whether any warning of the run may be shown."""
            nonlocal flags, is_shown
            new_flags = (self.take_flags() | reported_flag) & ~flags
            if new_flags and not is_shown:
                flags |= new_flags
                is_shown = self._may_show_warning(flags)
            return is_shown

        try:
            states = [] if self._save_states is None else self._save_states(values)
            if not self._runs_numpy:
                return run_revocably(run, values, arrays, has_warnings, states, frequency == _RAISED)
            with _errors_reported_to(report_error):
                return run_revocably(run, values, arrays, has_warnings, states, frequency == _RAISED)
        except Revoked:
            self.undoable_calls = _UNDOABLE_CALLS
            raise

    def _may_show_warning(self, flags: int) -> bool:
        """Count a call with these flags; return whether its warnings may be shown.

        If filters show a warning once per line, the result is true for the first calls and for calls with new flags. It
        is also true for calls whose number, among those with flags, is a power of two. If filters show or raise each
        warning, it is true for all calls.
        """
        if self._filters != warnings.filters or not self._frequency:
            self._filters = list(warnings.filters)
            self._frequency = _warning_frequency(self._filters)
            self._flagged_calls, self._seen_flags, self._next_rerun = 0, 0, 2 * _RERUN_LIMIT
        if self._frequency != _RARELY:
            return self._frequency != _NEVER
        self._flagged_calls += 1
        has_new_flags = bool(flags & ~self._seen_flags)
        if self._flagged_calls > _RERUN_LIMIT and not has_new_flags:
            if self._flagged_calls < self._next_rerun:
                return False
            self._next_rerun *= 2
        self._seen_flags |= flags
        return True


def _runs_numpy(node: Node) -> bool:
    """Return whether the node reads an array that is an object of the graph, so that NumPy itself computes with it."""
    return ObjectType("ndarray") in [value.type for value in node.inputs]


def _errors_reported_to(report: Callable[..., None]) -> Any:
    """Return a context in which NumPy passes errors to `report` that it would warn of."""
    reported: Any = {error: "call" for error, action in np.geterr().items() if action == "warn"}
    return np.errstate(call=report, **reported)


def _may_have_unused_error(graph: Graph) -> bool:
    """Return whether elements that nothing reads may have errors."""
    nodes = [node for node in graph.walk() if _may_have_error(node)]
    values_read = read_values(graph, _surely_read_inputs) if nodes else set()
    # A store has no results, but is used.
    return any(node.results and values_read.isdisjoint(node.results) for node in nodes)


def _surely_read_inputs(node: Node) -> Sequence[Value]:
    """Return the inputs whose elements a node reads in every call; a store into an empty part reads none."""
    target_position = node.op.traits.stores_into
    if target_position is None or not _may_be_empty(node.inputs[target_position]):
        return read_inputs(node)
    # A value that may be empty is empty where the part is, so that no element of it is left unread.
    return [value for value in read_inputs(node) if value is node.inputs[target_position] or _may_be_empty(value)]


def _may_be_empty(value: Value) -> bool:
    """Return whether the value may have no elements, as far as its static shape tells."""
    shape = getattr(value.type, "shape", None)
    return shape is None or not all(isinstance(size, int) and size for size in shape)


def _may_have_error(node: Node) -> bool:
    """Return whether elements that the node computes may raise a flag."""
    if not computes_typed_numbers(node) or _moves_elements(node):
        return False
    operands = [value for i, value in enumerate(node.inputs) if i not in node.op.traits.shape_only]
    if node.inputs and not operands:
        return False  # the op reads no elements
    types = [value.type for value in (*operands, *node.results) if isinstance(value.type, TensorType)]
    is_of_floats = any(type_.dtype.is_floating or type_.dtype.is_complex for type_ in types)
    if is_of_floats or node.op.traits.costly or (len(node.inputs) == 2 and _divides_integers(node.op)):
        return True
    return node.op.traits.elementwise and all(type_.shape == () for type_ in types)  # NumPy warns of overflow


def _moves_elements(node: Node) -> bool:
    """Return whether each element of the results is one of the first input, unchanged, or comes from no operand."""
    traits = node.op.traits
    reads_by_index = traits.indexing is not None and traits.scatter is None
    if traits.view or traits.generates or traits.allocates or reads_by_index:
        return True
    dtypes = {value.dtype for value in (*node.inputs[:1], *node.results) if isinstance(value.type, TensorType)}
    return traits.same_order and len(dtypes) == 1


def _divides_integers(op: Op) -> bool:
    """Return whether NumPy warns when the op divides an integer by 0."""
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
    """Return whether a node has a floating-point error in every call.

    Then its inputs are constants that were not folded, or arrays without elements, such as the operand of a mean.
    """
    kernel = getattr(node.op.kernel, "__wrapped__", node.op.kernel)
    if kernel is None or node.regions or not node.inputs or node.effects & ~Effects.RAISE:
        return False
    values = [_known_value(value) for value in node.inputs]
    if any(value is None for value in values) or sum(np.size(value) for value in values) > _CONSTANT_LIMIT:
        return False
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"), without_warnings():
            kernel(*values, **node.attributes)
    except FloatingPointError:
        return True
    except Exception:
        return False
    return False


def _known_value(value: Value) -> Any:
    """Return the value as an array if its elements are the same in every call, otherwise None."""
    if value.node is not None and value.node.op.name == "constant":
        return np.asarray(value.node.attributes["value"])
    type_ = value.type
    if isinstance(type_, TensorType) and type_.shape is not None and 0 in type_.shape:
        return np.empty([size or 0 for size in type_.shape], type_.dtype.numpy)
    return None


def _warning_frequency(filters: list[Any]) -> str:
    """Return how often these filters of `warnings` show a RuntimeWarning: _EACH, _NEVER, _RARELY or _RAISED."""
    for action, text, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            if action in ("always", "all", "error"):
                return _RAISED if action == "error" else _EACH
            if text is None and module is None and not line:
                return _NEVER if action == "ignore" else _RARELY
    return _RARELY
