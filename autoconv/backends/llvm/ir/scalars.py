"""Numbers in registers: the interface that the ops' element rules are written against, as LLVM instructions."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.ir.element_loops import ElementLoops
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.metadata import SPECULATABLE
from autoconv.backends.llvm.ir.types import is_narrow, literal, memory_type, register
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
)


class Element:
    """One number: a register or a literal, and its dtype. Python's operators apply, also with Python numbers."""

    __slots__ = ("b", "dtype", "ir")

    def __init__(self, b: ElementWriter, dtype: DType, ir: str) -> None:
        self.b = b
        self.dtype = dtype
        self.ir = ir

    def __add__(self, other: Any) -> Element:
        return self.b.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Element:
        return self.b.subtract(self, other)

    def __rsub__(self, other: Any) -> Element:
        return self.b.subtract(self.b.like(self, other), self)

    def __mul__(self, other: Any) -> Element:
        return self.b.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Element:
        return self.b.divide(self, other)

    def __rtruediv__(self, other: Any) -> Element:
        return self.b.divide(self.b.like(self, other), self)

    def __neg__(self) -> Element:
        return self.b.negative(self)

    def __and__(self, other: Any) -> Element:
        return self.b.bits("and", self, other)

    def __or__(self, other: Any) -> Element:
        return self.b.bits("or", self, other)

    def __xor__(self, other: Any) -> Element:
        return self.b.bits("xor", self, other)

    def __invert__(self) -> Element:
        return self.b.bits("xor", self, True if self.dtype.is_bool else -1)

    def __lt__(self, other: Any) -> Element:
        return self.b.compare("lt", self, other)

    def __le__(self, other: Any) -> Element:
        return self.b.compare("le", self, other)

    def __gt__(self, other: Any) -> Element:
        return self.b.compare("gt", self, other)

    def __ge__(self, other: Any) -> Element:
        return self.b.compare("ge", self, other)

    def same(self, other: Any) -> Element:
        return self.b.compare("eq", self, other)

    def differs(self, other: Any) -> Element:
        return self.b.compare("ne", self, other)


class Quotient(Element):
    """A quotient or root of floats, which raises the flag of a division by zero or of an invalid value."""

    __slots__ = ()


class Pair(Element):
    """A complex number: its parts are two elements, `real` and `imag`; `ir` is empty."""

    __slots__ = ("imag", "real")

    def __init__(self, b: ElementWriter, dtype: DType, real: Element, imag: Element) -> None:
        super().__init__(b, dtype, "")
        self.real = real
        self.imag = imag

    def __add__(self, other: Any) -> Pair:
        return self.b.pair(self.real + other.real, self.imag + other.imag)

    def __mul__(self, other: Any) -> Pair:
        real = self.real * other.real - self.imag * other.imag
        return self.b.pair(real, self.real * other.imag + self.imag * other.real)


_FLOAT_TESTS = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


