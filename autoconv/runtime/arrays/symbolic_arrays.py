"""Symbolic NumPy arrays: memory that is updated in place and aliased by views.

A `SymbolicArray` stands for a value of an ArrayType. A read of its elements gives a tensor of their current values; a
computation gives a new array. Views alias their base: a store through one is visible through all.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.python_operators import BINARY, UNARY
from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import At, Mask, Spec, align, has_only_kinds, indexed_rank, is_basic
from autoconv.ops.numpy.shapes import UPDATE
from autoconv.ops.program_errors import as_program_error
from autoconv.ops.rules import is_known_to_broadcast
from autoconv.runtime.arrays import array_checks
from autoconv.runtime.arrays.assigned_values import (
    cast_to,
    convert_assigned,
    convert_elements_at,
    convert_plain_sequence,
    is_stored_item_by_item,
    refuse_warned_conversion,
)
from autoconv.runtime.arrays.complex_parts import record_complex_use
from autoconv.runtime.arrays.indices import check_static_entries, has_zero_dimensional_array
from autoconv.runtime.arrays.memory_order import kept_order, sample_of_indexed_array
from autoconv.runtime.arrays.read_only import is_read_only, refuse_write_beside_overlapping_views
from autoconv.runtime.arrays.views import TRANSPOSED, ViewSource
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.recording.differentiated_values import is_differentiated
from autoconv.runtime.recording.regions import Region, current_contract, current_region
from autoconv.runtime.support.attributes import has_method
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_methods import TensorMethods, refuse_dtype_comparison_by_numpy

_OP_OF_IN_PLACE = {binary.in_place: binary.tensor_op for binary in BINARY}
_REFLECTED_METHOD_OF_OP = {binary.tensor_op: binary.reflected for binary in BINARY}


class SymbolicArray(TensorMethods):
    """An array of the graph being recorded; `_source` is the origin of a view, None if it is unknown."""

    __slots__ = ("__weakref__", "_source", "value_in_graph")
    __array_priority__ = 200.0
    __hash__ = None  # type: ignore[assignment]
    weak = False

    def __init__(self, value: Value, source: ViewSource | None = None) -> None:
        self.value_in_graph = value
        self._source = source

    # ---- protocols of dispatch; `autoconv/runtime/protocols.py` states what each method returns

    def __autoconv_graph_value__(self) -> Value:
        return self.value_in_graph

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        return as_array

    def __autoconv_tensor__(self) -> SymbolicTensor:
        return self.load()

    def __autoconv_binary__(self, op: str, operands: Sequence[Any]) -> Any:
        """Apply a binary operator; the result is a new array."""
        elements = list(map(load_elements, operands))
        array_checks.check_broadcast(op, elements)
        result = binary_dispatch.elementwise(op, *elements)
        if result is not NotImplemented:
            return wrap_new_arrays(result, ordered_like=() if op == "matmul" else operands)
        reflected = _REFLECTED_METHOD_OF_OP.get(op)
        if reflected is not None and not any(has_method(x, reflected) for x in _foreign_operands(elements)):
            _refuse_foreign_operands(elements)  # no class implements the operator, so NumPy converts the operands
        return NotImplemented

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        is_elementwise = method == "__call__" and function.signature is None
        result = getattr(function, method)(*map(load_elements, inputs), **kwargs)
        return wrap_new_arrays(result, ordered_like=inputs if is_elementwise else ())

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        keywords = {name: load_elements(value) for name, value in kwargs.items()}
        return wrap_new_arrays(function(*map(load_elements, args), **keywords))

    def __autoconv_box__(self) -> SymbolicObject:
        return SymbolicObject(record_array_op("array_object", [self.value_in_graph]).results[0])

    # ---- NumPy's attributes and conversions

    @property
    def type(self) -> ArrayType:
        return self.value_in_graph.type  # type: ignore[return-value]

    @property
    def known_shape(self) -> tuple[int | None, ...]:
        """The static shape, with None for symbolic sizes; size symbols are introduced when the graph is compiled."""
        return self.type.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        refuse_dtype_comparison_by_numpy(sys._getframe(1))  # NumPy's own code would compare it with a constant
        return self.type.dtype.numpy

    @property
    def ndim(self) -> int:
        return self.type.rank

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.size_of(axis) for axis in range(self.ndim))

    @property
    def size(self) -> Any:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.type.dtype.size

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    def size_of(self, axis: int) -> Any:
        """Return the size of a dimension: an int if static, else a symbolic number."""
        size = self.known_shape[axis]
        if size is not None:
            return size
        return SymbolicTensor(record_array_op("array_size", [self.value_in_graph], axis=axis).results[0])

    def __len__(self) -> int:
        if not self.ndim:
            raise as_program_error(TypeError("len() of unsized object"))
        size = self.known_shape[0]
        if size is None:
            current_contract().specialise(self)  # restarts the trace with known sizes, where the contract can
            raise StagingError("the length of an array is known only at run time", current_place())
        return size

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows; a `for` statement over the array is staged and does not call this."""
        if not self.ndim:
            raise as_program_error(TypeError("iteration over a 0-d array"))
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        _refuse("tested for truth by Python itself")

    def __index__(self) -> int:
        _refuse("used as an index by Python itself")

    __int__ = __float__ = __complex__ = __index__  # type: ignore[assignment]

    def __contains__(self, item: object) -> bool:
        _refuse("searched by Python itself")

    def __str__(self) -> str:
        _refuse("converted to text")

    def __format__(self, spec: str) -> str:
        _refuse("converted to text")

    def __repr__(self) -> str:
        return f"<autoconv array {self.value_in_graph.full_name!r}>"

    # ---- elements

    def load(self) -> SymbolicTensor:
        """Read the elements as a tensor: for a transposed view, a `transpose`, which products read in place."""
        if self._source is not None and self._source.spec == TRANSPOSED:
            return dispatch.apply("transpose", self._source.base.load())  # type: ignore[no-any-return]
        return SymbolicTensor(record_array_op("array_load", [self.value_in_graph]).results[0])

    def store(self, value: Any) -> None:
        """`self[...] = value`."""
        self._check_writeable("assignment destination")
        array_checks.check_depth(value, self.ndim)
        if is_stored_item_by_item(value, self.type):
            for position, item in enumerate(value):
                self[position] = item
            return
        tensor = convert_assigned(value, self.type)
        refuse_warned_conversion(tensor, self.type.dtype)
        shape, target_shape = tensor.type.shape, self.known_shape
        if shape is not None and len(shape) > len(target_shape):
            while len(shape) > len(target_shape) and shape[0] == 1:
                shape = shape[1:]  # NumPy accepts more dimensions if these have size 1
            tensor = dispatch.apply("reshape", tensor, shape=shape)
        array_checks.check_assigned_shape(shape, target_shape)
        record_array_op("array_store", [self.value_in_graph, elements_value(tensor)])

    def __getitem__(self, index: object) -> Any:
        spec, operands = self._parse_index(index)
        if not is_basic(spec):
            result = binary_dispatch.item_at(self.load(), _load_indices(index), spec, operands)
            return wrap_new_arrays(result, ordered_like=(sample_of_indexed_array(self, spec, operands),))
        view = self._basic_view(spec, operands)
        if len(spec) == self.ndim and has_only_kinds(spec, At):  # a single element
            return view.load()
        return wrap_new_arrays(view.load()) if has_zero_dimensional_array(index) else view  # a copy, or a view

    def __setitem__(self, index: object, value: object) -> None:
        self._check_writeable("assignment destination")
        spec, operands = self._parse_index(index)
        if type(value) is SymbolicArray and value._source and self._is_source_of(value._source, spec, operands):
            return  # x[i] += y has updated the view already
        if is_basic(spec):
            view = self._basic_view(spec, operands)
            is_element = len(spec) == self.ndim and has_only_kinds(spec, At)
            if is_element and (self.ndim or index == ()):
                array_checks.check_scalar(value, self.dtype)
            view.store(value)
            return
        tensor = convert_elements_at(value, self.type, spec, operands)
        refuse_warned_conversion(tensor, self.type.dtype)
        if spec == (Mask(),) and tensor.type.shape == () and array_checks.is_static_mask(operands[0], self.known_shape):
            self.store(dispatch.apply("select", operands[0], cast_to(tensor, self.type.dtype), self.load()))
            return  # an elementwise select fuses with other computations
        values = [elements_value(operand) for operand in (tensor, *operands)]
        record_array_op("array_set", [self.value_in_graph, *values], spec=spec)

    def _check_writeable(self, subject: str) -> None:
        if self.type.read_only:
            refuse_write_beside_overlapping_views()
            raise as_program_error(ValueError(f"{subject} is read-only"))

    def _parse_index(self, index: object) -> tuple[Spec, list[Any]]:
        """Return the spec of an index and its operands; raise NumPy's error for more entries than dimensions."""
        # NumPy checks the rank for a slice before it evaluates the bounds.
        array_checks.check_index_rank(int(isinstance(index, slice)), self.ndim)
        spec, operands = binary_dispatch.parse_program_index(_load_indices(index))
        operands = [convert_to_tensor(item) if isinstance(item, (list, tuple)) else item for item in operands]
        aligned_spec = align(spec, self.ndim, operands, lambda mask: mask.ndim or 0)
        array_checks.check_index_rank(indexed_rank(aligned_spec), self.ndim)
        return spec, operands

    def _basic_view(self, spec: Spec, operands: Sequence[Any]) -> SymbolicArray:
        """Return the view that an index of positions, slices and new axes selects."""
        check_static_entries(spec, self.known_shape)
        values = [elements_value(operand) for operand in operands]
        node = record_array_op("array_view", [self.value_in_graph, *values], spec=spec)
        return SymbolicArray(node.results[0], ViewSource(self, spec, tuple(values)))

    def _is_source_of(self, source: ViewSource, spec: Spec, operands: Sequence[Any]) -> bool:
        """Return whether the source of a view is this array with this index."""
        if source.base is not self or source.spec != spec or len(source.operands) != len(operands):
            return False
        return all(map(operator.is_, source.operands, map(elements_value, operands)))

    # ---- operators

    def update_in_place(self, name: str, other: object) -> SymbolicArray:
        """Apply an in-place operator such as `self += other`, with NumPy's "same_kind" cast of the result."""
        op, other = _OP_OF_IN_PLACE[name], convert_plain_sequence(load_elements(other))
        self._check_writeable("output array")
        # The checks are in NumPy's order, which decides between several errors.
        array_checks.check_broadcast(op, (self.load(), other), self.known_shape, self.dtype)
        operand = as_tensor(other)
        if op != "matmul" and operand is not None and not is_known_to_broadcast(self.known_shape, operand.type.shape):
            array_checks.check_types(op, (self.load(), other), self.dtype)
            # When the graph runs, the node raises NumPy's error for sizes that do not broadcast.
            record_array_op("numpy_shapes", [self.value_in_graph, elements_value(operand)], rule=UPDATE)
        result = binary_dispatch.binary(op, self.load(), other)
        if result is NotImplemented:
            _refuse_foreign_operands((other,))
        if not np.can_cast(result.type.dtype.numpy, self.dtype, "same_kind"):
            array_checks.check_types(op, (self.load(), other), self.dtype)  # raises NumPy's error for the cast
        array_checks.check_output_shape(result.type.shape, self.known_shape)
        self.store(cast_to(result, self.type.dtype))
        return self

    def __pos__(self) -> Any:
        return wrap_new_arrays(+self.load(), ordered_like=(self,))

    def __round__(self, digits: int | None = None) -> Any:
        raise as_program_error(TypeError("type numpy.ndarray doesn't define __round__ method"))

    def __getattr__(self, name: str) -> Any:
        return _get_member(self, name)


