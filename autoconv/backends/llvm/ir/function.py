"""Writer of one LLVM function: blocks, phis, loops and cold paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from autoconv.backends.llvm.ir.builder import Builder
from autoconv.backends.llvm.ir.hidden_trip_counts import TripTest
from autoconv.backends.llvm.ir.metadata import FULLY_UNROLLED, LONG_LOOP, LoopBranch
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand, check_type, type_of
from autoconv.backends.llvm.ir.signature import Function, Parameter, Signature
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.linear_form import Atom, LinearForm, Range

_SIZE_REGISTER = re.compile(r"%size\.[\w.$-]+")  # registers of open sizes
# Trip count above which LLVM may not unroll a loop: the remainder after the vectorised loop would be most of the
# code, and of the compile time.
_MAX_UNROLLED_TRIPS = 15
_MAX_UNROLLED_LINES = 400  # lines of a loop after unrolling, inner loops unrolled too; larger loops stay rolled
_MAX_VECTOR_STEP = 64  # the largest number of elements that one iteration of a vectorised loop covers
_NO_SIGNATURE = Signature("void", ())  # the signature of instructions that are inspected, but not compiled
# Instructions that raise the flag of a floating-point error.
_FLAG_INSTRUCTIONS = {
    "divide": ("fdiv", "1.0", "0.0"), "over": ("fmul", "1.0e+300", "1.0e+300"), "invalid": ("fdiv", "0.0", "0.0"),
}  # fmt: skip


class FunctionText(Builder):
    """The body of one function, written from top to bottom; allocas gather in its entry block."""

    def __init__(self, module: ModuleText, signature: Signature = _NO_SIGNATURE) -> None:
        super().__init__(module)
        self.signature = signature
        self._allocas: list[str] = []
        self._unrolled_lines = 0  # number of lines that unrolling will add
        self._has_rolled_loop = False  # whether the loop that is being written contains one that stays rolled
        self.slot_count = 0  # number of pointers in the function's frame, see `slot`
        self._error_cells: dict[tuple[str, str], str] = {}  # cells of `raise_at_end`, by error and type
        self.has_element_loops = False  # loops of the program that run over elements
        self.has_descending_index = False  # an index falls from one iteration to the next
        self._has_hints = False  # a loop has hints for LLVM
        self.block = "entry"
        # For index_arith.py: by register, its linear form in a loop counter; by counter, its range.
        self.linear_forms: dict[str, LinearForm] = {}
        self.counter_ranges: dict[Atom, Range] = {}
        # By counter and the register of an open size: the counter is below the size plus this number.
        self.counter_limits: dict[tuple[Atom, str], int] = {}

    def length(self) -> int:
        """Return the number of lines so far."""
        return len(self._lines)

    def take_lines(self, start: int) -> list[str]:
        """Remove and return the lines from `start` on."""
        lines, self._lines = self._lines[start:], self._lines[:start]
        return lines

    def append_block(self, lines: list[str], end: str) -> None:
        """Append removed lines, which begin with a label; `end` is the block that they leave open."""
        self.branch(lines[0].removesuffix(":"))
        self._lines += lines
        self.block = end

    def alloca(self, ir_type: str, initial: str | None = None) -> str:
        """Allocate memory for one value for the whole activation, initialised to `initial` if that is given."""
        self._name_count += 1
        name = f"%a{self._name_count}"
        self._allocas.append(f"  {name} = alloca {ir_type}")
        if initial is not None:
            self._allocas.append(f"  store {ir_type} {initial}, ptr {name}")
        return Operand.of(name, "ptr")

    def raise_at_end(self, error: str, ir_type: str, condition: str) -> None:
        """Have the function raise the processor's flag of an error as it returns, if the condition held at any time.

        A condition that is an integer holds where it is negative: its bits are joined, which vectorises best.
        """
        key = error, ir_type
        if key not in self._error_cells:
            self._error_cells[key] = self.alloca(ir_type, "0")
        cell = self._error_cells[key]
        self.line(f"store {ir_type} {self.new(f'or {ir_type} {self.load(ir_type, cell)}, {condition}')}, ptr {cell}")

    def append_to_entry(self, *lines: str) -> None:
        """Append lines to the entry block, after the allocas so far."""
        self._allocas += [f"  {line}" for line in lines]

    def slot(self) -> str:
        """Return a new pointer slot of the function's frame, initially null."""
        name = f"%slot{self.slot_count}"
        self._allocas.append(f"  {name} = getelementptr ptr, ptr %slots, i64 {self.slot_count}")
        self.slot_count += 1
        return Operand.of(name, "ptr")

    def label(self, stem: str = "b") -> str:
        """Return a new label, which begins with `stem`."""
        self._name_count += 1
        return f"{stem}{self._name_count}"

    def begin(self, label: str) -> None:
        """Start the block `label`; the block before must have ended with a branch."""
        self._lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch_back(self, head: str, hints: str) -> None:
        """Branch to the head of a loop, with hints for it (see `LoopBranch`)."""
        self._lines.append(LoopBranch.of(f"  br label %{head}", hints))

    def branch_if(self, condition: str, then: str, otherwise: str, unlikely: bool = False) -> None:
        weights = ", !prof !0" if unlikely else ""
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")

    # ---- structured control

    @contextmanager
    def if_(self, condition: str, unlikely: bool = False) -> Iterator[None]:
        """Write the statements of the `with` block, which run where the i1 holds."""
        then, done = self.label("then"), self.label("done")
        self.branch_if(condition, then, done, unlikely)
        self.begin(then)
        yield
        self.branch(done)
        self.begin(done)

    @contextmanager
    def unless(self, condition: str) -> Iterator[None]:
        """Write the statements of the `with` block, which run where the i1 does not hold."""
        otherwise, done = self.label("otherwise"), self.label("done")
        self.branch_if(condition, done, otherwise)
        self.begin(otherwise)
        yield
        self.branch(done)
        self.begin(done)

    @contextmanager
    def leaving(self, condition: str, unlikely: bool = False) -> Iterator[None]:
        """Write the statements of the `with` block, which run where the i1 holds, and end with a branch or a return."""
        then, go_on = self.label("leave"), self.label("stay")
        self.branch_if(condition, then, go_on, unlikely)
        self.begin(then)
        yield
        self.begin(go_on)

    def unlikely(self, condition: str) -> AbstractContextManager[None]:
        """Write a cold block, as `if_`."""
        return self.if_(condition, unlikely=True)

    def either(
        self, condition: str, first: Callable[[], Any], second: Callable[[], Any], unlikely: bool = False
    ) -> Operand:
        """Write an if-else: `first` where the i1 holds, `second` elsewhere. Return the phi of their results, if any."""
        first_label, second_label, done = self.label("this"), self.label("other"), self.label("done")
        self.branch_if(condition, first_label, second_label, unlikely)
        ends = []
        for label, write in ((first_label, first), (second_label, second)):
            self.begin(label)
            ends.append((write(), self.block))
            self.branch(done)
        self.begin(done)
        return Operand.of("", "void") if ends[0][0] is None else self.phi(*ends)

    def where(self, condition: str, write: Callable[[], Any], otherwise: object, unlikely: bool = False) -> Operand:
        """Return the value that `write` computes where the i1 holds, else `otherwise`, which exists already."""
        before, then, done = self.block, self.label("then"), self.label("done")
        self.branch_if(condition, then, done, unlikely)
        self.begin(then)
        value, end = write(), self.block
        self.branch(done)
        self.begin(done)
        return self.phi((otherwise, before), (value, end))

    def leave_if(self, condition: str, label: str) -> None:
        """Branch to a cold block if the i1 holds, else go on."""
        go_on = self.label("ok")
        self.branch_if(condition, label, go_on, unlikely=True)
        self.begin(go_on)

    def phi(self, *ends: tuple[object, str]) -> Operand:
        """Join values, each with the block that it comes from."""
        ir_type = type_of(*(value for value, _ in ends))
        return self._new_operand(
            ir_type, f"phi {ir_type} " + ", ".join(f"[ {check_type(x, ir_type)}, %{block} ]" for x, block in ends)
        )

    @contextmanager
    def while_(self, test: Callable[[], str]) -> Iterator[None]:
        """Write a loop around the statements of the `with` block; `test` writes the i1 on which it goes on."""
        head, body, done = self.label("while"), self.label("body"), self.label("done")
        self.branch(head)
        self.begin(head)
        self.branch_if(test(), body, done)
        self.begin(body)
        yield
        self.branch(head)
        self.begin(done)

    @contextmanager
    def loop_in_vectors(self, start: str, stop: str, divisor: int) -> Iterator[str]:
        """Write a `loop` whose trip count is a multiple of `divisor`.

        The count is masked so that LLVM can prove this and omits the remainder loop, which would be most of the code.
        """
        multiple = min(divisor & -divisor, _MAX_VECTOR_STEP)
        if multiple == 1 or (start.isdigit() and stop.isdigit()):
            with self.loop(start, stop) as i:
                yield i
            return
        count = self.op("and", self.sub(stop, start), -multiple)
        with self.loop("0", count, ordered=True) as i:
            yield i if start == "0" else self.add(start, i)

    @contextmanager
    def loop(
        self, start: str, stop: str, unrolled: bool = True, in_registers: bool = False, ordered: bool = False
    ) -> Iterator[Operand]:
        """Write a counted loop around the statements of the `with` block, which gets the i64 counter.

        The loop may have no iterations. If `unrolled` is true, LLVM may unroll a short loop; if `in_registers` is true,
        LLVM vectorises and fully unrolls a loop of any length. If `ordered` is true, `start` is never above `stop`.
        """
        head, body, done = self.label("loop"), self.label("body"), self.label("done")
        entry_block = self.block
        self.branch(head)
        self.begin(head)
        self._name_count += 1
        index = Operand.of(f"%i{self._name_count}", "i64")
        phi_line, unrolled_before = len(self._lines), self._unrolled_lines
        outer_has_rolled_loop, self._has_rolled_loop = self._has_rolled_loop, False
        self.line("")
        continues = self.new(f"icmp {'ne' if ordered else 'slt'} i64 {index}, {stop}")
        if stop.isdigit() and not ordered:
            self._lines[-1] = TripTest.of(f"  {continues} = icmp slt i64 {index}, ", stop)
        self.branch_if(continues, body, done)
        self.begin(body)
        yield index
        next_index = self.add(index, 1)
        self._lines[phi_line] = f"  {index} = phi i64 [ {start}, %{entry_block} ], [ {next_index}, %{self.block} ]"
        line_count = len(self._lines) - phi_line
        trip_count = int(stop) - int(start) if unrolled and start.isdigit() and stop.isdigit() else 0
        unrolled_count = (line_count + self._unrolled_lines - unrolled_before) * trip_count
        is_short = trip_count <= _MAX_UNROLLED_TRIPS and 0 < unrolled_count <= _MAX_UNROLLED_LINES
        if is_short and not in_registers and not self._has_rolled_loop:
            self._unrolled_lines = unrolled_before + unrolled_count - line_count
            self.branch(head)
            self._has_rolled_loop = outer_has_rolled_loop
        else:
            self.branch_back(head, FULLY_UNROLLED if in_registers else LONG_LOOP)
            self._has_hints = self._has_rolled_loop = True
        self.begin(done)

    def add_size_parameters(self, registers: Iterable[str], position: int) -> None:
        """Insert parameters of open sizes at a position of the signature."""
        self.signature.parameters[position:position] = [Parameter("i64", register) for register in registers]

    def used_sizes(self, number_of: Mapping[str, int]) -> tuple[str, ...]:
        """Return the registers of open sizes that lines use, in the order of their numbers."""
        used_registers = set(_SIZE_REGISTER.findall("\n".join([*self._allocas, *self._lines])))
        return tuple(sorted(used_registers & number_of.keys(), key=number_of.__getitem__))

    def finish(self, stem: str = "") -> str:
        """Add the function to the module and return its name, which begins with `stem` if the signature has none."""
        slot_lines = []
        if self.slot_count:
            lines, self._lines = self._lines, []
            self.clear("%slots", current_target().pointer * self.slot_count)
            slot_lines = [f"  %slots = alloca [{self.slot_count} x ptr]", *self._lines]
            self._lines = lines
        body = self._lines_with_raised_flags() if self._error_cells else self._lines
        lines = ["entry:", *slot_lines, *self._allocas, *body]
        has_loops, has_wide_vectors = self.has_element_loops or self._has_hints, current_target().has_wide_vectors
        function = Function(self.signature, lines, has_loops, self.has_descending_index, has_wide_vectors)
        return self.module.add(function, stem)

    def _lines_with_raised_flags(self) -> list[str]:
        """Return the lines with the flags of errors raised before each return."""
        lines, self._lines = self._lines, []
        for line in lines:
            if line.startswith("  ret "):
                for (error, ir_type), cell in self._error_cells.items():
                    flag = self.load(ir_type, cell)
                    with self.unlikely(flag if ir_type == "i1" else self.icmp("slt", flag, 0)):
                        self.line(f"call void {raising_function(self.module, error)}()")
            self._lines.append(line)
        return self._lines


def raising_function(module: ModuleText, error: str) -> str:
    """Return the name of a function that raises the processor's flag of an error.

    Its operand is volatile, so LLVM cannot evaluate the instruction at compile time.
    """
    name, (instruction, x, y) = f"raise_{error}", _FLAG_INSTRUCTIONS[error]
    return module.constant(
        name,
        f"""define internal void @{name}() noinline nounwind cold {{
  %cell = alloca double
  store volatile double {y}, ptr %cell
  %y = load volatile double, ptr %cell
  %found = {instruction} double {x}, %y
  store volatile double %found, ptr %cell
  ret void
}}""",
        "void",
    )
