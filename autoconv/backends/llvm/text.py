"""Write LLVM's textual form: a module of globals, declarations and functions, and the lines of one function.

LLVM parses text in one go, in a fraction of the time that building the same module object by object takes from Python.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.backends.llvm.backwards import with_hidden_counts

QUICK = "noinline optnone"  # Attributes of functions to compile quickly: they do little, or run rarely.
# !5 and !6 are the alias classes (TBAA) of lists and of their items: a write to one never changes the other.
METADATA = """
!0 = !{!"branch_weights", i32 1, i32 1000000}
!1 = !{}
!2 = !{!"lists"}
!3 = !{!"list", !2, i64 0}
!4 = !{!"items", !2, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!4, !4, i64 0}
"""
_DEFINED = re.compile(r"\s*define (?:internal )?\w+ @(\w+)\(")
_NAME = re.compile(r'@"?([\w.]+)')

# Trip count above which LLVM may not unroll a loop: the remainder after the vectorised loop would be most of the
# code, and of the compile time.
_SHORT = 15
_MOST_LINES = 400  # lines of a loop after unrolling, inner loops unrolled too; larger loops stay rolled
# Characters of a function above which optimising takes minutes: the time grows faster than the length.
_LONGEST = 2_500_000
_SHARE, _MOST_SHARES = 4_000, 4  # characters of optimised text that are worth a thread; number of such texts
LOOP = "!llvm.loop"
ELEMENTS = "; elements"  # marks a function that accesses elements in loops of the program itself
LONG_LOOP = "!LONG"  # placeholder for the metadata of a loop that is not unrolled
WRITTEN_OUT = "!WHOLE"  # placeholder for a loop to vectorise and unroll fully, so that stored values stay in registers
_WIDEST = 64  # most elements that one iteration of a vectorised loop covers
FIRST_LOOP = 10  # number of a module's first loop metadata node


MARKS = {
    LONG_LOOP: '!{!"llvm.loop.unroll.disable"}',
    WRITTEN_OUT: '!{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_vectorized", '
    '!{!"llvm.loop.unroll.full"}}',
}


class ModuleText:
    """The parts of a module, split into several texts: functions worth a thorough compilation, and the others."""

    def __init__(self) -> None:
        self._declarations: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._functions: dict[str, str] = {}  # by name
        self._names: dict[str, str] = {}  # names of functions by their texts (without the name)
        self.recursive: dict[Any, str] = {}  # functions of recursive graphs
        self.sites: list[None] = []  # places in those that write to objects (see noted_writes.py)
        self._count = 0
        self.has_loops = False  # loops are worth a thorough compilation
        # Dimensions bound at the call, and their registers, which each function of a graph takes as parameters.
        self.open: Any = None
        self.sizes: tuple[str, ...] = ()

    def declare(self, name: str, result: str, parameters: str, attributes: str = "") -> str:
        """Declare the function `name`, once, and return `@name`."""
        self._declarations.setdefault(name, f'declare {result} @"{name}"({parameters}) {attributes}')
        return f'@"{name}"'

    def constant(self, name: str, text: str) -> str:
        """Add a definition that is internal to each text that refers to it; return `@name`."""
        self._constants[name] = text
        return f"@{name}"

    def variable(self, name: str, kind: str) -> None:
        """Add a zero-initialised variable, once; the last text defines it."""
        self._variables[name] = kind

    def add(self, text: str) -> None:
        """Add a function; one with `optnone` in its header goes to the quickly compiled text."""
        found = _DEFINED.match(text)
        assert found is not None
        self._functions[found[1]] = text

    def function(self, stem: str, text: str) -> str:
        """Add a function whose text has FUNCTION for its name, and return the name; equal texts are added once."""
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = self.unique(stem)
            self._functions[name] = text.replace("FUNCTION", name, 1)
        return name

    def unique(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def texts(self) -> dict[str, int]:
        """Return the texts, which call each other's functions, with the optimisation level of each.

        Level 3: as many texts as are worth a thread each. Level 1: functions without loops over elements. Level 0:
        functions that only call, or are very long. The number of texts depends on the sizes of the functions alone.
        """
        quick = {
            name: text
            for name, text in self._functions.items()
            if " optnone" in text.partition("\n")[0] or len(text) > _LONGEST
        }
        brief = {
            name: text
            for name, text in self._functions.items()
            if name not in quick and not (self.has_loops and self._is_of_elements(name, text))
        }
        thorough = {
            name: with_hidden_counts(text)
            for name, text in self._functions.items()
            if name not in quick and name not in brief
        }
        wanted = min(sum(map(len, thorough.values())) // _SHARE, _MOST_SHARES) or 1
        shares: list[dict[str, str]] = [{} for _ in range(wanted)]
        for name in sorted(thorough, key=lambda name: -len(thorough[name])):
            least = min(shares, key=lambda share: sum(map(len, share.values())))
            least[name] = thorough[name]
        parts = [({name: text for name, text in thorough.items() if name in share}, 3) for share in shares]
        found = {}
        for part, level in [*parts, (brief, 1), (quick, 0)]:
            if part or not level:
                others = {name: text for name, text in self._functions.items() if name not in part}
                found[self._text(part, others, variables=part is quick)] = level
        return found

    def _is_of_elements(self, name: str, text: str) -> bool:
        return name in self._names.values() or LOOP in text or ELEMENTS in text

    def _text(self, own: dict[str, str], others: dict[str, str], variables: bool = False) -> str:
        body = "\n".join(own.values())
        constants = self._referred(self._constants, body)
        names = {*_NAME.findall(body), *_NAME.findall("\n".join(constants))}
        wanted = set(_NAME.findall("\n".join(others.values())))
        for name in own.keys() & wanted:
            body = body.replace(own[name], own[name].replace("define internal ", "define ", 1), 1)
        lines = [text for name, text in self._declarations.items() if name in names]
        lines += [_declaration(text) for name, text in others.items() if name in names]
        for name, kind in self._variables.items():
            if variables:
                lines.append(f"@{name} = global {kind} zeroinitializer")
            elif name in names:
                lines.append(f"@{name} = external global {kind}")
        return _marked("\n".join([*lines, *constants, body, METADATA]))

    @staticmethod
    def _referred(texts: dict[str, str], body: str) -> list[str]:
        names = set(_NAME.findall(body))
        return [text for name, text in texts.items() if name in names]


def _declaration(text: str) -> str:
    header = text.partition("\n")[0].replace("define internal ", "declare ").replace("define ", "declare ")
    return header.replace(" optnone", "").removesuffix("{")


def _marked(text: str) -> str:
    """Replace each placeholder of a loop by metadata of its own."""
    first, *rest = re.split(f"({LONG_LOOP}|{WRITTEN_OUT})", text)
    kinds = dict(zip(itertools.count(FIRST_LOOP), rest[::2], strict=False))
    text = first + "".join(f"!{mark}{part}" for mark, part in zip(kinds, rest[1::2], strict=True))
    return text + "\n".join(f"!{mark} = distinct !{{!{mark}, {MARKS[kind]}}}" for mark, kind in kinds.items())


class FunctionText:
    """The body of one function, written from top to bottom; allocas gather in its entry block."""

    def __init__(self, module: ModuleText, header: str) -> None:
        self.module = module
        self.header = header
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._repeated = 0  # lines that unrolling will add
        self.slots = 0
        self.goes_over_elements = False  # in loops that are written as the program has them
        self.block = "entry"
        # For positions.py: registers as counter, factor and offset; the ranges of counters; the counts at which the
        # behaviour of a counter's loop changes.
        self.lines: dict[str, tuple[str, int, int]] = {}
        self.limits: dict[str, tuple[int, int]] = {}
        self.cuts: dict[str, set[int]] = {}

    def new(self, text: str) -> str:
        """Append `%name = text` and return the name."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def length(self) -> int:
        """Return the number of lines so far."""
        return len(self._lines)

    def take(self, start: int) -> list[str]:
        """Remove and return the lines from `start` on."""
        lines, self._lines = self._lines[start:], self._lines[:start]
        return lines

    def append_block(self, lines: list[str], end: str) -> None:
        """Append removed lines, which begin with a label; `end` is the block that they leave open."""
        self.branch(lines[0].removesuffix(":"))
        self._lines += lines
        self.block = end

    def line(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def alloca(self, kind: str, start: str | None = None) -> str:
        """Allocate memory for one value for the whole activation, initialised to `start` if that is given."""
        self._count += 1
        name = f"%a{self._count}"
        self._allocas.append(f"  {name} = alloca {kind}")
        if start is not None:
            self._allocas.append(f"  store {kind} {start}, ptr {name}")
        return name

    def first(self, *lines: str) -> None:
        """Append lines to the entry block, after the allocas so far."""
        self._allocas += [f"  {line}" for line in lines]

    def slot(self) -> str:
        """Return a new pointer slot of the function's frame, initially null."""
        name = f"%slot{self.slots}"
        self._allocas.append(f"  {name} = getelementptr ptr, ptr %slots, i64 {self.slots}")
        self.slots += 1
        return name

    def label(self, stem: str = "b") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """Start the block `label`; the block before must have ended with a branch."""
        self._lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str, unlikely: bool = False) -> None:
        weights = ", !prof !0" if unlikely else ""
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")

    @contextmanager
    def loop_in_vectors(self, start: str, stop: str, turns: int) -> Iterator[str]:
        """Write a `loop` whose trip count is a multiple of `turns`.

        The count is masked so that LLVM can prove it, and emits no remainder loop, which would be larger than the rest.
        """
        multiple = min(turns & -turns, _WIDEST)
        if multiple == 1 or (start.isdigit() and stop.isdigit()):
            with self.loop(start, stop) as i:
                yield i
            return
        count = self.new(f"and i64 {self.new(f'sub nsw i64 {stop}, {start}')}, {-multiple}")
        with self.loop("0", count, whole=True) as i:
            yield i if start == "0" else self.new(f"add nsw i64 {start}, {i}")

    @contextmanager
    def loop(
        self, start: str, stop: str, unrolled: bool = True, in_registers: bool = False, whole: bool = False
    ) -> Iterator[str]:
        """Write a counted loop around the statements of the `with` block, which gets the i64 counter.

        It may have no iterations. `unrolled`: LLVM may unroll a short loop; `in_registers`: it vectorises and fully
        unrolls a long one. `whole`: `start` is not above `stop`.
        """
        head, body, done = self.label("loop"), self.label("body"), self.label("done")
        before = self.block
        self.branch(head)
        self.begin(head)
        self._count += 1
        index = f"%i{self._count}"
        at, repeated = len(self._lines), self._repeated
        self.line("")
        inside = self.new(f"icmp {'ne' if whole else 'slt'} i64 {index}, {stop}")
        self.branch_if(inside, body, done)
        self.begin(body)
        yield index
        after = self.new(f"add nsw i64 {index}, 1")
        self._lines[at] = f"  {index} = phi i64 [ {start}, %{before} ], [ {after}, %{self.block} ]"
        lines = len(self._lines) - at
        turns = int(stop) - int(start) if unrolled and start.isdigit() and stop.isdigit() else 0
        written_out = (lines + self._repeated - repeated) * turns
        short = turns <= _SHORT and 0 < written_out <= _MOST_LINES
        short = short and not in_registers
        if short:
            self._repeated = repeated + written_out - lines
        mark = WRITTEN_OUT if in_registers else LONG_LOOP
        self.line(f"br label %{head}" + ("" if short else f", !llvm.loop {mark}"))
        self.begin(done)

    def text(self) -> str:
        frame = []
        if self.slots:
            self.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
            clear = f'call void @"llvm.memset.p0.i64"(ptr %slots, i8 0, i64 {8 * self.slots}, i1 false)'
            frame = [f"  %slots = alloca [{self.slots} x ptr]", f"  {clear}"]
        start = [f"  {ELEMENTS}"] if self.goes_over_elements else []
        return "\n".join([self.header + " {", "entry:", *start, *frame, *self._allocas, *self._lines, "}"])