class ElementWriter(ElementLoops):
    """A writer of instructions into `out`; `fail(condition, raises)` calls a kernel, which raises if `raises`."""

    avoids_library_calls = False  # calls of the C library prevent LLVM from vectorising a loop

    def __init__(self, out: FunctionText, fail: Any = None) -> None:
        self.out = out
        self._fail = fail

    def in_function(self, out: FunctionText) -> ElementWriter:
        """Return a writer into another function."""
        return ElementWriter(out)

    def wrap(self, dtype: DType, ir: str) -> Element:
        return Element(self, dtype, ir)

    def _new(self, dtype: DType, text: str) -> Element:
        return Element(self, dtype, self.out.new(text))

    def constant(self, number: Any, dtype: DType) -> Element:
        return Element(self, dtype, literal(number, dtype))

    def pair(self, real: Element, imag: Element) -> Pair:
        """Return the complex number of two parts of one dtype."""
        return Pair(self, complex64 if real.dtype is float32 else complex128, real, imag)

    def like(self, model: Element, operand: Any) -> Element:
        """Return an operand as an element; a Python number gets the dtype of `model`."""
        return operand if isinstance(operand, Element) else self.constant(operand, model.dtype)

    # ---- arithmetic

    def _binary(self, float_instruction: str, integer_instruction: str, x: Element, y: Any) -> Element:
        instruction = float_instruction if x.dtype.is_floating else integer_instruction
        text = f"{instruction} {register(x.dtype)} {x.ir}, {self.like(x, y).ir}"
        return self._round_to_dtype(self._new(x.dtype, text))

    def add(self, x: Element, y: Any) -> Element:
        return self._binary("fadd", "add", x, y)

    def subtract(self, x: Element, y: Any) -> Element:
        return self._binary("fsub", "sub", x, y)

    def multiply(self, x: Element, y: Any) -> Element:
        return self._binary("fmul", "mul", x, y)

    def divide(self, x: Element, y: Any) -> Element:
        """Divide floats; for integers, divide towards zero by a nonzero divisor."""
        result = self._binary("fdiv", "udiv" if x.dtype.is_unsigned else "sdiv", x, y)
        return Quotient(self, x.dtype, result.ir) if x.dtype.is_floating else result

    def remainder(self, x: Element, y: Any) -> Element:
        """Return the remainder with the sign of `x`, as in C."""
        return self._binary("frem", "urem" if x.dtype.is_unsigned else "srem", x, y)

    def negative(self, x: Element) -> Element:
        if x.dtype.is_floating:
            return self._new(x.dtype, f"fneg {register(x.dtype)} {x.ir}")
        return self.subtract(self.constant(0, x.dtype), x)

    def bits(self, name: str, x: Element, y: Any) -> Element:
        """Apply and, or, xor, shl, lshr or ashr."""
        return self._new(x.dtype, f"{name} {register(x.dtype)} {x.ir}, {self.like(x, y).ir}")

    # ---- tests and choices

    def compare(self, test: str, x: Element, y: Any) -> Element:
        y = self.like(x, y)
        if x.dtype.is_floating:
            return self._new(bool_, f"fcmp {_FLOAT_TESTS[test]} {register(x.dtype)} {x.ir}, {y.ir}")
        sign = "" if test in ("eq", "ne") else "u" if x.dtype.is_unsigned or x.dtype.is_bool else "s"
        return self._new(bool_, f"icmp {sign}{test} {register(x.dtype)} {x.ir}, {y.ir}")

    def select(self, condition: Element, x: Any, y: Any) -> Element:
        x = x if isinstance(x, Element) else self.like(y, x)
        y = self.like(x, y)
        ir_type = register(x.dtype)
        return self._new(x.dtype, f"select i1 {condition.ir}, {ir_type} {x.ir}, {ir_type} {y.ir}")

    def is_nan(self, x: Element) -> Element:
        return self._new(bool_, f"fcmp uno {register(x.dtype)} {x.ir}, {x.ir}")

    def fail_if(self, condition: Element) -> None:
        """Run the op's kernel instead if the condition holds; it raises, or returns the result."""
        self._fail(condition, False)

    def raise_if(self, condition: Element) -> None:
        """Run the op's kernel if the condition holds; it raises."""
        self._fail(condition, True)

    def keep_flags(self, x: Element, is_compared: bool = False) -> Element:
        """Return a number for a select, or with `is_compared` for a test, such that it is computed in any case.

        LLVM makes one instruction of a division and its select, whose masked lanes raise no flag. It replaces tests of
        a root by tests of the root's operand.
        """
        is_kept = isinstance(x, Quotient) and (is_compared or current_target().can_mask_lanes)
        return self.intrinsic("canonicalize", x) if is_kept and x.dtype in (float32, float64) else x

    def warn(self, error: str, condition: Element) -> None:
        """Raise the flag of a floating-point error when the function returns, if a bool held or an int was negative."""
        self.out.raise_at_end(error, register(condition.dtype), condition.ir)

    def intrinsic(self, name: str, *operands: Element) -> Element:
        """Call llvm.NAME on numbers, such as sqrt, fabs, floor, fma."""
        dtype, ir_type = operands[0].dtype, register(operands[0].dtype)
        suffix = {"float": "f32", "double": "f64"}.get(ir_type, ir_type)
        function = self.out.module.declare(f"llvm.{name}.{suffix}", ir_type, ", ".join([ir_type] * len(operands)))
        element = self._new(dtype, f"call {ir_type} {function}({', '.join(f'{ir_type} {x.ir}' for x in operands)})")
        element = self._round_to_dtype(element)
        return Quotient(self, dtype, element.ir) if name == "sqrt" else element

    def libm(self, name: str, *operands: Element) -> Element:
        """Call the C library's function of doubles or of floats."""
        dtype, ir_type = operands[0].dtype, register(operands[0].dtype)
        name = name if dtype is float64 else name + "f"
        function = self.out.module.declare(name, ir_type, ", ".join([ir_type] * len(operands)), SPECULATABLE)
        return self._new(dtype, f"call {ir_type} {function}({', '.join(f'{ir_type} {x.ir}' for x in operands)})")

    def fma(self, x: Element, y: Any, z: Any) -> Element:
        return self.intrinsic("fma", x, self.like(x, y), self.like(x, z))

    def scale_by_power_of_two(self, x: Element, n: Element) -> Element:
        """Return x·2^n for an n as wide as x, rounded once where it becomes subnormal, inf beyond the largest number.

        |n| is at most the range of exponents.
        """
        if self.avoids_library_calls and current_target().has_ldexp:
            ir_type = register(x.dtype)
            function = self.out.module.declare(f"llvm.ldexp.f{8 * x.dtype.size}.i32", ir_type, f"{ir_type}, i32")
            return self._new(x.dtype, f"call {ir_type} {function}({ir_type} {x.ir}, i32 {self.cast(n, int32).ir})")
        half = self.bits("ashr", n, 1)  # two steps, the first of which is exact
        return x * self._power_of_two(half, x.dtype) * self._power_of_two(n - half, x.dtype)

    def _power_of_two(self, n: Element, dtype: DType) -> Element:
        bias, width = (127, 23) if dtype is float32 else (1023, 52)
        return self.bitcast(self.bits("shl", n + bias, width), dtype)

    def with_overflow(self, name: str, x: Element, y: Element) -> tuple[Element, Element]:
        """Apply add, sub or mul to integers; return the wrapped result, and whether it overflowed."""
        ir_type = register(x.dtype)
        pair_type = f"{{ {ir_type}, i1 }}"
        intrinsic = f"llvm.{'u' if x.dtype.is_unsigned else 's'}{name}.with.overflow.{ir_type}"
        function = self.out.module.declare(intrinsic, pair_type, f"{ir_type}, {ir_type}")
        result_and_flag = self.out.new(f"call {pair_type} {function}({ir_type} {x.ir}, {ir_type} {y.ir})")
        result = self._new(x.dtype, f"extractvalue {pair_type} {result_and_flag}, 0")
        return result, self._new(bool_, f"extractvalue {pair_type} {result_and_flag}, 1")

    # ---- conversions

    def bitcast(self, x: Element, dtype: DType) -> Element:
        """Reinterpret the bits as another dtype of the same size."""
        if not is_narrow(x.dtype) and not is_narrow(dtype):
            return self._new(dtype, f"bitcast {register(x.dtype)} {x.ir} to {register(dtype)}")
        ir_type, ir = memory_type(x.dtype), self.to_memory(x)
        if ir_type != memory_type(dtype):
            ir = self.out.new(f"bitcast {ir_type} {ir} to {memory_type(dtype)}")
        return self.from_memory(ir, dtype)

    def from_memory(self, ir: str, dtype: DType) -> Element:
        """Convert a number from its form in memory to that in a register."""
        if dtype is bool_:
            ir = self.out.new(f"icmp ne i8 {ir}, 0")
        elif dtype is float16:
            ir = self.out.new(f"fpext half {ir} to float")
        elif dtype is bfloat16:  # the upper half of a float32
            ir = self.out.new(f"shl i32 {self.out.new(f'zext i16 {ir} to i32')}, 16")
            ir = self.out.new(f"bitcast i32 {ir} to float")
        return Element(self, dtype, ir)

    def to_memory(self, x: Element) -> str:
        """Convert a number from its form in a register to that in memory."""
        if x.dtype is bool_:
            return self.out.new(f"zext i1 {x.ir} to i8")
        if x.dtype is float16:
            return self.out.new(f"fptrunc float {x.ir} to half")
        if x.dtype is bfloat16:
            bits = self.out.new(f"lshr i32 {self.out.new(f'bitcast float {x.ir} to i32')}, 16")
            return self.out.new(f"trunc i32 {bits} to i16")
        return x.ir

    def _round_to_dtype(self, x: Element) -> Element:
        """Round to a narrow dtype, whose register may hold any float32: to nearest, ties to even."""
        if x.dtype is float16:
            return self.from_memory(self.to_memory(x), float16)
        if x.dtype is not bfloat16:
            return x
        bits = self.bitcast(self.wrap(float32, x.ir), uint32)
        # Half a unit of the last kept bit, less one if that bit is 0: ties then go to the even neighbour.
        increment = self.bits("and", self.bits("lshr", bits, 16), 1) + 0x7FFF
        quiet_nan = self.bits("or", bits, 0x400000)
        kept_bits = self.bits("and", self.select(self.is_nan(x), quiet_nan, bits + increment), 0xFFFF0000)
        return Element(self, bfloat16, self.bitcast(kept_bits, float32).ir)

    def _round_to_odd(self, x: Element) -> Element:
        """Round a double to float32 so that rounding again, to a narrower type, equals rounding the double.

        Round to odd: inexactness sets the last bit (Boldo and Melquiond, When double rounding is odd).
        """
        rounded_number = self.convert("fptrunc", x, float32)
        widened_number = self.convert("fpext", rounded_number, float64)
        is_larger = self.compare("gt", self.intrinsic("fabs", widened_number), self.intrinsic("fabs", x))
        bits = self.bitcast(rounded_number, int32)
        is_inexact = self._new(bool_, f"fcmp one double {widened_number.ir}, {x.ir}")
        odd_bits = self.bits("or", bits - self.cast(is_larger, int32), 1)
        return self.bitcast(self.select(is_inexact, odd_bits, bits), float32)

    def cast(self, x: Element, dtype: DType) -> Element:
        """Convert as NumPy's astype does on this machine.

        Integers wrap; floats outside the range of an integer type give its lowest number.
        """
        source = x.dtype
        if source is dtype:
            return x
        if is_narrow(source):
            return self.cast(self.wrap(float32, x.ir), dtype)
        if is_narrow(dtype):
            rounds_once = source is float64 and dtype is float16  # others are converted to float32 first, as in NumPy
            as_float32 = self._round_to_odd(x) if rounds_once else self.cast(x, float32)
            return self._round_to_dtype(self.wrap(dtype, as_float32.ir))
        if dtype.is_bool:
            return self.compare("ne", x, 0)
        if source.is_floating and dtype.is_floating:
            return self.convert("fpext" if dtype.size > source.size else "fptrunc", x, dtype)
        if source.is_floating:
            return self._float_to_integer(x, dtype)
        if dtype.is_floating:
            return self.convert("uitofp" if source.is_unsigned or source.is_bool else "sitofp", x, dtype)
        if not source.is_bool and dtype.size == source.size:
            return Element(self, dtype, x.ir)
        if not source.is_bool and dtype.size < source.size:
            return self.convert("trunc", x, dtype)
        return self.convert("zext" if source.is_unsigned or source.is_bool else "sext", x, dtype)

    def convert(self, name: str, x: Element, dtype: DType) -> Element:
        """Convert by an instruction, such as fptosi, whose result may be undefined for some numbers."""
        return self._new(dtype, f"{name} {register(x.dtype)} {x.ir} to {register(dtype)}")

    def _float_to_integer(self, x: Element, dtype: DType) -> Element:
        """Convert as NumPy does on this machine: numbers outside of the dtype wrap or give its least value."""
        if dtype.size < 8 and dtype.name != "int32":  # C compilers convert to a wider type first, and then wrap
            return self.cast(self._float_to_integer(x, int64 if dtype.size == 4 else int32), dtype)
        if dtype.name == "uint64":
            is_large = self.compare("ge", x, 2.0**63)
            reduced = self._float_to_integer(self.select(is_large, x - 2.0**63, x), int64)
            return Element(self, dtype, self.select(is_large, self.bits("xor", reduced, -(2**63)), reduced).ir)
        limit = 2.0 ** (dtype.size * 8 - 1)
        is_inside = self.compare("ge", x, -limit) & self.compare("lt", x, limit)
        self.warn("invalid", ~is_inside)
        return self.select(is_inside, self.convert("fptosi", self.select(is_inside, x, 0.0), dtype), int(-limit))


