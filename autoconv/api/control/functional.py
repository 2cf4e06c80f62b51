"""Higher-order functions over the first dimension: map, scan, folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autoconv.api.control.flow import check_callable, while_loop
from autoconv.api.tensors.shaping import concat
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import Shape, TensorType, are_shapes_compatible, join_shapes
from autoconv.hooks import Hook
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.control.iterables import leading_dimension
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.structure import Template, flat_leaves, flatten, map_structure, pack
from autoconv.runtime.support.structure_difference import check_same_structure
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.support.type_spec import is_composite, is_composite_spec
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_array import TensorArray

MAP_ROWS = Hook("autoconv.api.ragged_map")  # `map_fn` for elements or results with composite tensors


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Apply `fn` to each row of `elems`, a tensor or a structure of tensors of one length, and stack the results.

    `fn` returns values with the structure and dtypes of a row of `elems`, or with those of `fn_output_signature` (or
    `dtype`), which has dtypes or TensorSpecs. The results may differ in length if `elems` is ragged and no signature is
    given, or if the signature is a RaggedTensorSpec: they are then returned as a ragged tensor. Raises ValueError if
    `elems` has no tensors, ValueError or TypeError if a result has another structure, and InvalidArgumentError if it
    has another dtype. `parallel_iterations`, `back_prop`, `swap_memory` and `infer_shape` have no effect.

    >>> autoconv.map_fn(lambda row: autoconv.reduce_sum(row), autoconv.constant([[1, 2], [3, 4]])).numpy()
    array([3, 7], dtype=int32)
    """
    check_callable("fn", fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    if any(map(is_composite, flat_leaves(elems, is_composite))) or is_composite_spec(signature):
        return MAP_ROWS(fn, elems, signature)
    elem_tensors, template = _iterated_tensors(elems)
    _check_lengths(elem_tensors)
    declaration = _declare_result(pack(template, elem_tensors), elem_tensors, signature)
    function = callable_for(fn)

    def step(index: TensorLike, carried: None) -> tuple[Any, None]:
        return function(pack(template, [get_item(tensor, index) for tensor in elem_tensors])), None

    stacked_results, _ = _collect(step, elem_tensors, None, declaration, reverse=False)
    return stacked_results


def map_to_any(fn: Callable[..., Any], elems: Any) -> Any:
    """Return the results of `fn` for all rows as `map_fn`, but with the structure and dtypes of the first result."""
    elem_tensors, template = _iterated_tensors(elems)
    function = callable_for(fn)

    def step(index: TensorLike, carried: None) -> tuple[Any, None]:
        return function(pack(template, [get_item(tensor, index) for tensor in elem_tensors])), None

    declaration = replace(_declare_result(pack(template, elem_tensors), elem_tensors, signature=None), is_open=True)
    return _collect(step, elem_tensors, None, declaration, reverse=False)[0]


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """All values of `state = fn(state, row)` over the rows of `elems`, stacked.

    The initial state is `initializer`, or else the first row, which is then the first result. `reverse` iterates from
    the last row to the first; each result is at the position of its row. `parallel_iterations`, `back_prop`,
    `swap_memory` and `infer_shape` have no effect.

    >>> autoconv.scan(lambda total, x: total + x, autoconv.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)
    """
    check_callable("fn", fn)
    elem_tensors, template = _iterated_tensors(elems)
    if current_region() is not None:
        _check_lengths(elem_tensors)
    function = callable_for(fn)
    if initializer is None:
        return _scan_from_first(function, elem_tensors, template, reverse)

    def step(index: TensorLike, state: Any) -> tuple[Any, Any]:
        new_state = function(state, pack(template, [get_item(tensor, index) for tensor in elem_tensors]))
        return _as_result_and_state(new_state, state)

    start = map_structure(convert_to_tensor, initializer)
    stacked_results, _ = _collect(step, elem_tensors, start, _declare_like(start, are_shapes_given=True), reverse)
    return stacked_results


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The last value of `state = fn(state, row)` over the rows of `elems`.

    The initial state is `initializer`, or else the first row. `parallel_iterations`, `back_prop` and `swap_memory` have
    no effect.

    >>> autoconv.foldl(lambda total, x: total + x, autoconv.constant([1, 2, 3])).numpy()
    np.int32(6)
    """
    return _fold(fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`foldl` from the last row to the first.

    `parallel_iterations`, `back_prop` and `swap_memory` have no effect.

    >>> autoconv.foldr(lambda total, x: total * 10 + x, autoconv.constant([1, 2, 3])).numpy()
    np.int32(321)
    """
    return _fold(fn, elems, initializer, reverse=True)


def _fold(fn: Callable[..., Any], elems: TensorLike, initializer: Any, reverse: bool) -> Any:
    """Return the last state of a fold; `reverse` iterates from the last row to the first."""
    check_callable("fn", fn)
    elem_tensors, template = _iterated_tensors(elems)
    function, length = callable_for(fn), leading_dimension(elem_tensors[0])
    if initializer is None:
        _check_has_rows(elem_tensors, -1 if reverse else 0)

    def row(position: int) -> Any:
        index = length - 1 - position if reverse else position
        return pack(template, [get_item(tensor, index) for tensor in elem_tensors])

    first_position = 0 if initializer is not None else 1
    start = map_structure(convert_to_tensor, initializer if initializer is not None else row(0))

    def step(position: Any, state: Any) -> tuple[Any, Any]:
        new_state = function(state, row(position))
        check_same_structure(state, new_state)
        return position + 1, new_state

    return while_loop(lambda position, state: position < length, step, (convert_to_tensor(first_position), start))[1]


@dataclass(frozen=True)
class _ResultDeclaration:
    """The structure that all results have, and the types of its leaves.

    `has_given_shape[i]` is True if the caller has given the shape of leaf i; else that shape is an assumption. If the
    declaration `is_open`, structure and dtypes are assumptions, too: they become those of the first result.
    """

    structure: Any
    types: list[TensorType]
    has_given_shape: list[bool]
    is_open: bool = False

    def leaves_of(self, result: Any) -> list[Any]:
        """Return the leaves of a result; raises ValueError or TypeError for another structure.

        An open declaration has no leaves yet: it raises `_UnexpectedResultTypes` with the types of this result.
        """
        if self.is_open:
            raise _UnexpectedResultTypes(_declare_like(map_structure(convert_to_tensor, result)))
        check_same_structure(self.structure, result)
        return flat_leaves(result)

    @property
    def template(self) -> Template | None:
        """The structure of a result without its leaves; None for a result that is a leaf itself."""
        return flatten(self.structure)[1]


class _UnexpectedResultTypes(BaseException):
    """Raised to abandon the recording of a loop whose results do not have the assumed types.

    `declaration` has the types that were found.
    """

    def __init__(self, declaration: _ResultDeclaration) -> None:
        super().__init__()
        self.declaration = declaration


def _collect(
    step: object, elem_tensors: list[Tensor], state: Any, declaration: _ResultDeclaration, reverse: bool
) -> tuple[Any, Any]:
    """Run `result, state = step(index, state)` for every row; return the stacked results and the last state."""
    if current_region() is None and int(leading_dimension(elem_tensors[0])):
        return _collect_eagerly(step, elem_tensors, state, declaration, reverse)
    is_recorded_again = False
    while True:
        try:
            return _collect_in_loop(step, elem_tensors, state, declaration, reverse)
        except _UnexpectedResultTypes as exception:
            unexpected = exception.declaration
            if is_recorded_again:  # joined with the types of the last recording, so that the next one accepts both
                unexpected = replace(unexpected, types=_join_types(declaration.types, unexpected.types))
            declaration, is_recorded_again = unexpected, True


def _collect_eagerly(
    step: Any, elem_tensors: list[Tensor], state: Any, declaration: _ResultDeclaration, reverse: bool
) -> tuple[Any, Any]:
    """Return the results of `_collect` for eager rows: each is stored as soon as `step` has returned it."""
    length = int(leading_dimension(elem_tensors[0]))
    arrays: list[TensorArray] = []
    for position in range(length):
        index = length - 1 - position if reverse else position
        result, state = step(convert_to_tensor(index), state)
        if declaration.is_open:
            declaration = _declare_like(map_structure(convert_to_tensor, result))
        leaves = declaration.leaves_of(result)
        arrays = arrays or [
            TensorArray(type_.dtype, length, clear_after_read=False, element_shape=type_.shape if is_given else None)
            for type_, is_given in zip(declaration.types, declaration.has_given_shape, strict=True)
        ]
        for array, leaf in zip(arrays, leaves, strict=True):
            array.write(index, leaf)
    return pack(declaration.template, [array.stack() for array in arrays]), state


def _join_types(assumed_types: list[TensorType], types: list[TensorType]) -> list[TensorType]:
    """Return the joins of the assumed types of the results with those that another recording found."""
    return [
        TensorType(assumed.dtype, join_shapes(assumed.shape, recorded.shape))
        for assumed, recorded in zip(assumed_types, types, strict=True)
    ]


def _collect_in_loop(
    step: Any, elem_tensors: list[Tensor], state: Any, declaration: _ResultDeclaration, reverse: bool
) -> tuple[Any, Any]:
    """Run `step` for every row in a graph loop; raise `_UnexpectedResultTypes` if the assumed types are wrong."""
    length = leading_dimension(elem_tensors[0])
    types = declaration.types
    arrays = [
        TensorArray(type_.dtype, length, element_shape=type_.shape, clear_after_read=False) for type_ in types
    ]

    @called_unconverted
    def body(position: int, arrays_so_far: list[TensorArray], carried_values: Any) -> tuple[Any, ...]:
        index = length - 1 - position if reverse else position
        result, carried_values = step(index, carried_values)
        leaves = declaration.leaves_of(result)
        tensors = [array.check_dtype(leaf) for array, leaf in zip(arrays_so_far, leaves, strict=True)]
        result_types = [TensorType(tensor.dtype, tensor.type.shape) for tensor in tensors]
        if not _is_covered_by(result_types, types):
            _check_given_shapes(result_types, declaration)
            raise _UnexpectedResultTypes(replace(declaration, types=result_types))
        pairs = zip(arrays_so_far, tensors, strict=True)
        return position + 1, [array.write(index, tensor) for array, tensor in pairs], carried_values

    @called_unconverted
    def continues(position: int, *_: Any) -> Any:
        return position < length

    _, arrays, state = while_loop(continues, body, (convert_to_tensor(0), arrays, state))
    stacked_results = [array.stack() for array in arrays]
    for result in stacked_results:
        if elem_tensors[0].type.shape and result.type.shape is not None:
            result.set_shape((elem_tensors[0].type.shape[0], *result.type.shape[1:]))
    return pack(declaration.template, stacked_results), state


def _check_given_shapes(types: list[TensorType], declaration: _ResultDeclaration) -> None:
    """Raise ValueError for a result whose shape is incompatible with the one that the caller has given."""
    for actual_type, declared_type, is_given in zip(types, declaration.types, declaration.has_given_shape, strict=True):
        if is_given and not are_shapes_compatible(actual_type.shape, declared_type.shape):
            actual_shape, declared_shape = TensorShape(actual_type.shape), TensorShape(declared_type.shape)
            raise ValueError(f"Inconsistent shapes: saw {actual_shape} but expected {declared_shape} ")


def _is_covered_by(types: list[TensorType], assumed_types: list[TensorType]) -> bool:
    """Return whether the results have the assumed dtypes, and shapes no less precise than assumed."""
    return len(types) == len(assumed_types) and all(
        type_.dtype is assumed.dtype and join_shapes(assumed.shape, type_.shape) == assumed.shape
        for type_, assumed in zip(types, assumed_types, strict=True)
    )


def _row_shape(shape: Shape) -> Shape:
    """Return the shape of a row of a tensor."""
    return None if shape is None else shape[1:]


def _iterated_tensors(elems: TensorLike) -> tuple[list[Tensor], Template | None]:
    """Return the tensors to iterate over, and their structure; a list of numbers is one tensor."""
    leaves, template = flatten(elems, is_composite)
    if any(map(is_composite, leaves)):
        raise TypeError("elems has a composite tensor, which map_fn alone takes")
    if template is not None and leaves and all(isinstance(leaf, (bool, int, float, str)) for leaf in leaves):
        leaves, template = [elems], None
    if not leaves:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems!r}, which does not "
            "contain any Tensors."
        )
    tensors = [convert_to_tensor(leaf) for leaf in leaves]
    for tensor in tensors:
        if tensor.type.shape == ():
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    return tensors, template


