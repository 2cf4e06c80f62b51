"""vectorized_map: a function of one row, applied to all rows at once.

The function is recorded for one row. Each op is then applied to whole tensors by its batching rule, with the rows
along the first dimension; an op without a rule runs in a loop over the rows. A function with random draws, effects or
control flow is run by `map_fn`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.api.control.flow import check_callable
from autoconv.api.control.functional import map_to_any
from autoconv.api.tensors.shaping import tile
from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.control.iterables import leading_dimension
from autoconv.operators.regions.region_body import unify_captures
from autoconv.ops.index_spec import At, NewAxis, Rest, Slice, has_only_kinds
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region, new_trace, recording, subregion
from autoconv.runtime.support.structure import Template, flatten, pack
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply, graph_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_UNBATCHED_EFFECTS = Effects.WRITE | Effects.OUTPUT | Effects.RANDOM  # ops with them need a rule of their own


def vectorized_map(
    fn: Callable[..., Any], elems: TensorLike, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`map_fn`, computed on all rows at once if the ops of `fn` allow it; no call of `fn` may depend on another.

    Ops that run in a loop over the rows are logged unless `warn` is False. Raises ValueError for them if
    `fallback_to_while_loop` is False, InvalidArgumentError for tensors of different
    lengths; a tensor of one row is repeated.

    >>> autoconv.vectorized_map(lambda row: row * 2, autoconv.constant([[1, 2], [3, 4]])).numpy()
    array([[2, 4],
           [6, 8]], dtype=int32)
    """
    check_callable("fn", fn)
    leaves, template = flatten(elems)
    tensors = [convert_to_tensor(leaf) for leaf in leaves]
    if not tensors or not all(tensor.type.shape for tensor in tensors):  # no rows, or an unknown rank
        return map_to_any(fn, elems)
    sizes = {tensor.type.shape[0] for tensor in tensors if tensor.type.shape}
    lengths = {size for size in sizes if isinstance(size, int) and size != 1}
    if len(lengths) > 1:
        raise InvalidArgumentError(f"vectorized_map needs tensors of one length, found {sorted(lengths)}")
    if lengths:
        tensors = [_repeat_single_row(tensor, *lengths) for tensor in tensors]
    try:
        row_function = _record(fn, tensors, template)
        batch = _Batch(tensors, may_loop=fallback_to_while_loop, logs_loops=warn)
        values = batch.run(row_function.graph, row_function.captures)
    except NotBatched as reason:
        if not fallback_to_while_loop:
            raise ValueError(f"vectorized_map has no batching rule for {reason}") from None
        if warn:
            logging.getLogger("autoconv").warning("vectorized_map runs a loop over the rows because of %s", reason)
        return map_to_any(fn, elems)
    return pack(row_function.result_template, values)


def _repeat_single_row(tensor: Tensor, length: int) -> Tensor:
    """Return a tensor of one row with its row repeated `length` times; a tensor of several rows unchanged."""
    shape = tensor.type.shape or ()
    return tile(tensor, [length, *[1] * (len(shape) - 1)]) if shape[:1] == (1,) else tensor


class NotBatched(Exception):
    """The function has to run row by row; `str()` is the reason."""


def _has_value_dependent_shape(node: Node, result: Value) -> bool:
    """Return whether a size of the result depends on values of the inputs: it is open, and no size of theirs is."""
    return not _has_static_shape(result) and all(map(_has_static_shape, node.inputs))


def _has_static_shape(value: Value) -> bool:
    """Return whether the value is a tensor whose sizes are all known."""
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return shape is not None and None not in shape


class _RowFunction(NamedTuple):
    """A function of one row as a graph: the values of its captures, and the structure of its results."""

    graph: Graph
    captures: list[Any]
    result_template: Template | None


def _record(fn: Callable[..., Any], tensors: Sequence[Tensor], template: Template | None) -> _RowFunction:
    """Return the graph of `fn` for one row of each of `tensors`, which `template` makes arguments of."""
    outer_region = current_region()
    region = new_trace("vectorized_map").root if outer_region is None else subregion(outer_region, "vectorized_map")
    types = [TensorType(tensor.dtype, (tensor.type.shape or ())[1:]) for tensor in tensors]
    parameters = [SymbolicTensor(region.graph.add_parameter(type_, "row")) for type_ in types]
    with recording(region):
        leaves, result_template = flatten(callable_for(fn)(pack(template, parameters)))
        results = [convert_to_tensor(leaf) for leaf in leaves]
        region.graph.outputs = [region.lift(graph_value(region, result)) for result in results]
    if outer_region is None:
        captures: list[Any] = [captured for captured, _ in region.trace.captures.values()]
    else:
        captures = [SymbolicTensor(value) for value in unify_captures([region], len(tensors))]
    return _RowFunction(region.graph, captures, result_template)


