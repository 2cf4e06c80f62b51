"""`map_fn` over the rows of ragged tensors, and with results of different lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.control.flow import while_loop
from autoconv.api.control.functional import MAP_ROWS, map_fn
from autoconv.api.extension_types import BatchableExtensionType
from autoconv.api.ragged import partitions
from autoconv.api.ragged.joining import ragged_stack
from autoconv.api.ragged.tensor import RaggedTensor, RaggedTensorSpec
from autoconv.api.sparse.coordinates import column, select_rows, true_rows
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.graph.dtypes import int64
from autoconv.operators.calls.call import call
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.support.type_spec import is_composite
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_array import TensorArray


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any) -> Any:
    """Apply `fn` to each row; the result is ragged if `signature`, by default the spec of `elems`, is ragged."""
    leaves, template = flatten(elems, is_composite)
    composites = (RaggedTensor, SparseTensor, BatchableExtensionType)
    if not all(isinstance(leaf, composites) or not is_composite(leaf) for leaf in leaves):
        raise TypeError("map_fn takes tensors, ragged and sparse tensors, and batchable extension types")
    parts = [leaf if is_composite(leaf) else convert_to_tensor(leaf) for leaf in leaves]
    function = call(fn)

    def call_on_row(number: Any) -> Any:
        return function(pack(template, [_row(part, number) for part in parts]))

    first = parts[0]
    while isinstance(first, BatchableExtensionType):
        first = first._type_spec._to_components(first)[0]
    count: Any = first.dense_shape[0] if isinstance(first, SparseTensor) else partitions.count_rows(first)
    if signature is None and template is None and isinstance(first, RaggedTensor):
        signature = first._type_spec._unbatch()
    if not isinstance(signature, RaggedTensorSpec):
        return map_fn(call_on_row, tensor_range(count), fn_output_signature=signature)
    if current_region() is None:
        return _stack(  # type: ignore[attr-defined]
            signature, [call_on_row(number) for number in range(int(count.numpy()))]
        )
    if signature.ragged_rank:
        raise NotImplementedError("in functions, results of map_fn have one dimension of different lengths")
    return _collect_in_loop(call_on_row, count, signature)


def _row(part: Any, number: Any) -> Any:
    if isinstance(part, BatchableExtensionType):
        spec = part._type_spec
        return spec._unbatch()._from_components([_row(component, number) for component in spec._to_components(part)])
    if not isinstance(part, SparseTensor):
        return part[number]
    entries = select_rows(part, true_rows(apply("equal", column(part.indices, 0), cast(number, int64))))
    result = SparseTensor(entries.indices[:, 1:], entries.values, part.dense_shape[1:])
    result.set_shape(part.shape[1:])
    return result


def _stack(signature: RaggedTensorSpec, rows: list[Any]) -> Any:
    if rows:
        return ragged_stack(rows) if signature.ragged_rank else signature._stack_values([*map(convert_to_tensor, rows)])
    return RaggedTensor.from_row_splits(convert_to_tensor([], signature.dtype), [0])


def _collect_in_loop(call_on_row: Callable[[Any], Any], count: Tensor, signature: RaggedTensorSpec) -> RaggedTensor:
    """Return a ragged tensor of the results of all rows."""
    values = TensorArray(signature.dtype, size=0, dynamic_size=True, infer_shape=False)
    lengths = TensorArray(int64, size=0, dynamic_size=True)

    def step(number: Any, values: Any, lengths: Any) -> tuple[Any, ...]:
        row = convert_to_tensor(call_on_row(number), signature.dtype)
        return number + 1, values.write(number, row), lengths.write(number, partitions.count_rows(row))

    start = convert_to_tensor(0, count.dtype)
    _, values, lengths = while_loop(lambda number, *_: number < count, step, [start, values, lengths])
    return RaggedTensor.from_row_lengths(values.concat(), lengths.stack(), validate=False)


MAP_ROWS.set(map_rows)