def _check_lengths(elem_tensors: list[Tensor]) -> None:
    """Raise ValueError if the known lengths differ."""
    lengths = [tensor.type.shape[0] for tensor in elem_tensors if tensor.type.shape]
    known_lengths = [length for length in lengths if length is not None]
    for length in known_lengths[1:]:
        if length != known_lengths[0]:
            raise ValueError(f"Dimensions {known_lengths[0]} and {length} are not compatible")


def _check_has_rows(elem_tensors: list[Tensor], position: int) -> None:
    """Raise an error if eager elements have no row at `position` that could be the initial state."""
    if current_region() is None and not int(leading_dimension(elem_tensors[0])):
        TensorArray(elem_tensors[0].dtype, 0).read(position)  # raises the error of a read out of range


def _declare_result(elems: Any, elem_tensors: list[Tensor], signature: Any) -> _ResultDeclaration:
    """Return the declaration of the results of map_fn: by its signature, or by the structure and dtypes of `elems`.

    A shape that the signature does not give is assumed to be that of a row of the first tensor.
    """
    first_shape = elem_tensors[0].type.shape
    if signature is None:
        row_types = [TensorType(tensor.dtype, _row_shape(first_shape)) for tensor in elem_tensors]
        return _ResultDeclaration(elems, row_types, [False] * len(elem_tensors))
    types, has_given_shape = [], []
    for leaf in flat_leaves(signature):
        is_spec = isinstance(leaf, TensorSpec)
        dtype: DType = leaf.dtype if is_spec else as_dtype(leaf)
        types.append(TensorType(dtype, leaf.shape.dims_tuple if is_spec else _row_shape(first_shape)))
        has_given_shape.append(is_spec)
    return _ResultDeclaration(signature, types, has_given_shape)