class _Batch:
    """Application of a graph, recorded for one row, to all rows at once.

    `tensors` are the arguments, with the rows along their first dimension. `tensor_by_value` has the tensors computed
    for the values of the graph; those for `batched_values` have the rows along their first dimension.
    `read_values` are the values that nodes or outputs read. With `may_loop`, ops without a batching rule run
    row by row, which `logs_loops` reports in the log; else they raise NotBatched.
    """

    def __init__(self, tensors: Sequence[Tensor], may_loop: bool, logs_loops: bool) -> None:
        self.tensors = list(tensors)
        self.row_count = leading_dimension(tensors[0])
        self.may_loop, self.logs_loops = may_loop, logs_loops
        self.tensor_by_value: dict[Value, Any] = {}
        self.batched_values: set[Value] = set()
        self.read_values: set[Value] = set()

    def run(self, graph: Graph, captures: Sequence[Any]) -> list[Tensor]:
        """Return the outputs of the graph for all rows; raises NotBatched if they have to be computed row by row."""
        for parameter, value in zip(graph.parameters, [*self.tensors, *captures], strict=True):
            if not isinstance(parameter.type, TensorType):
                raise NotBatched("a value read from a variable or a list")
            self.tensor_by_value[parameter] = value
        self.batched_values.update(graph.parameters[: len(self.tensors)])
        self.read_values.update(graph.outputs, *(node.inputs for node in graph.nodes))
        for node in graph.nodes:
            self._apply(node)
        outputs = [self.tensor_by_value[output] for output in graph.outputs]
        return self.batch_all(outputs, [output in self.batched_values for output in graph.outputs])

    def _apply(self, node: Node) -> None:
        """Compute the results of a node for all rows."""
        if node.regions or (node.effects & _UNBATCHED_EFFECTS and node.op.name not in _BATCHING_RULE_BY_OP):
            raise NotBatched(f"the op {node.op.graphdef}")
        inputs = [self.tensor_by_value[value] for value in node.inputs]
        are_batched = [value in self.batched_values for value in node.inputs]
        if node.op.name == "constant":
            outputs: Any = EagerTensor(node.attributes["value"], bool(node.attributes.get("weak", False)))
        elif not any(are_batched):
            outputs = apply(node.op.name, *inputs, **node.attributes)
        else:
            outputs = self._apply_batched(node, inputs, are_batched)
            self.batched_values.update(node.results)
        tensors = outputs if isinstance(outputs, tuple) else (outputs,)
        self.tensor_by_value.update(zip(node.results, tensors, strict=True))

    def _apply_batched(self, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
        """Return the results of a node if some of its inputs have the rows along their first dimension."""
        if any(not isinstance(value.type, TensorType) or value.type.weak for value in node.results):
            raise NotBatched(f"the op {node.op.graphdef}, whose result is a Python number or a list")
        if node.op.traits.elementwise:
            return apply(node.op.name, *self.align_ranks(node, inputs, are_batched), **node.attributes)
        rule = _BATCHING_RULE_BY_OP.get(node.op.name)
        outputs = rule(self, node, inputs, are_batched) if rule is not None else None
        return self._run_in_loop(node, inputs, are_batched) if outputs is None else outputs

    def align_ranks(self, node: Node, inputs: list[Any], are_batched: list[bool]) -> list[Any]:
        """Return the inputs with dimensions of one inserted into rows of lower rank, so that rows broadcast."""
        ranks = [rank_of(value) for value in node.inputs]
        max_rank = max(ranks)
        aligned_inputs = []
        for x, is_batched, rank in zip(inputs, are_batched, ranks, strict=True):
            for _ in range(max_rank - rank if is_batched else 0):
                x = apply("expand_dims", x, axis=1)
            aligned_inputs.append(x)
        return aligned_inputs

    def _run_in_loop(self, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
        """Return the results of an op that runs row by row, None for a result that is not read."""
        if not self.may_loop:
            raise NotBatched(f"the op {node.op.graphdef}")
        if any(value in self.read_values and _has_value_dependent_shape(node, value) for value in node.results):
            raise NotBatched(f"the op {node.op.graphdef}, whose result may have another shape for each row")
        if self.logs_loops:
            logging.getLogger("autoconv").warning(
                "vectorized_map runs a loop over the rows for the op %s", node.op.graphdef
            )

        def run_on_row(batched_operands: tuple[Any, ...]) -> Any:
            row_operands = iter(batched_operands)
            pairs = zip(inputs, are_batched, strict=True)
            operands = [next(row_operands) if is_batched else x for x, is_batched in pairs]
            outputs = apply(node.op.name, *operands, **node.attributes)
            results = outputs if isinstance(outputs, tuple) else (outputs,)
            return tuple(x for x, value in zip(results, node.results, strict=True) if value in self.read_values)

        remaining_stacks = iter(
            map_to_any(run_on_row, tuple(x for x, is_batched in zip(inputs, are_batched, strict=True) if is_batched))
        )
        return tuple(next(remaining_stacks) if value in self.read_values else None for value in node.results)

    def _repeat_for_rows(self, x: TensorLike) -> Any:
        """Return the tensor, repeated for every row along a new first dimension."""
        tensor = apply("expand_dims", convert_to_tensor(x), axis=0)
        return tile(tensor, [self.row_count] + [1] * (len(tensor.type.shape) - 1))

    def batch_all(self, inputs: list[Any], are_batched: list[bool]) -> list[Any]:
        """Return all inputs with the rows along their first dimension."""
        pairs = zip(inputs, are_batched, strict=True)
        return [x if is_batched else self._repeat_for_rows(x) for x, is_batched in pairs]


def rank_of(value: Value) -> int:
    """Return the rank of a value in the graph of one row; raises NotBatched if it is unknown."""
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    if shape is None:
        raise NotBatched(f"{value.name}, whose rank is not known")
    return len(shape)


def _after_batch_axis(axis: int) -> int:
    """Return the axis of the tensor of all rows that is the given axis of one row."""
    return axis if axis < 0 else axis + 1


# A rule returns the op's results for all rows, or None where the op has to run row by row. `inputs[i]` has the rows
# along its first dimension if `are_batched[i]`, else it is the same for all rows.


def _reduce(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    axis = node.attributes["axis"]
    axes = tuple(range(1, rank_of(node.inputs[0]) + 1)) if axis is None else tuple(map(_after_batch_axis, axis))
    if not axes:  # reduction of a scalar
        return inputs[0] if node.op.name != "reduce_logsumexp" else None
    return apply(node.op.name, inputs[0], **{**node.attributes, "axis": axes})


def _apply_along_axis(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    axis = node.attributes.get("axis")
    if not isinstance(axis, int) or len(inputs) != 1:
        return None
    return apply(node.op.name, inputs[0], **{**node.attributes, "axis": _after_batch_axis(axis)})


def _join(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    return apply(node.op.name, *batch.batch_all(inputs, are_batched), axis=_after_batch_axis(node.attributes["axis"]))


def _matmul(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    ranks = [rank_of(value) for value in node.inputs]
    have_aligned_batches = ranks[0] == ranks[1] or 2 in ranks  # else batch axes would meet rows
    if min(ranks) < 2 or not have_aligned_batches:
        return None
    return apply("matmul", *batch.align_ranks(node, inputs, are_batched), **node.attributes)


def _transpose(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    perm = node.attributes.get("perm")
    if len(inputs) != 1 or (perm is not None and not all(isinstance(axis, (int, np.integer)) for axis in perm)):
        return None
    rank = rank_of(node.inputs[0])
    order = range(rank)[::-1] if perm is None else [int(axis) % rank for axis in perm]
    return apply("transpose", inputs[0], perm=(0, *(axis + 1 for axis in order)))


def _squeeze(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    axis = node.attributes.get("axis")
    return apply("squeeze", inputs[0], axis=tuple(map(_after_batch_axis, axis))) if axis else None


def _reshape(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    shape = node.attributes["shape"]
    if len(inputs) != 1 or any(not isinstance(size, int) for size in shape):
        return None
    if not isinstance(batch.row_count, int):
        return None if -1 in shape else apply("reshape", inputs[0], shape=(-1, *shape))
    return apply("reshape", inputs[0], shape=(batch.row_count, *shape))


def _get_item(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    spec = node.attributes["spec"]
    if len(inputs) != 1 or not has_only_kinds(spec, At, Slice, NewAxis, Rest):
        return None
    return apply("get_item", inputs[0], spec=(Slice(), *spec))


def _gather(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    axis = node.attributes["axis"]
    if node.attributes.get("batch_dims", 0) or all(are_batched):
        return None
    if are_batched[0]:
        return apply("gather", *inputs, axis=_after_batch_axis(axis))
    return apply("gather", *inputs, axis=0) if axis == 0 else None  # else the rows are not the first dimension


def _assert(batch: _Batch, node: Node, inputs: list[Any], are_batched: list[bool]) -> Any:
    """Assert a condition of all rows at once, unless the message has data of the row."""
    if any(are_batched[1:]):
        return None
    condition = apply("reduce_all", inputs[0], axis=None, keepdims=False)
    return apply("assert_true", condition, *inputs[1:], **node.attributes)


_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all")
# Ops with an attribute `axis`, which is shifted by the batch dimension.
_AXIS_OPS = ("expand_dims", "softmax", "log_softmax", "cumsum", "cumprod", "sort", "argsort", "argmax", "argmin")
_BATCHING_RULE_BY_OP: dict[str, Callable[[_Batch, Node, list[Any], list[bool]], Any]] = {
    **{f"reduce_{name}": _reduce for name in _REDUCTIONS},
    **dict.fromkeys(_AXIS_OPS, _apply_along_axis),
    "stack": _join, "concat": _join, "matmul": _matmul, "transpose": _transpose, "squeeze": _squeeze,
    "reshape": _reshape, "get_item": _get_item, "gather": _gather, "assert_true": _assert,
}  # fmt: skip
