"""Writing LLVM's textual form: a module of globals, declarations and functions, and the lines of one function.

Text is parsed by LLVM in one go, which takes a fraction of the time that building the same module object by object
takes from Python.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.backends.llvm.backwards import with_hidden_counts

QUICK = "noinline optnone"  # attributes of functions that are compiled quickly: they do little, or run rarely
# !5 and !6 mark what is known of lists and their items: no write to the one changes the other.
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

# Of a loop of more turns than these LLVM should write out none: what is left over behind the vectorised loop would be
# most of the code, and of the time that compiling takes.
_SHORT = 15
_MOST_LINES = 400  # nor of a loop that would be more lines than these, loops within it written out
# Characters of a function that would be optimised for minutes: the time grows faster than the length.
_LONGEST = 2_500_000
_SHARE, _MOST_SHARES = 4_000, 4  # letters of a thorough text that is worth a thread, and how many there are at most
_LOOP = "!llvm.loop"
_ELEMENTS = "; elements"  # a comment in a function that reads and writes them in loops of the program's own
_LONG_LOOP = "!LONG"  # stands for the mark of such a loop
_WRITTEN_OUT = "!WHOLE"  # for that of one whose vectors are to be written out, so that registers hold what it stores
_WIDEST = 64  # elements that a turn of a loop in vectors goes over, at most
_FIRST_LOOP = 10  # the number of the first one in a module


_MARKS = {
    _LONG_LOOP: '!{!"llvm.loop.unroll.disable"}',
    _WRITTEN_OUT: '!{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_vectorized", '
    '!{!"llvm.loop.unroll.full"}}',
}


class ModuleText:
    """The parts of a module, which becomes several texts: of functions that are worth a thorough compilation, and of
    the others."""

    def __init__(self) -> None:
        self._declarations: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._functions: dict[str, str] = {}  # by name
        self._names: dict[str, str] = {}  # of functions, by the text without the name
        self.recursive: dict[Any, str] = {}  # the functions of graphs that call themselves
        self.sites: list[None] = []  # places in these that write to objects (see noted_writes.py)
        self._count = 0
        self.has_loops = False  # which are worth a thorough compilation
        # The dimensions that only the call knows, and their registers: each function of a graph takes them.
        self.open: Any = None
        self.sizes: tuple[str, ...] = ()

    def declare(self, name: str, result: str, parameters: str, attributes: str = "") -> str:
        """Declares the function `name`; a second declaration of it changes nothing. Answers `@name`."""
        self._declarations.setdefault(name, f'declare {result} @"{name}"({parameters}) {attributes}')
        return f'@"{name}"'

    def constant(self, name: str, text: str) -> str:
        """Adds what stands in both texts where they refer to it, internal to each. Answers `@name`."""
        self._constants[name] = text
        return f"@{name}"

    def variable(self, name: str, kind: str) -> None:
        """Adds a variable that is zero at first, in the second of the texts, once."""
        self._variables[name] = kind

    def add(self, text: str) -> None:
        """Adds a function. Where its header says `optnone` it goes into the second text."""
        found = _DEFINED.match(text)
        assert found is not None
        self._functions[found[1]] = text

    def function(self, stem: str, text: str) -> str:
        """Adds a function whose text has FUNCTION for its name, once for all of the same text; answers the name."""
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = self.unique(stem)
            self._functions[name] = text.replace("FUNCTION", name, 1)
        return name

    def unique(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def texts(self) -> dict[str, int]:
        """The texts with the level that each is compiled at, which call each other's functions: at 3 as many as are
        worth a thread each, at 1 what goes over no elements itself, at 0 what only calls, or is very long. How many
        they are depends on their sizes alone."""
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
        return name in self._names.values() or _LOOP in text or _ELEMENTS in text

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
    """The text with the marks of long loops numbered, each of which is another."""
    first, *rest = re.split(f"({_LONG_LOOP}|{_WRITTEN_OUT})", text)
    kinds = dict(zip(itertools.count(_FIRST_LOOP), rest[::2], strict=False))
    text = first + "".join(f"!{mark}{part}" for mark, part in zip(kinds, rest[1::2], strict=True))
    return text + "\n".join(f"!{mark} = distinct !{{!{mark}, {_MARKS[kind]}}}" for mark, kind in kinds.items())


class FunctionText:
    """The body of one function, written from top to bottom; allocas gather at its entry."""

    def __init__(self, module: ModuleText, header: str) -> None:
        self.module = module
        self.header = header
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._repeated = 0  # lines that loops which are written out will be more than they are here
        self.slots = 0
        self.goes_over_elements = False  # one by one, in loops that are written as the program has them
        self.block = "entry"
        # What positions knows of registers: counter, factor and offset; of counters: from where to where they go, and
        # at which counts something in their loops changes.
        self.lines: dict[str, tuple[str, int, int]] = {}
        self.limits: dict[str, tuple[int, int]] = {}
        self.cuts: dict[str, set[int]] = {}

    def new(self, text: str) -> str:
        """Appends `%name = text` and answers the name."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def length(self) -> int:
        """How many lines there are so far."""
        return len(self._lines)

    def take(self, start: int) -> list[str]:
        """The lines from there on, which are left out."""
        lines, self._lines = self._lines[start:], self._lines[:start]
        return lines

    def append_block(self, lines: list[str], end: str) -> None:
        """Goes on with lines that were taken, which begin with a label; `end` is the block that they leave open."""
        self.branch(lines[0].removesuffix(":"))
        self._lines += lines
        self.block = end

    def line(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def alloca(self, kind: str, start: str | None = None) -> str:
        """Memory for one value, for the whole activation; holds `start` from the entry on where that is given."""
        self._count += 1
        name = f"%a{self._count}"
        self._allocas.append(f"  {name} = alloca {kind}")
        if start is not None:
            self._allocas.append(f"  store {kind} {start}, ptr {name}")
        return name

    def first(self, *lines: str) -> None:
        """Lines for the entry, behind the allocas so far."""
        self._allocas += [f"  {line}" for line in lines]

    def slot(self) -> str:
        """One of the pointers of the function's frame, which are null at first."""
        name = f"%slot{self.slots}"
        self._allocas.append(f"  {name} = getelementptr ptr, ptr %slots, i64 {self.slots}")
        self.slots += 1
        return name

    def label(self, stem: str = "b") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """Starts the block `label`; the one before has to have ended with a branch."""
        self._lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str, unlikely: bool = False) -> None:
        weights = ", !prof !0" if unlikely else ""
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")

    @contextmanager
    def loop_in_vectors(self, start: str, stop: str, turns: int) -> Iterator[str]:
        """`loop`, whose turns are known to be a multiple of `turns`: where LLVM sees that none are left over
        behind its vectors, it writes no code for those, which would be more than the rest."""
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
        """A counted loop; the block inside is its body, and gets the i64 that counts. Trips may be none. `unrolled`:
        LLVM may write out a short one turn by turn; `in_registers`: the vectors of one that is long. `whole`: it does
        not start behind its end."""
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
        mark = _WRITTEN_OUT if in_registers else _LONG_LOOP
        self.line(f"br label %{head}" + ("" if short else f", !llvm.loop {mark}"))
        self.begin(done)

    def text(self) -> str:
        frame = []
        if self.slots:
            self.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
            clear = f'call void @"llvm.memset.p0.i64"(ptr %slots, i8 0, i64 {8 * self.slots}, i1 false)'
            frame = [f"  %slots = alloca [{self.slots} x ptr]", f"  {clear}"]
        start = [f"  {_ELEMENTS}"] if self.goes_over_elements else []
        return "\n".join([self.header + " {", "entry:", *start, *frame, *self._allocas, *self._lines, "}"])