def _declare_like(like: Any, are_shapes_given: bool = False) -> _ResultDeclaration:
    """Return the declaration of results like these tensors: their shapes are assumed unless `are_shapes_given`."""
    leaves = flat_leaves(like)
    types = [TensorType(leaf.dtype, leaf.type.shape) for leaf in leaves]
    return _ResultDeclaration(like, types, [are_shapes_given] * len(leaves))


def _as_result_and_state(result: Any, state: Any) -> tuple[Any, Any]:
    """Return the result of a scan's function twice: as an element of the stacked results, and as the next state.

    Raises ValueError or TypeError if it has another structure than the last state.
    """
    check_same_structure(state, result)
    structure = map_structure(convert_to_tensor, result)
    return structure, structure


def _scan_from_first(function: Any, elem_tensors: list[Tensor], template: Template | None, reverse: bool) -> Any:
    """Return the states of a scan that starts with the first row: this row, and the states for the other rows."""
    _check_has_rows(elem_tensors, 0)
    first_row = [get_item(tensor, -1 if reverse else 0) for tensor in elem_tensors]
    other_rows = [get_item(tensor, slice(None, -1) if reverse else slice(1, None)) for tensor in elem_tensors]

    def step(index: object, state: Any) -> tuple[Any, Any]:
        new_state = function(state, pack(template, [get_item(tensor, index) for tensor in other_rows]))
        return _as_result_and_state(new_state, state)

    start = pack(template, first_row)
    stacked_results, _ = _collect(step, other_rows, start, _declare_like(start, are_shapes_given=True), reverse)
    other_results, result_template = flatten(stacked_results)
    first_results = [get_item(leaf, None) for leaf in flat_leaves(start)]  # with a first dimension of 1
    joined_results = [
        concat([later, first] if reverse else [first, later], 0)
        for first, later in zip(first_results, other_results, strict=True)
    ]
    return pack(result_template, joined_results)
