"""Write operations in StableHLO's text: regions, constants, and elementwise operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from autoconv.backends.error_causes import ErrorClass
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term
from autoconv.backends.stablehlo.types import literal, tensor_type
from autoconv.graph.dtypes import DType, bool_, complex64, complex128, int64
from autoconv.graph.graph import Node

_COMPARISONS = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}
# Operations that StableHLO writes in a short form: `%3 = stablehlo.add %1, %2 : tensor<4xf32>`.
_SHORT_OPS = frozenset({
    "abs", "add", "and", "atan2", "cbrt", "ceil", "convert", "cosine", "divide", "exponential",
    "exponential_minus_one", "floor", "log", "log_plus_one", "maximum", "minimum", "multiply", "negate", "not", "or",
    "power", "remainder", "reshape", "rsqrt", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign",
    "sine", "sqrt", "subtract", "tanh", "xor",
})  # fmt: skip
# Operations on integers and conditions that XLA computes while it refines shapes.
_SIZE_OPS = frozenset({
    "add", "and", "broadcast_in_dim", "concatenate", "convert", "divide", "maximum", "minimum", "multiply", "or",
    "remainder", "reshape", "slice", "subtract",
})  # fmt: skip
_MAX_SIZE_CONSTANTS = 16  # elements of a constant that sizes may be computed from
# {op of a graph: StableHLO's operation}, of functions that StableHLO has for complex numbers.
_COMPLEX_FUNCTIONS = {
    "abs": "abs", "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one",
    "sin": "sine", "cos": "cosine", "tan": "tan", "tanh": "tanh", "sqrt": "sqrt", "rsqrt": "rsqrt", "sign": "sign",
}  # fmt: skip


class ArrayWriter(Control):
    """Write the operations of a function's body. A term is an SSA value; a region may use values from outside it."""

    runtime = "StableHLO"
    runtime_functions: ClassVar[Mapping[str, str]] = {
        "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one", "sin": "sine",
        "cos": "cosine", "tan": "tan", "tanh": "tanh", "cbrt": "cbrt",
    }  # fmt: skip

    def __init__(self, list_capacity: int = 64) -> None:
        self.list_capacity = list_capacity
        self.lines: list[str] = []
        self.indent = "    "
        self._name_count = 0
        # Constants by their text: those of the function, then those of each region that is being written.
        self._constants: list[dict[str, Term]] = [{}]
        self.places: list[str] = []
        self.error_classes: list[ErrorClass] = []
        self.node_place = ""
        self.error_word: Term | None = None

    # ---- text

    def new_name(self) -> str:
        """Return a name that no other term of the function has."""
        self._name_count += 1
        return f"%{self._name_count}"

    def new_term(self, dtype: DType, shape: Sequence[Any]) -> Term:
        """Return a term with a new name, for the result of an operation or a parameter."""
        return Term(self, self.new_name(), dtype, tuple(shape))

    def line(self, text: str) -> None:
        """Append a line, indented as its region is."""
        self.lines.append(self.indent + text)

    def emit(
        self, op: str, operands: Sequence[Term], dtype: DType, shape: Sequence[Any], properties: str = "",
        regions: Sequence[list[str]] = (),
    ) -> Term:
        """Write an operation with one result, see `emit_all`; return the result."""
        (result,) = self.emit_all(op, operands, [(dtype, tuple(shape))], properties, regions)
        return self._mark_size_expression(operands, result) if op in _SIZE_OPS else result

    def emit_all(
        self, op: str, operands: Sequence[Term], results: Sequence[tuple[DType, tuple[Any, ...]]],
        properties: str = "", regions: Sequence[list[str]] = (),
    ) -> list[Term]:
        """Write an operation with results of these dtypes and shapes; return the results.

        `properties` is the text of its properties, and `regions` has the lines of each of its regions. Common
        operations have StableHLO's short form. Other operations have MLIR's generic form, which is twice as long.
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
        return [Term(self, text, dtype, shape) for text, (dtype, shape) in zip(names, results, strict=False)]

    def _mark_size_expression(self, operands: Sequence[Term], result: Term) -> Term:
        """Mark the result of an operation as a size expression if all operands are size expressions; return it."""
        is_discrete = result.dtype.is_integer or result.dtype.is_bool
        result.is_size_expression = is_discrete and bool(operands) and all(x.is_size_expression for x in operands)
        return result

    @contextmanager
    def region(self, parameters: Sequence[Term] = ()) -> Iterator[list[str]]:
        """Collect, in the yielded list, the lines of a region with these parameters; the caller writes its end."""
        outer_lines, outer_indent = self.lines, self.indent
        lines: list[str] = []
        self.lines, self.indent = lines, outer_indent + "  "
        self._constants.append({})
        if parameters:
            parameter_text = ", ".join(f"{x.name}: {tensor_type(x.dtype, x.shape)}" for x in parameters)
            lines.append(f"{outer_indent}^bb0({parameter_text}):")
        try:
            yield lines
        finally:
            self.lines, self.indent = outer_lines, outer_indent
            self._constants.pop()

    def end_region(self, values: Sequence[Term]) -> None:
        """End a region with its results."""
        self.line(return_text(values))

    # ---- elements

    def array(self, array: np.ndarray, dtype: DType) -> Term:
        """Return a constant array; a constant of the current or an enclosing region is not written again."""
        text = literal(array, dtype)
        for constants in self._constants:
            if text in constants:
                return constants[text]
        result = self.new_term(dtype, array.shape)
        result.is_size_expression = (dtype.is_integer or dtype.is_bool) and array.size <= _MAX_SIZE_CONSTANTS
        self.line(f"{result.name} = stablehlo.constant {text}")
        self._constants[-1][text] = result
        return result

    def integers(self, numbers: Sequence[int], dtype: DType = int64) -> Term:
        """Return a vector of constant integers."""
        return self.array(np.array(numbers, dtype.numpy).reshape(len(numbers)), dtype)

    def emit_unary(self, name: str, x: Term) -> Term:
        """Write a unary operation; size expressions have a subtraction for `negate` and a comparison for `not`."""
        dtype = x.dtype.real_dtype if x.dtype.is_complex and name in ("abs", "real", "imag") else x.dtype
        if name in ("real", "imag") and not x.dtype.is_complex:
            return x if name == "real" else self.zeros_like(x)
        # Size expressions consist of the operations in `_SIZE_OPS`, comparisons and selects.
        if x.is_size_expression and name == "negate":
            return self.binary("subtract", 0, x)
        if x.is_size_expression and name == "not" and x.dtype.is_bool:
            return self.compare("eq", x, False)
        return self.emit(name, [x], dtype, x.shape)

    def emit_binary(self, name: str, x: Term, y: Term) -> Term:
        """Write a binary operation; `xor` of size expressions consists of the operations allowed in these."""
        dtype = x.dtype
        if name == "complex":
            dtype = complex64 if x.dtype.size == 4 else complex128
        if name == "xor" and x.is_size_expression and y.is_size_expression:  # as in `emit_unary`
            if dtype.is_bool:
                return self.emit_comparison("ne", x, y)
            return self.emit("subtract", [self.emit("or", [x, y], dtype, x.shape), x & y], dtype, x.shape)
        return self.emit(name, [x, y], dtype, x.shape)

    def emit_comparison(self, test: str, x: Term, y: Term) -> Term:
        result, type_ = self.new_term(bool_, x.shape), tensor_type(x.dtype, x.shape)
        types = f"({type_}, {type_}) -> {tensor_type(bool_, x.shape)}"
        self.line(f"{result.name} = stablehlo.compare {_COMPARISONS[test]}, {x.name}, {y.name} : {types}")
        return self._mark_size_expression([x, y], result)

    def emit_select(self, condition: Term, x: Term, y: Term) -> Term:
        result = self.new_term(x.dtype, x.shape)
        types = f"{tensor_type(condition.dtype, condition.shape)}, {tensor_type(x.dtype, x.shape)}"
        self.line(f"{result.name} = stablehlo.select {condition.name}, {x.name}, {y.name} : {types}")
        return self._mark_size_expression([condition, x, y], result)

    def emit_cast(self, x: Term, dtype: DType) -> Term:
        return self.emit("convert", [x], dtype, x.shape)

    def bitcast(self, x: Term, dtype: DType) -> Term:
        """Reinterpret the bits; a narrower dtype adds a last dimension, a wider one takes it."""
        shape = x.shape
        if dtype.size < x.dtype.size:
            shape = (*shape, x.dtype.size // dtype.size)
        elif dtype.size > x.dtype.size:
            shape = shape[:-1]
        return self.emit("bitcast_convert", [x], dtype, shape)

    def zeros_like(self, x: Term) -> Term:
        """Return zeros of the dtype and shape of `x`."""
        return self.broadcast(self.constant(0, x.dtype), x)[0]

    def runtime_form(self, node: Node, operands: Sequence[Term]) -> Term | None:
        """Write a function of complex numbers as one or a few operations; return None for other numbers."""
        return self._complex_function(node.op.name, operands) if operands[0].dtype.is_complex else None

    def _complex_function(self, name: str, operands: Sequence[Term]) -> Term | None:
        """Return a function of complex numbers; None if it is neither XLA's nor has a formula in this method."""
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


def return_text(values: Sequence[Term]) -> str:
    """Return the last operation of a region, which has these results."""
    names = ", ".join(x.name for x in values)
    types = ", ".join(tensor_type(x.dtype, x.shape) for x in values)
    return f'"stablehlo.return"({names}) : ({types}) -> ()'


def list_text(numbers: Any) -> str:
    """Return the text after the type in `array<i64: 1, 2>`, which is ": 1, 2"; "" for no numbers."""
    values = list(numbers)
    return ": " + ", ".join(map(str, values)) if values else ""


def join_numbers(numbers: Any) -> str:
    """Return numbers with commas between them."""
    return ", ".join(map(str, numbers))
