"""Typed instructions: results have types, and the types of operands are checked."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand, WrongType, check_type, type_of

# Python's functions that compute an instruction whose operands are both Python ints.
_FOLDING_FUNCTIONS = {"add nsw": int.__add__, "sub nsw": int.__sub__, "mul nsw": int.__mul__}


class Builder:
    """A writer that appends instructions to the lines of a function.

    An arithmetic instruction has the type of its operands; i64 if all of them are Python ints.
    """

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self._lines: list[str] = []
        self._name_count = 0

    def new(self, text: str) -> str:
        """Append `%name = text` and return the name."""
        self._name_count += 1
        name = f"%v{self._name_count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self._lines.append(f"  {text}")

    def _new_operand(self, type_: str, text: str) -> Operand:
        return Operand.of(self.new(text), type_)

    def define(self, name: str, value: object) -> None:
        """Define the register `name` as the i64 `value`."""
        self.line(f"{name} = add i64 {check_type(value, 'i64')}, 0")

    # ---- numbers

    def op(self, name: str, x: object, y: object) -> Operand:
        """Apply an instruction of two operands of one type, such as "lshr", "fadd" or "add nuw nsw"."""
        ir_type = type_of(x, y)
        return self._new_operand(ir_type, f"{name} {ir_type} {check_type(x, ir_type)}, {check_type(y, ir_type)}")

    def _fold_or_append(self, name: str, x: object, y: object) -> Operand:
        """Return the result of an instruction: a constant for two Python ints, else a register."""
        if isinstance(x, int) and isinstance(y, int):
            return Operand.of(_FOLDING_FUNCTIONS[name](x, y), "i64")
        return self.op(name, x, y)

    def add(self, x: object, y: object) -> Operand:
        """Add positions or counts, which do not overflow."""
        return self._fold_or_append("add nsw", x, y)

    def sub(self, x: object, y: object) -> Operand:
        return self._fold_or_append("sub nsw", x, y)

    def mul(self, x: object, y: object) -> Operand:
        return self._fold_or_append("mul nsw", x, y)

    def and_(self, x: object, y: object) -> Operand:
        """Return the conjunction of two i1."""
        return self._new_operand("i1", f"and i1 {check_type(x, 'i1')}, {check_type(y, 'i1')}")

    def or_(self, x: object, y: object) -> Operand:
        return self._new_operand("i1", f"or i1 {check_type(x, 'i1')}, {check_type(y, 'i1')}")

    def not_(self, x: object) -> Operand:
        return self._new_operand("i1", f"xor i1 {check_type(x, 'i1')}, true")

    def cast(self, name: str, x: object, type_: str) -> Operand:
        """Convert an operand, by an instruction such as "zext"."""
        return self._new_operand(type_, f"{name} {type_of(x)} {x} to {type_}")

    def icmp(self, test: str, x: object, y: object) -> Operand:
        """Compare integers: "eq", "slt", "uge" and so on."""
        ir_type = type_of(x, y)
        return self._new_operand("i1", f"icmp {test} {ir_type} {check_type(x, ir_type)}, {check_type(y, ir_type)}")

    def fcmp(self, test: str, x: object, y: object) -> Operand:
        """Compare floats: "oeq", "olt", "uno" and so on."""
        ir_type = type_of(x, y)
        return self._new_operand("i1", f"fcmp {test} {ir_type} {check_type(x, ir_type)}, {check_type(y, ir_type)}")

    def select(self, condition: object, x: object, y: object) -> Operand:
        ir_type = type_of(x, y)
        operands = f"{ir_type} {check_type(x, ir_type)}, {ir_type} {check_type(y, ir_type)}"
        return self._new_operand(ir_type, f"select i1 {condition}, {operands}")

    # ---- memory

    def is_null(self, pointer: object) -> Operand:
        return self.is_same(pointer, "null")

    def is_same(self, pointer: object, other: object) -> Operand:
        """Compare pointers."""
        return self._new_operand("i1", f"icmp eq ptr {check_type(pointer, 'ptr')}, {check_type(other, 'ptr')}")

    def differs(self, pointer: object, other: object) -> Operand:
        return self._new_operand("i1", f"icmp ne ptr {check_type(pointer, 'ptr')}, {check_type(other, 'ptr')}")

    def load(self, type_: str, pointer: object, metadata: str = "") -> Operand:
        """Load a value; `metadata` is text behind the instruction, such as ", !tbaa !5" (see `metadata`)."""
        return self._new_operand(type_, f"load {type_}, ptr {check_type(pointer, 'ptr')}{metadata}")

    def store(self, type_: str, value: object, pointer: object, metadata: str = "") -> None:
        self.line(f"store {type_} {check_type(value, type_)}, ptr {check_type(pointer, 'ptr')}{metadata}")

    def atomic_add(self, type_: str, pointer: object, value: object) -> Operand:
        """Add to an integer in memory, and return its former value."""
        address, addend = check_type(pointer, "ptr"), check_type(value, type_)
        return self._new_operand(type_, f"atomicrmw add ptr {address}, {type_} {addend} monotonic")

    def gep(self, type_: str, pointer: object, index: object, inbounds: bool = True) -> Operand:
        """Return the address `index` elements of the type after a pointer."""
        opcode = "getelementptr inbounds" if inbounds else "getelementptr"
        operands = f"ptr {check_type(pointer, 'ptr')}, i64 {check_type(index, 'i64')}"
        return self._new_operand("ptr", f"{opcode} {type_}, {operands}")

    def field(self, struct: str, pointer: object, *numbers: int) -> Operand:
        """Return the address of a field of a struct; further numbers select fields of nested structs."""
        pointer, steps = check_type(pointer, "ptr"), ", ".join(f"i32 {number}" for number in (0, *numbers))
        return self._new_operand("ptr", f"getelementptr inbounds {struct}, ptr {pointer}, {steps}")

    def part(self, struct: object, number: int) -> Operand:
        """Return an element of a struct value such as `{ i64, i1 }`, by its number."""
        types = type_of(struct).strip("{ }").split(", ")
        return self._new_operand(types[number], f"extractvalue {type_of(struct)} {struct}, {number}")

    # ---- calls

    def call(self, name: str, *operands: object) -> Operand:
        """Call a function of the module, by its name: one that is declared, or written already."""
        result, types = self.module.types_of(name)
        if len(types) != len(operands):
            raise WrongType(f"{name} takes {len(types)} operands, and not {len(operands)}")
        pairs = zip(types, operands, strict=True)
        arguments = ", ".join([f"{ir_type} {check_type(x, ir_type)}" for ir_type, x in pairs])
        text = f"call {result} @{name}({arguments})"
        if result != "void":
            return self._new_operand(result, text)
        self.line(text)
        return _VOID

    def call_c(self, name: str, result: str, types: str, *operands: Any, attributes: str = "") -> Operand:
        """Call a function of a C library or an intrinsic one, which is declared with these types."""
        self.module.declare(name, result, types, attributes)
        return self.call(name, *operands)

    def intrinsic(self, name: str, *operands: object) -> Operand:
        """Call an intrinsic function whose operands and result are of one type, such as "smin"."""
        ir_type = type_of(*operands)
        return self.call_c(f"llvm.{name}.{ir_type}", ir_type, ", ".join([ir_type] * len(operands)), *operands)

    def copy(self, target: object, source: object, size: object) -> None:
        """Copy bytes between regions of memory that do not overlap."""
        self.call_c("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1", target, source, size, "false")

    def move(self, target: object, source: object, size: object) -> None:
        """Copy bytes between regions of memory that may overlap."""
        self.call_c("llvm.memmove.p0.p0.i64", "void", "ptr, ptr, i64, i1", target, source, size, "false")

    def clear(self, target: object, size: object) -> None:
        """Set bytes to zero."""
        self.call_c("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1", target, 0, size, "false")

    def ret(self, value: object = "", type_: str = "") -> None:
        """Return a value, of its own type or the given one, or nothing."""
        self.line(f"ret {type_ or type_of(value)} {value}" if value != "" else "ret void")


_VOID = Operand.of("", "void")
