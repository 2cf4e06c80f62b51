"""Symbolic tensors: values of a graph being recorded."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.annotations import DTypeLike, ShapeLike
from autoconv.runtime.recording.differentiated_values import is_differentiated
from autoconv.runtime.recording.program_reads import reads_as_array, refuse_tensor_attribute
from autoconv.runtime.recording.regions import current_contract, current_region, is_in_scope
from autoconv.runtime.recording.value_names import definition_text, scope_message
from autoconv.runtime.support.remedies import COMPILE_ADVICE
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.operation import EVALUATE, TensorOperation
from autoconv.runtime.tensors.tensor import (
    NUMPY_FUNCTION_BY_ATTRIBUTE,
    VARIABLE_METHOD_PREFIXES,
    Tensor,
    array_attribute,
    standalone_dtype,
    variable_method_or_raise,
)
from autoconv.runtime.tensors.tensor_methods import refuse_dtype_comparison_by_numpy, refuse_iteration


class SymbolicTensor(Tensor):
    """A tensor of a graph being recorded: its type and name are static, its value is known only at run time."""

    __slots__ = ("_value",)

    def __init__(self, value: Value) -> None:
        self._value = value

    @property
    def value_in_graph(self) -> Value:
        return self._value

    @property
    def type(self) -> TensorType:
        assert isinstance(self._value.type, TensorType)
        return self._value.type

    @property
    def dtype(self) -> DType:
        """The dtype; for a Python number, the dtype of the result if the function returned it.

        Code that treats the tensor as a NumPy array gets NumPy's dtype.
        """
        type_ = self.type
        if type_.weak:
            refuse_tensor_attribute(self.type, "dtype", sys._getframe(1))
            return standalone_dtype(type_)
        refuse_dtype_comparison_by_numpy(sys._getframe(1))
        return type_.dtype.numpy if reads_as_array(sys._getframe(1)) else type_.dtype  # type: ignore[return-value]

    @property
    def shape(self) -> TensorShape:
        """The shape. Code that treats the tensor as a NumPy array gets a tuple, with symbolic unknown sizes."""
        dims = self.type.shape
        if self.weak:
            refuse_tensor_attribute(self.type, "shape", sys._getframe(1))
        elif dims is not None and reads_as_array(sys._getframe(1)):
            sizes = enumerate(dims)
            return tuple(size if isinstance(size, int) else size_of(self, axis) for axis, size in sizes)  # type: ignore[return-value]
        return TensorShape.of(dims)

    @property
    def ndim(self) -> int | None:
        if self.weak:
            refuse_tensor_attribute(self.type, "ndim", sys._getframe(1))
        return self.type.rank

    @property
    def name(self) -> str:
        return self._value.full_name

    @property
    def graph(self) -> Any:
        """The graph; in a block `with graph.as_default():`, the object `graph` of that block."""
        return self._value.graph.program_graph or self._value.graph

    def __hash__(self) -> int:
        """Hash by identity in the graph of a block, where tensors are keys; raise TypeError in other graphs."""
        return hash(self._value) if self._value.graph.program_graph is not None else super().__hash__()

    def __eq__(self, other: object) -> Any:
        """Compare elements; in the graph of a block, return whether both are the same tensor."""
        if self._value.graph.program_graph is not None:
            return isinstance(other, SymbolicTensor) and self._value is other._value
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return not self == other if self._value.graph.program_graph is not None else super().__ne__(other)

    @property
    def op(self) -> TensorOperation:
        return TensorOperation(self._value, SymbolicTensor)

    @property
    def device(self) -> str:
        return self._value.node.device if self._value.node is not None else ""

    def set_shape(self, shape: ShapeLike) -> None:
        """Refine the static shape; raises ValueError when it contradicts the known one."""
        new_shape = as_shape(shape)
        if not self.shape.is_compatible_with(new_shape):
            raise ValueError(f"the shape {self.shape} is not compatible with {TensorShape(new_shape)}")
        own_shape = self.type.shape
        if own_shape is None or new_shape is None:
            merged_shape = new_shape if own_shape is None else own_shape
        else:
            size_pairs = zip(own_shape, new_shape, strict=True)
            merged_shape = tuple(new_size if own_size is None else own_size for own_size, new_size in size_pairs)
        self._value.type = self.type.with_shape(merged_shape)

    def _update_in_place(self, other: object) -> Any:
        """Abandon the trace where `x += y` would change an array in place; else return NotImplemented.

        Python then binds the name to `x + y`.
        """
        region = current_region()
        is_number = self.weak or (region is not None and region.trace.memory and self.type.shape == ())
        may_be_array = region is not None and region.trace.uses_arrays and not is_number
        if region is not None and may_be_array and not is_differentiated(self._value, region):
            region.contract.require_original(self, "an array is changed in place")
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _update_in_place
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __imatmul__ = _update_in_place

    def __getitem__(self, index: object) -> Any:
        region = current_region()
        if self.weak and current_contract().python_numbers:
            class_name = type(self.type.dtype.numpy.type(1).item()).__name__
            raise mark_program_error(TypeError(f"{class_name!r} object is not subscriptable"))
        result = super().__getitem__(index)
        has_ellipsis = index is Ellipsis or (type(index) is tuple and any(part is Ellipsis for part in index))
        if has_ellipsis and result.type.shape == () and region is not None and region.trace.uses_arrays:
            return region.contract.as_zero_dimensional_array(result)  # NumPy returns a view for `...`, not a scalar
        return result

    def _refuse_text(self) -> None:
        """Abandon the trace under `compile`: the text of a number or array depends on its value, which is unknown."""
        current_contract().require_original(self, "a value is converted to text")

    def _check_scope(self) -> None:
        """Raise InaccessibleTensorError, with the line that made the tensor, if its trace is over."""
        if not is_in_scope(self._value):
            raise InaccessibleTensorError(scope_message(self._value))

    def _refuse(self, operation: str) -> NoReturn:
        """Raise the error for an operation of Python that a tensor of a graph does not have."""
        self._check_scope()
        raise OperatorNotAllowedInGraphError(
            f"{operation} is not allowed. You can attempt the following resolutions to the problem: run eagerly, "
            "decorate this function with @autoconv.function or @autoconv.compile so that it is converted, or use "
            "graph ops such as autoconv.cond and autoconv.while_loop. If the function is decorated already, its "
            "source code may not be reachable."
        )

    def __bool__(self) -> bool:
        self._check_scope()
        current_contract().concretise(self, "a bool")
        self._refuse("Using a symbolic `autoconv.Tensor` as a Python `bool`")

    def __iter__(self) -> Iterator[Tensor]:
        """Unpack a tensor of static length into its rows, in converted code; `for` loops are staged without it."""
        self._check_scope()
        region = current_region()
        shape = self.type.shape
        if self.weak and current_contract().python_numbers:
            refuse_iteration(self.type.dtype.numpy.type(1).item(), sys._getframe(1))
        is_converted = region is not None and region.trace.converts
        if is_converted and shape and shape[0] is None:
            raise OperatorNotAllowedInGraphError(
                f"Iterating over a symbolic `autoconv.Tensor` is not allowed here: the length of {self.name} is known "
                "only when the graph runs. Loop over it with a for statement in converted code, take its parts by "
                "index (x[0], x[1:]), or give it a known length (autoconv.ensure_shape, or an input_signature)."
            )
        if not is_converted or not shape or not isinstance(shape[0], int):
            self._refuse("Iterating over a symbolic `autoconv.Tensor`")
        return (self[row] for row in range(shape[0]))

    def __contains__(self, item: object) -> bool:
        self._refuse("Using `in` on a symbolic `autoconv.Tensor`")

    def __index__(self) -> int:
        return self._concretise("an index")

    def __int__(self) -> int:
        return self._concretise("an int")

    def __float__(self) -> float:
        return self._concretise("a float")

    def __complex__(self) -> complex:
        return self._concretise("a complex number")

    def _concretise(self, needed_number: str) -> Any:
        """Let the contract abandon the trace because Python needs a number; raise if the contract keeps the trace."""
        self._check_scope()
        current_contract().concretise(self, needed_number)
        raise OperatorNotAllowedInGraphError(
            f"Python needs {needed_number} here, and the symbolic tensor {self.name} has a value only at run time. "
            "Use ops on tensors instead: autoconv.gather for an index, autoconv.cast for int() and float(), "
            f"autoconv.py_function for what only Python can do. Or: {COMPILE_ADVICE}."
        )

    def __len__(self) -> int:
        shape = self.type.shape
        region = current_region()
        if shape and isinstance(shape[0], int) and region is not None and region.trace.converts:
            return shape[0]
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        self._check_scope()
        raise NotImplementedError(
            f"Cannot convert a symbolic autoconv.Tensor ({self.name}) to a numpy array. This error may indicate "
            "that you're trying to pass a Tensor to a NumPy call, which is not supported. Use the equivalent function "
            "of autoconv (autoconv.sin for numpy.sin), or autoconv.numpy_function to run NumPy code when the graph "
            f"runs. Or: {COMPILE_ADVICE}."
        )

    def __getattr__(self, name: str) -> Any:
        result = NotImplemented if name.startswith("__") else current_contract().attribute(self, name)
        if result is not NotImplemented:
            return result
        if name == "eval" and self._value.graph.program_graph is not None:
            return functools.partial(EVALUATE, self)
        if name.startswith(VARIABLE_METHOD_PREFIXES):
            return variable_method_or_raise(self, name)
        if name in NUMPY_FUNCTION_BY_ATTRIBUTE and not self.weak:
            return NUMPY_FUNCTION_BY_ATTRIBUTE[name](self)
        result = array_attribute(self, name)
        if result is not NotImplemented:
            return result
        remedy = ""
        if name == "numpy":
            remedy = ": its value is known only at run time; compute with the tensor itself"
        elif hasattr(np.ndarray, name) and not name.startswith("__"):
            has_function = hasattr(np, name) and name not in MUTATING_METHODS
            remedy = f": {f'use np.{name}(…)' if has_function else 'only arrays of NumPy have it'}; {COMPILE_ADVICE}"
        if name == "numpy" and not is_in_scope(self._value):
            remedy += definition_text(self._value).rstrip()
        raise AttributeError(f"'SymbolicTensor' object has no attribute '{name}'{remedy}", name=name, obj=self)

    def _shape_text(self) -> str:
        return "" if self.type.shape is None else f" shape={self.shape}"

    def __str__(self) -> str:
        self._refuse_text()
        shape = self._shape_text().strip()
        return f'Tensor("{self.name}", {shape + ", " if shape else ""}dtype={self.dtype.name})'

    def __repr__(self) -> str:
        self._refuse_text()
        shape = self._shape_text() or " shape=<unknown>"
        return f"<autoconv.Tensor '{self.name}'{shape} dtype={self.dtype.name}>"


# In-place methods of arrays whose NumPy function returns a new array.
MUTATING_METHODS = frozenset({"partition", "put", "resize", "sort"})


def set_size_function(measure: Callable[[Any, int], Any]) -> None:
    """Register `measure(tensor, axis)`, which returns a symbolic size."""
    global size_of
    size_of = measure


size_of: Callable[[Any, int], Any]