def register_members(get_member: Callable[[SymbolicArray, str], Any]) -> None:
    """Register `get_member(array, name)`, which returns attributes and methods of arrays."""
    global _get_member
    _get_member = get_member


_get_member: Callable[[SymbolicArray, str], Any] = lambda array, name: NotImplemented

for _unary in UNARY:
    _apply = lambda self, _op=_unary.tensor_op: wrap_new_arrays(dispatch.apply(_op, self.load()), ordered_like=(self,))
    setattr(SymbolicArray, _unary.method, _apply)
for _name in _OP_OF_IN_PLACE:
    setattr(SymbolicArray, f"__{_name}__", lambda self, other, _name=_name: self.update_in_place(_name, other))


def as_array(value: object) -> Any:
    """Wrap a graph value for traced code; return any other value, the result of a graph that ran eagerly, unchanged."""
    return SymbolicArray(value) if isinstance(value, Value) else value


def is_array(value: object) -> bool:
    """Return whether a value is an array of the graph being recorded."""
    return type(value) is SymbolicArray


def record_array_op(op: str, inputs: Sequence[Value], **attributes: Any) -> Any:
    """Record a node of an op on arrays, and return the node."""
    region = current_region()
    if region is None:
        raise StagingError("an array of a graph is used after the graph was recorded", current_place())
    if op in ("array_store", "array_set") and inputs[0].type.dtype.is_complex:  # type: ignore[union-attr]
        record_complex_use("written")
    return region.record(op, list(inputs), attributes)


