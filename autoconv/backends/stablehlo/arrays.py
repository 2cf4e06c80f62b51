"""Write operations in StableHLO's text: regions, constants, elementwise operations, and shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from autoconv.backends.error_causes import ErrorClass
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term, padded_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.stablehlo.types import literal, tensor_type
from autoconv.graph.dtypes import DType, bool_, complex64, complex128, int32, int64
from autoconv.graph.graph import Node

_COMPARISONS = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}
# Operations that StableHLO writes in a short form: `%3 = stablehlo.add %1, %2 : tensor<4xf32>`.
_SHORT_OPS = frozenset({
    "abs", "add", "and", "atan2", "cbrt", "ceil", "convert", "cosine", "divide", "exponential",
    "exponential_minus_one", "floor", "log", "log_plus_one", "maximum", "minimum", "multiply", "negate", "not", "or",
    "power", "remainder", "reshape", "rsqrt", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign",
    "sine", "sqrt", "subtract", "tanh", "xor",
})  # fmt: skip
# {op of a graph: StableHLO's operation}, of functions that StableHLO has for complex numbers.
_COMPLEX_FUNCTIONS = {
    "abs": "abs", "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one",
    "sin": "sine", "cos": "cosine", "tan": "tan", "tanh": "tanh", "sqrt": "sqrt", "rsqrt": "rsqrt", "sign": "sign",
}  # fmt: skip


class ArrayWriter(Control):
    """Write the operations of a function's body. A term is an SSA value; a region may use values from outside it."""

    runtime = "StableHLO"
    has_open_sizes = False
    native_functions: ClassVar[Mapping[str, str]] = {
        "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one", "sin": "sine",
        "cos": "cosine", "tan": "tan", "tanh": "tanh", "cbrt": "cbrt",
    }  # fmt: skip

    def __init__(self, capacity: int = 64) -> None:
        self.capacity = capacity
        self.lines: list[str] = []
        self.indent = "    "
        self._name_count = 0
        # Constants by their text: those of the function, then those of each region that is being written.
        self._constants: list[dict[str, Term]] = [{}]
        self.locations: list[str] = []
        self.error_classes: list[ErrorClass] = []
        self.node_location = ""
        self.error_word: Term | None = None

    # ---- text

    def new_name(self) -> str:
        self._name_count += 1
        return f"%{self._name_count}"

    def new_term(self, dtype: DType, shape: Sequence[Any]) -> Term:
        return Term(self, self.new_name(), dtype, tuple(shape))

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def emit(
        self, op: str, operands: Sequence[Term], dtype: DType, shape: Sequence[Any], properties: str = "",
        regions: Sequence[list[str]] = (),
    ) -> Term:
        """Write an operation with one result, see `emit_all`; return the result."""
        (result,) = self.emit_all(op, operands, [(dtype, tuple(shape))], properties, regions)
        return result

    def emit_all(
        self, op: str, operands: Sequence[Term], results: Sequence[tuple[DType, tuple[Any, ...]]],
        properties: str = "", regions: Sequence[list[str]] = (),
    ) -> list[Term]:
        """Write an operation with results of these dtypes and shapes; return the results.

        `properties` is the text of its properties, and `regions` has the lines of each of its regions. Common
        operations have StableHLO's short form, which is half as long as MLIR's generic form, that of the others.
        """
        name = self.new_name()
        count = len(results)
        operand_names = ", ".join(x.name for x in operands)
        assignment = f"{name}:{count} = " if count > 1 else f"{name} = " if count else ""
        property_text = f" <{{{properties}}}>" if properties else ""
        types = ", ".join(tensor_type(x.dtype, x.shape) for x in operands)
        result_types = [tensor_type(*result) for result in results]
        result_text = result_types[0] if count == 1 else f"({', '.join(result_types)})"
        if op in _SHORT_OPS and not properties:
            has_one_type = {tensor_type(x.dtype, x.shape) for x in operands} == {result_text}
            type_text = result_text if has_one_type else f"({types}) -> {result_text}"
            self.line(f"{name} = stablehlo.{op} {operand_names} : {type_text}")
            return [Term(self, name, *results[0])]
        head = f'{assignment}"stablehlo.{op}"({operand_names}){property_text}'
        if not regions:
            self.line(f"{head} : ({types}) -> {result_text}")
        else:
            self.line(f"{head} ({{")
            for i, region in enumerate(regions):
                if i:
                    self.line("}, {")
                self.lines += region
            self.line(f"}}) : ({types}) -> {result_text}")
        names = [f"{name}#{i}" for i in range(count)] if count > 1 else [name]
        return [Term(self, n, dtype, shape) for n, (dtype, shape) in zip(names, results, strict=False)]

    @contextmanager
    def region(self, parameters: Sequence[Term] = ()) -> Iterator[list[str]]:
        """Collect, in the yielded list, the lines of a region with these parameters; the caller writes its end."""
        outer_lines, outer_indent = self.lines, self.indent
        lines: list[str] = []
        self.lines, self.indent = lines, outer_indent + "  "
        self._constants.append({})
        if parameters:
            parameter_text = ", ".join(f"{p.name}: {tensor_type(p.dtype, p.shape)}" for p in parameters)
            lines.append(f"{outer_indent}^bb0({parameter_text}):")
        try:
            yield lines
        finally:
            self.lines, self.indent = outer_lines, outer_indent
            self._constants.pop()

    def end_region(self, values: Sequence[Term]) -> None:
        """End a region with its results."""
        names = ", ".join(x.name for x in values)
        types = ", ".join(tensor_type(x.dtype, x.shape) for x in values)
        self.line(f'"stablehlo.return"({names}) : ({types}) -> ()')

    # ---- elements

    def array(self, array: np.ndarray, dtype: DType) -> Term:
        """Return a constant array; a constant that a region or one around it has already is not written again."""
        text = literal(array, dtype)
        for constants in self._constants:
            if text in constants:
                return constants[text]
        result = self.new_term(dtype, array.shape)
        self.line(f"{result.name} = stablehlo.constant {text}")
        self._constants[-1][text] = result
        return result

    def integers(self, numbers: Sequence[int], dtype: DType = int64) -> Term:
        return self.array(np.array(numbers, dtype.numpy).reshape(len(numbers)), dtype)

    def emit_unary(self, name: str, x: Term) -> Term:
        dtype = x.dtype.real_dtype if x.dtype.is_complex and name in ("abs", "real", "imag") else x.dtype
        if name in ("real", "imag") and not x.dtype.is_complex:
            return x if name == "real" else self.zeros_like(x)
        return self.emit(name, [x], dtype, x.shape)

    def emit_binary(self, name: str, x: Term, y: Term) -> Term:
        dtype = x.dtype
        if name == "complex":
            dtype = complex64 if x.dtype.size == 4 else complex128
        return self.emit(name, [x, y], dtype, x.shape)

    def emit_comparison(self, test: str, x: Term, y: Term) -> Term:
        result, type_ = self.new_term(bool_, x.shape), tensor_type(x.dtype, x.shape)
        types = f"({type_}, {type_}) -> {tensor_type(bool_, x.shape)}"
        self.line(f"{result.name} = stablehlo.compare {_COMPARISONS[test]}, {x.name}, {y.name} : {types}")
        return result

    def emit_select(self, condition: Term, x: Term, y: Term) -> Term:
        result = self.new_term(x.dtype, x.shape)
        types = f"{tensor_type(condition.dtype, condition.shape)}, {tensor_type(x.dtype, x.shape)}"
        self.line(f"{result.name} = stablehlo.select {condition.name}, {x.name}, {y.name} : {types}")
        return result

    def emit_cast(self, x: Term, dtype: DType) -> Term:
        return self.emit("convert", [x], dtype, x.shape)

    def bitcast(self, x: Term, dtype: DType) -> Term:
        shape = x.shape
        if dtype.size < x.dtype.size:
            shape = (*shape, x.dtype.size // dtype.size)
        elif dtype.size > x.dtype.size:
            shape = shape[:-1]
        return self.emit("bitcast_convert", [x], dtype, shape)

    def zeros_like(self, x: Term) -> Term:
        return self.broadcast(self.constant(0, x.dtype), x)[0]

    def native_form(self, node: Node, operands: Sequence[Term]) -> Term | None:
        """Write a function of complex numbers as one operation, or as few; return None for other numbers."""
        return self._complex_function(node.op.name, operands) if operands[0].dtype.is_complex else None

    def _complex_function(self, name: str, operands: Sequence[Term]) -> Term | None:
        x = operands[0]
        if name in _COMPLEX_FUNCTIONS:
            return self.emit_unary(_COMPLEX_FUNCTIONS[name], x)
        one = self.constant(1, x.dtype)
        if name == "power" and operands[1].dtype is x.dtype:
            return self.binary("power", *operands)
        if name == "reciprocal":
            return self.binary("divide", one, x)
        if name == "sigmoid":
            return self.binary("divide", one, one + self.emit_unary("exponential", -x))
        if name in ("sinh", "cosh"):
            exp_x, exp_minus_x = self.emit_unary("exponential", x), self.emit_unary("exponential", -x)
            return (exp_x - exp_minus_x if name == "sinh" else exp_x + exp_minus_x) * self.constant(0.5, x.dtype)
        return None

    # ---- shapes

    def size(self, x: Term, axis: int) -> Any:
        """Return a size: a number, or an int32 where it is open."""
        if isinstance(x.shape[axis], int):
            return x.shape[axis]
        return self.emit("get_dimension_size", [x], int32, (), f"dimension = {axis} : i64")

    def as_size(self, number: Term) -> Term:
        return self.cast(number, int32)

    def size_vector(self, x: Term) -> Term:
        return self.shape_vector(self.sizes(x))

    def shape_vector(self, sizes: Sequence[Any]) -> Term:
        """Return sizes as a vector of int32."""
        parts = [
            self.integers([size], int32) if isinstance(size, int) else self.emit("reshape", [size], int32, (1,))
            for size in sizes
        ]
        if not parts:
            return self.integers([], int32)
        if len(parts) == 1:
            return parts[0]
        return self.emit("concatenate", parts, int32, (len(parts),), "dimension = 0 : i64")

    def broadcast(self, *operands: Term) -> list[Term]:
        shapes = {x.shape for x in operands}
        if len(shapes) == 1:
            return list(operands)
        rank = max(x.rank for x in operands)
        sizes: list[Any] = []
        shape: list[Any] = []
        for axis in range(rank):
            size: Any = 1
            open_dimension: tuple[Term, int] | None = None
            for x in operands:
                operand_axis = axis - rank + x.rank
                if operand_axis < 0 or x.shape[operand_axis] == 1:
                    continue
                if isinstance(x.shape[operand_axis], int):
                    size, open_dimension = x.shape[operand_axis], None
                    break
                if open_dimension is None:
                    size, open_dimension = x.shape[operand_axis], (x, operand_axis)
            shape.append(size)
            sizes.append(size if open_dimension is None else self.size(*open_dimension))
        return [self.expand(x, shape, sizes) for x in operands]

    def expand(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Broadcast to a shape; `sizes` has the same sizes, with a term for each open one."""
        if x.shape == tuple(shape):
            return x
        axes = range(len(shape) - x.rank, len(shape))
        dimensions = f"broadcast_dimensions = array<i64{list_text(axes)}>"
        if all(isinstance(size, int) for size in shape) and all(isinstance(size, int) for size in x.shape):
            return self.emit("broadcast_in_dim", [x], x.dtype, shape, dimensions)
        vector = self.shape_vector(shape if sizes is None else sizes)
        return self.emit("dynamic_broadcast_in_dim", [x, vector], x.dtype, shape, dimensions)

    def reshape(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        if x.shape == tuple(shape):
            return x
        if all(isinstance(size, int) for size in (*shape, *x.shape)):
            return self.emit("reshape", [x], x.dtype, shape)
        if all(isinstance(size, int) for size in shape):
            return self.emit("dynamic_reshape", [x, self.shape_vector(shape)], x.dtype, shape)
        if sizes is None:
            raise GraphUnfit("reshape", "an open size has no value here")
        return self.emit("dynamic_reshape", [x, self.shape_vector(sizes)], x.dtype, shape)

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        if list(order) == list(range(x.rank)):
            return x
        shape = tuple(x.shape[axis] for axis in order)
        return self.emit("transpose", [x], x.dtype, shape, f"permutation = array<i64{list_text(order)}>")

    def static_slice(self, x: Term, axis: int, start: int, stop: int, step: int = 1) -> Term:
        size = x.shape[axis]
        count = max(0, -(-(stop - start) // step))
        if count == size and step == 1:
            return x
        shape = tuple(count if a == axis else s for a, s in enumerate(x.shape))
        if not all(isinstance(s, int) for s in x.shape):
            starts, steps = [0] * x.rank, [1] * x.rank
            starts[axis], steps[axis] = start, step
            stops = [stop if a == axis else s for a, s in enumerate(self.sizes(x))]
            vectors = [self.integers(starts, int32), self.shape_vector(stops), self.integers(steps, int32)]
            return self.emit("real_dynamic_slice", [x, *vectors], x.dtype, shape)
        starts = [start if a == axis else 0 for a in range(x.rank)]
        stops = [stop if a == axis else s for a, s in enumerate(x.shape)]
        steps = [step if a == axis else 1 for a in range(x.rank)]
        properties = (
            f"start_indices = array<i64{list_text(starts)}>, limit_indices = array<i64{list_text(stops)}>, "
            f"strides = array<i64{list_text(steps)}>"
        )
        return self.emit("slice", [x], x.dtype, shape, properties)

    def reverse(self, x: Term, axes: Sequence[int]) -> Term:
        return self.emit("reverse", [x], x.dtype, x.shape, f"dimensions = array<i64{list_text(axes)}>") if axes else x

    def dynamic_slice(self, x: Term, axis: int, start: Term, size: int) -> Term:
        shape = tuple(size if a == axis else s for a, s in enumerate(x.shape))
        if not all(isinstance(s, int) for s in shape):
            raise GraphUnfit("slice", "other dimensions of the array are open")
        zero = self.constant(0, start.dtype)
        starts = [start if a == axis else zero for a in range(x.rank)]
        return self.emit("dynamic_slice", [x, *starts], x.dtype, shape, f"slice_sizes = array<i64{list_text(shape)}>")

    def dynamic_update(self, x: Term, update: Term, starts: Sequence[Term]) -> Term:
        """Write an update: one element or the whole array directly, others by a select between arrays.

        XLA's code for the CPU may write other updates in place, although it still reads later elements of `x`.
        """
        if not starts:
            return self.reshape(update, ())
        if all(size == 1 for size in update.shape) or update.shape == x.shape:
            return self.emit("dynamic_update_slice", [x, update, *starts], x.dtype, x.shape)
        sizes, update_sizes = self.sizes(x), self.sizes(update)
        zeros = self.expand(self.constant(0, x.dtype), x.shape, sizes)
        no_mask = self.expand(self.constant(False, bool_), x.shape, sizes)
        update_mask = self.expand(self.constant(True, bool_), update.shape, update_sizes)
        placed_update = self.emit("dynamic_update_slice", [zeros, update, *starts], x.dtype, x.shape)
        mask = self.emit("dynamic_update_slice", [no_mask, update_mask, *starts], bool_, x.shape)
        return self.emit_select(mask, placed_update, x)

    def pad(self, x: Term, value: Term, low: Sequence[int], high: Sequence[int]) -> Term:
        if not (any(low) or any(high)):
            return x
        shape = padded_shape(x.shape, low, high)
        no_padding = [0] * x.rank
        properties = (
            f"edge_padding_low = array<i64{list_text(low)}>, edge_padding_high = array<i64{list_text(high)}>, "
            f"interior_padding = array<i64{list_text(no_padding)}>"
        )
        return self.emit("pad", [x, value], x.dtype, shape, properties)

    def concatenate(self, parts: Sequence[Term], axis: int) -> Term:
        if len(parts) == 1:
            return parts[0]
        sizes = [x.shape[axis] for x in parts]
        total = sum(sizes) if all(isinstance(size, int) for size in sizes) else None
        shape = list(parts[0].shape)
        shape[axis] = total
        return self.emit("concatenate", parts, parts[0].dtype, shape, f"dimension = {axis} : i64")

    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term:
        """Return an array that holds each element's position along an axis."""
        if all(isinstance(size, int) for size in shape):
            return self.emit("iota", [], dtype, shape, f"iota_dimension = {axis} : i64")
        if sizes is None:
            raise GraphUnfit("iota", "an open size has no value here")
        return self.emit("dynamic_iota", [self.shape_vector(sizes)], dtype, shape, f"iota_dimension = {axis} : i64")


def list_text(numbers: Any) -> str:
    """Return the text behind the type in `array<i64: 1, 2>`, which is ": 1, 2"; "" for no numbers."""
    values = list(numbers)
    return ": " + ", ".join(map(str, values)) if values else ""


def join_numbers(numbers: Any) -> str:
    return ", ".join(map(str, numbers))


__all__ = ["ArrayWriter", "join_numbers", "list_text"]
