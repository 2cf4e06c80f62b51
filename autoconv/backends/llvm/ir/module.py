"""Write LLVM's textual form: a module of globals, declarations and functions, and the lines of one function.

LLVM parses text in one go, in a fraction of the time that building the same module object by object takes from Python.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from autoconv.backends.llvm.ir.hidden_trip_counts import with_hidden_counts
from autoconv.backends.llvm.ir.metadata import ELEMENTS, FIRST_LOOP, LONG_LOOP, LOOP, MARKS, METADATA, WRITTEN_OUT

_DEFINED = re.compile(r"\s*define (?:internal )?\w+ @(\w+)\(")
_NAME = re.compile(r'@"?([\w.]+)')
# Characters of a function above which optimising takes minutes: the time grows faster than the length.
_LONGEST = 2_500_000
_SHARE, _MOST_SHARES = 4_000, 4  # characters of optimised text that are worth a thread; number of such texts


class ModuleText:
    """The parts of a module, split into several texts: functions worth a thorough compilation, and the others."""

    def __init__(self) -> None:
        self._declarations: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._functions: dict[str, str] = {}  # by name
        self._names: dict[str, str] = {}  # names of functions by their texts (without the name)
        self.recursive: dict[Any, str] = {}  # functions of recursive graphs
        self.sites: list[None] = []  # places in those that write to objects (see write_barrier.py)
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