def elements_value(value: object) -> Value:
    """Return the graph value of an operand; the elements of an array are read."""
    region = current_region()
    assert isinstance(region, Region)
    return region.lift(dispatch.graph_value(region, load_elements(value)))


def load_elements(value: object) -> Any:
    """Return the elements of an array as a tensor; other values unchanged."""
    return value.load() if type(value) is SymbolicArray else value


def _load_indices(index: object) -> Any:
    return tuple(map(load_elements, index)) if type(index) is tuple else load_elements(index)


def _refuse(use: str) -> NoReturn:
    raise StagingError(f"an array known only at run time is {use}", current_place())


def _foreign_operands(operands: Sequence[Any]) -> list[Any]:
    """Return the operands that are no tensors and are not read as tensors."""
    return [operand for operand in operands if as_tensor(operand) is None]


def _refuse_foreign_operands(operands: Sequence[Any]) -> NoReturn:
    class_names = ", ".join(type(operand).__name__ for operand in _foreign_operands(operands))
    # Strings are read as tensors: without foreign operands, one of them is the reason.
    _refuse(f"computed with {class_names or 'text'}, which NumPy converts to an array")


def wrap_new_arrays(value: Any, wrap_scalars: bool = False, ordered_like: Sequence[Any] = ()) -> Any:
    """Wrap computed tensors with dimensions as new arrays, inside tuples and lists too.

    Without `wrap_scalars`, results without dimensions stay tensors, which stand for NumPy's scalars. Values that are
    being differentiated stay tensors. The memory order is that of an elementwise result of the operands `ordered_like`;
    C order if there are none.
    """
    if type(value) in (tuple, list):
        return type(value)(wrap_new_arrays(item, wrap_scalars, ordered_like) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):  # such as the factors of a decomposition
        return value._make(wrap_new_arrays(item, wrap_scalars, ordered_like) for item in value)
    is_strong_tensor = isinstance(value, Tensor) and not value.type.weak
    if not is_strong_tensor or (value.type.shape == () and not wrap_scalars):
        return value
    region = current_region()
    if region is None or not region.trace.memory or is_differentiated(elements_value(value), region):
        return value
    if value.type.shape is None:
        raise StagingError("how many dimensions an array has is known only at run time", current_place())
    attributes = {"read_only": True} if is_read_only(elements_value(value), region.trace) else {}
    order = kept_order(ordered_like)
    if order is None or len(order) != len(value.type.shape):
        return SymbolicArray(record_array_op("array_of", [elements_value(value)], **attributes).results[0])
    value_in_memory_order = elements_value(dispatch.apply("transpose", value, perm=order))
    array = record_array_op("array_of", [value_in_memory_order], **attributes).results[0]
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return SymbolicArray(record_array_op("array_transpose", [array], perm=inverse).results[0])
