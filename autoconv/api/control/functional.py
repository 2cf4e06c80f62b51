"""Higher-order functions over the first dimension: map, scan, folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.control.flow import check_callable, while_loop
from autoconv.api.tensors.shaping import concat
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import Shape, TensorType, join_shapes
from autoconv.hooks import Hook
from autoconv.operators.calls.call import call
from autoconv.operators.control.iterables import leading_dimension
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.kind_preserving import kind_preserving
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, flatten, map_structure, pack
from autoconv.runtime.support.type_spec import is_composite, is_composite_spec
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_array import TensorArray

MAP_ROWS = Hook("autoconv.api.ragged_map")  # maps over rows of ragged tensors, which are above this package


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Apply `fn` to each row of `elems`, a tensor or a structure of tensors of one length, and stack the results.

    `fn` may return a structure. `fn_output_signature` (or `dtype`), dtypes or TensorSpecs in the structure of the
    result, is needed only if there are no rows and the dtype differs from that of `elems`. Results of different lengths
    are ragged: for ragged `elems` without a signature, and for a RaggedTensorSpec. Raises ValueError for an empty
    structure.

    >>> autoconv.map_fn(lambda row: autoconv.reduce_sum(row), autoconv.constant([[1, 2], [3, 4]])).numpy()
    array([3, 7], dtype=int32)
    """
    check_callable("fn", fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(map(is_composite, flatten(elems, is_composite)[0])) or is_composite_spec(signature):
        return MAP_ROWS(fn, elems, signature)
    rows, template = _rows(elems)
    function = call(fn)

    def step(index: TensorLike, carried: None) -> tuple[Any, None]:
        return function(pack(template, [get_item(row, index) for row in rows])), None

    stacked, _ = _collect(step, rows, None, _declared_types(signature), reverse=False)
    return stacked


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """All values of `state = fn(state, row)` over the rows of `elems`, stacked.

    The initial state is `initializer`, or else the first row, which is then the first result. `reverse` iterates from
    the last row to the first; each result is at the position of its row.

    >>> autoconv.scan(lambda total, x: total + x, autoconv.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)
    """
    check_callable("fn", fn)
    rows, template = _rows(elems)
    function = call(fn)
    if initializer is None:
        return _scan_from_first(function, rows, template, reverse)

    def step(index: TensorLike, state: Any) -> tuple[Any, Any]:
        new = function(state, pack(template, [get_item(row, index) for row in rows]))
        return _next_state(new, state)

    start = map_structure(convert_to_tensor, initializer)
    stacked, _ = _collect(step, rows, start, None, reverse)
    return stacked


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The last value of `state = fn(state, row)` over the rows of `elems`.

    The initial state is `initializer`, or else the first row.

    >>> autoconv.foldl(lambda total, x: total + x, autoconv.constant([1, 2, 3])).numpy()
    np.int32(6)
    """
    return _fold(fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`foldl` from the last row to the first.

    >>> autoconv.foldr(lambda total, x: total * 10 + x, autoconv.constant([1, 2, 3])).numpy()
    np.int32(321)
    """
    return _fold(fn, elems, initializer, reverse=True)


def _fold(fn: Callable[..., Any], elems: TensorLike, initializer: Callable[..., Any], reverse: bool) -> Any:
    check_callable("fn", fn)
    rows, template = _rows(elems)
    function, length = call(fn), leading_dimension(rows[0])

    def row(position: int) -> Any:
        index = length - 1 - position if reverse else position
        return pack(template, [get_item(part, index) for part in rows])

    first = 0 if initializer is not None else 1
    start = map_structure(convert_to_tensor, initializer if initializer is not None else row(0))
    _, result = while_loop(
        lambda i, state: i < length,
        lambda i, state: (i + 1, function(state, row(i))),
        (_counter(first), start),
    )
    return result


class _ResultTypesFound(BaseException):
    """Unwind the recording of a loop once the types of its results are known."""

    def __init__(self, template: Template | None, types: list[TensorType]) -> None:
        super().__init__()
        self.template = template
        self.types = types


def _collect(step: object, rows: list[Tensor], state: Any, declared: Any, reverse: bool) -> tuple[Any, Any]:
    """Run `result, state = step(index, state)` for every row; return the stacked results and the last state."""
    if current_region() is None and int(leading_dimension(rows[0])):
        return _collect_at_once(step, rows, state, reverse)
    if declared is None:
        shapes = [row.type.shape for row in rows]
        declared = None, [TensorType(rows[0].dtype, _row_shape(shapes[0]))]
    template, types = declared
    is_assumed = False
    while True:
        try:
            return _loop(step, rows, state, template, types, reverse)
        except _ResultTypesFound as unwound:
            types = _join_types(types, unwound.types, template == unwound.template) if is_assumed else unwound.types
            template, is_assumed = unwound.template, True


def _collect_at_once(step: Any, rows: list[Tensor], state: Any, reverse: bool) -> tuple[Any, Any]:
    """`_collect` for eager rows, in one pass: the first result determines structure and dtypes."""
    length = int(leading_dimension(rows[0]))
    template: Template | None = None
    arrays: list[TensorArray] = []
    for turn in range(length):
        index = length - 1 - turn if reverse else turn
        result, state = step(_counter(index), state)
        leaves, result_template = flatten(result)
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        if not turn:
            template = result_template
            arrays = [TensorArray(t.dtype, length, clear_after_read=False, infer_shape=False) for t in tensors]
        elif result_template != template:
            raise _structure_error()
        arrays = [array.write(index, t) for array, t in zip(arrays, tensors, strict=True)]
    return pack(template, [array.stack() for array in arrays]), state


def _join_types(assumed: list[TensorType], types: list[TensorType], alike: bool) -> list[TensorType]:
    """Join the assumed types of the results with those that another recording found."""
    if not alike or any(a.dtype is not f.dtype for a, f in zip(assumed, types, strict=True)):
        raise _structure_error()
    return [TensorType(a.dtype, join_shapes(a.shape, f.shape)) for a, f in zip(assumed, types, strict=True)]


def _structure_error() -> ValueError:
    return ValueError("the function has to give results of one structure and of the same dtypes for all rows")


def _loop(
    step: Any,
    rows: list[Tensor],
    state: Any,
    template: Template | None,
    types: list[TensorType],
    reverse: bool,
) -> tuple[Any, Any]:
    """Run `step` for every row in a graph loop; raise `_ResultTypesFound` if a result's types are not those assumed."""
    length = leading_dimension(rows[0])
    arrays = [TensorArray(t.dtype, length, element_shape=t.shape, clear_after_read=False) for t in types]

    @kind_preserving
    def body(position: int, written: list[TensorArray], carried: Any) -> tuple[Any, ...]:
        index = length - 1 - position if reverse else position
        result, carried = step(index, carried)
        leaves, result_template = flatten(result)
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        result_types = [TensorType(t.dtype, t.type.shape) for t in tensors]
        if result_template != template or not _is_covered_by(result_types, types):
            raise _ResultTypesFound(result_template, result_types)
        return position + 1, [a.write(index, t) for a, t in zip(written, tensors, strict=True)], carried

    @kind_preserving
    def continues(position: int, *_: Any) -> Any:
        return position < length

    _, arrays, state = while_loop(continues, body, (_counter(0), arrays, state))
    return pack(template, [array.stack() for array in arrays]), state


def _is_covered_by(types: list[TensorType], assumed: list[TensorType]) -> bool:
    return len(types) == len(assumed) and all(
        f.dtype is a.dtype and join_shapes(a.shape, f.shape) == a.shape
        for f, a in zip(types, assumed, strict=True)
    )


def _counter(start: int) -> Tensor:
    return convert_to_tensor(start)


def _row_shape(shape: Shape) -> Shape:
    return None if shape is None else shape[1:]


def _rows(elems: TensorLike) -> tuple[list[Tensor], Template | None]:
    """Return the tensors to iterate over, and their structure; a list of numbers is one tensor."""
    leaves, template = flatten(elems, is_composite)
    if any(map(is_composite, leaves)):
        raise TypeError("elems has a composite tensor, which map_fn alone takes")
    if template is not None and leaves and all(isinstance(leaf, (bool, int, float, str)) for leaf in leaves):
        leaves, template = [elems], None
    if not leaves:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got no tensors.")
    tensors = [convert_to_tensor(leaf) for leaf in leaves]
    for tensor in tensors:
        if tensor.type.shape == ():
            raise ValueError("elems must have one or more dimensions, found a scalar")
    return tensors, template


def _declared_types(signature: Any) -> Any:
    """Return (template, types) of a result according to its signature."""
    if signature is None:
        return None
    leaves, template = flatten(signature)
    types = []
    for leaf in leaves:
        shape = leaf.shape.dims_tuple if isinstance(leaf, TensorSpec) else None
        dtype: DType = leaf.dtype if isinstance(leaf, TensorSpec) else as_dtype(leaf)
        types.append(TensorType(dtype, shape))
    return template, types


def _next_state(new: Any, state: Any) -> tuple[Any, Any]:
    """Return the result of a scan's function twice: as an element of the result and as the next state."""
    structure = map_structure(convert_to_tensor, new)
    if flatten(structure)[1] != flatten(state)[1]:
        raise ValueError(
            "the function of scan has to return a state of the structure of the initializer, or else of the first "
            f"row: it is called with {state!r} and returns {new!r}"
        )
    return structure, structure


def _scan_from_first(function: Any, rows: list[Tensor], template: Template | None, reverse: bool) -> Any:
    """Scan from the first row: that row, followed by a scan over the others with it as initial state."""
    first_row = [get_item(row, -1 if reverse else 0) for row in rows]
    other_rows = [get_item(row, slice(None, -1) if reverse else slice(1, None)) for row in rows]

    def step(index: object, state: Any) -> tuple[Any, Any]:
        new = function(state, pack(template, [get_item(row, index) for row in other_rows]))
        return _next_state(new, state)

    start = pack(template, first_row)
    stacked, _ = _collect(step, other_rows, start, None, reverse)
    leaves, shape = flatten(stacked)
    first_results = [get_item(f, None) for f in flatten(start)[0]]
    joined = [concat([t, h] if reverse else [h, t], 0) for h, t in zip(first_results, leaves, strict=True)]
    return pack(shape, joined)