def load(b: ElementWriter, dtype: Any, pointer: str, offset: Any, scopes: str = "") -> Element:
    """Load a number; `scopes` is the metadata of the access (see alias_scopes.py)."""
    ir_type = memory_type(dtype)
    if dtype.is_complex:
        part = dtype.real_dtype
        addresses = _part_addresses(b, dtype, pointer, offset)
        real, imag = (b.wrap(part, b.out.new(f"load {register(part)}, ptr {address}{scopes}")) for address in addresses)
        return Pair(b, dtype, real, imag)
    address = b.out.new(f"getelementptr inbounds {ir_type}, ptr {pointer}, i64 {offset}")
    return b.from_memory(b.out.new(f"load {ir_type}, ptr {address}{scopes}"), dtype)


def _part_addresses(b: ElementWriter, dtype: DType, pointer: str, offset: Any) -> list[str]:
    """Return the addresses of the real and the imaginary part."""
    address = f"getelementptr inbounds {memory_type(dtype)}, ptr {pointer}, i64 {offset}"
    return [b.out.new(f"{address}, i32 {index}") for index in range(2)]


def store(b: ElementWriter, element: Element, pointer: str, offset: Any, scopes: str = "") -> None:
    """Write the store of an element at an offset from a pointer; the parts of a complex number are two stores."""
    if isinstance(element, Pair):
        addresses = _part_addresses(b, element.dtype, pointer, offset)
        for part, part_address in zip((element.real, element.imag), addresses, strict=True):
            b.out.line(f"store {register(part.dtype)} {part.ir}, ptr {part_address}{scopes}")
        return
    ir_type, ir = memory_type(element.dtype), b.to_memory(element)
    address = b.out.new(f"getelementptr inbounds {ir_type}, ptr {pointer}, i64 {offset}")
    b.out.line(f"store {ir_type} {ir}, ptr {address}{scopes}")
