"""`map_fn` over the rows of ragged tensors, and with results of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autoconv.api.control.flow import while_loop
from autoconv.api.control.functional import MAP_ROWS, map_fn
from autoconv.api.extension_specs import BatchableSpec
from autoconv.api.extension_types import BatchableExtensionType
from autoconv.api.ragged import partitions
from autoconv.api.ragged.joining import ragged_stack
from autoconv.api.ragged.tensor import RaggedTensor, RaggedTensorSpec
from autoconv.api.sparse.coordinates import column, select_rows, true_rows
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.graph.dtypes import int64
from autoconv.operators.calls.call import call as callable_for
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flat_leaves, flatten, pack
from autoconv.runtime.support.type_spec import is_composite
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_array import TensorArray


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any) -> Any:
    """Return the stacked results of `fn` for the rows of `elems`.

    `signature` is the spec of a result, by default the spec of a row if `elems` is one ragged tensor or batchable
    object. Results with the spec of a ragged tensor may have different lengths.
    """
    leaves, template = flatten(elems, is_composite)
    composites = (RaggedTensor, SparseTensor, BatchableExtensionType)
    if not all(isinstance(leaf, composites) or not is_composite(leaf) for leaf in leaves):
        raise TypeError("map_fn takes tensors, ragged and sparse tensors, and batchable extension types")
    operands = [leaf if is_composite(leaf) else convert_to_tensor(leaf) for leaf in leaves]
    function = callable_for(fn)

    def call_on_row(number: Any) -> Any:
        return function(pack(template, [_row(operand, number) for operand in operands]))

    first_operand = operands[0]
    while isinstance(first_operand, BatchableExtensionType):
        first_operand = first_operand._type_spec._to_components(first_operand)[0]
    row_count: Any = first_operand.dense_shape[0] if isinstance(first_operand, SparseTensor) else partitions.count_rows(
        first_operand
    )
    if signature is None and template is None and isinstance(first_operand, RaggedTensor):
        signature = first_operand._type_spec._unbatch()
    if signature is None and template is None and isinstance(leaves[0], BatchableExtensionType):
        signature = leaves[0]._type_spec._unbatch()
    if isinstance(signature, BatchableSpec):
        return _map_to_objects(call_on_row, row_count, signature)
    if not isinstance(signature, RaggedTensorSpec):
        return map_fn(call_on_row, tensor_range(row_count), fn_output_signature=signature)
    if current_region() is None:
        return _stack(  # type: ignore[attr-defined]
            signature, [call_on_row(number) for number in range(int(row_count.numpy()))]
        )
    if signature.ragged_rank:
        raise NotImplementedError("in functions, results of map_fn have one dimension of different lengths")
    return _collect_in_loop(call_on_row, row_count, signature)


def _map_to_objects(call_on_row: Callable[[Any], Any], row_count: Any, row_spec: BatchableSpec) -> Any:
    """Return the batch of the objects that `call_on_row` returns, of the extension type of `row_spec`."""
    tensor_specs = list(_tensor_specs(row_spec))

    def tensors_of_row(number: Any) -> list[Any]:
        result = call_on_row(number)
        if type(result) is not row_spec.value_type:
            raise TypeError(f"the function of map_fn returned {result!r}; its signature is {row_spec}")
        return [convert_to_tensor(part) for part in flat_leaves(result)]

    stacked_tensors = iter(map_fn(tensors_of_row, tensor_range(row_count), fn_output_signature=tensor_specs))
    length = static_value(row_count)
    return _pack_value(row_spec._batch(None if length is None else int(length)), stacked_tensors)


def _tensor_specs(spec: Any) -> Iterator[TensorSpec]:
    """Iterate over the specs of the tensors in a value of `spec`, also in its composite components."""
    if isinstance(spec, TensorSpec):
        yield spec
    else:
        for part_spec in spec._component_specs:
            yield from _tensor_specs(part_spec)


def _pack_value(spec: Any, tensors: Iterator[Any]) -> Any:
    """Return a value of `spec` whose tensors, in the order of `_tensor_specs`, are taken from the iterator."""
    if isinstance(spec, TensorSpec):
        return next(tensors)
    return spec._from_components([_pack_value(part_spec, tensors) for part_spec in spec._component_specs])


def _row(operand: Any, row_number: Any) -> Any:
    """Return a row of a tensor, of a ragged or sparse one, or of a batchable object."""
    if isinstance(operand, BatchableExtensionType):
        spec = operand._type_spec
        return spec._unbatch()._from_components(
            [_row(component, row_number) for component in spec._to_components(operand)]
        )
    if not isinstance(operand, SparseTensor):
        return operand[row_number]
    entries = select_rows(operand, true_rows(apply("equal", column(operand.indices, 0), cast(row_number, int64))))
    result = SparseTensor(entries.indices[:, 1:], entries.values, operand.dense_shape[1:])
    result.set_shape(operand.shape[1:])
    return result


def _stack(signature: RaggedTensorSpec, rows: list[Any]) -> Any:
    """Return the ragged tensor of the results of all rows."""
    if rows:
        return ragged_stack(rows) if signature.ragged_rank else signature._stack_values([*map(convert_to_tensor, rows)])
    return RaggedTensor.from_row_splits(convert_to_tensor([], signature.dtype), [0])


def _collect_in_loop(call_on_row: Callable[[Any], Any], count: Tensor, signature: RaggedTensorSpec) -> RaggedTensor:
    """Return the ragged tensor of the results of all rows, computed by a loop of the graph."""
    values = TensorArray(signature.dtype, size=0, dynamic_size=True, infer_shape=False)
    lengths = TensorArray(int64, size=0, dynamic_size=True)

    def step(number: Any, values: Any, lengths: Any) -> tuple[Any, ...]:
        row = convert_to_tensor(call_on_row(number), signature.dtype)
        return number + 1, values.write(number, row), lengths.write(number, partitions.count_rows(row))

    start = convert_to_tensor(0, count.dtype)
    _, values, lengths = while_loop(lambda number, *_: number < count, step, [start, values, lengths])
    return RaggedTensor.from_row_lengths(values.concat(), lengths.stack(), validate=False)


MAP_ROWS.set(map_rows)
