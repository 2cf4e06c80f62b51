"""Functions of a module as objects: parameters, signature, lines."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from autoconv.backends.llvm.ir.hidden_trip_counts import hide_trip_counts
from autoconv.lazy_dataclass import dataclass, field

_NAME = re.compile(r'@"?([\w.$-]+)')
_LABELS = re.compile(r"label %([\w.]+)")


def names_in(text: str) -> frozenset[str]:
    """Return the names of functions and globals that a text refers to."""
    return frozenset(_NAME.findall(text))


class Parameter(NamedTuple):
    """A parameter of a function, such as `ptr noalias readonly %x`."""

    type: str
    name: str
    attributes: str = ""

    @classmethod
    def of(cls, parameter: Parameter | str) -> Parameter:
        """Return a parameter; one that is spelled as in LLVM's text is split at its blanks."""
        return parameter if isinstance(parameter, Parameter) else _parse_parameter(parameter)

    @property
    def argument(self) -> str:
        """Return the parameter as the argument of a call in the function: without attributes."""
        return f"{self.type} {self.name}"

    def __str__(self) -> str:
        return f"{self.type} {self.attributes} {self.name}" if self.attributes else f"{self.type} {self.name}"


@functools.lru_cache(maxsize=10_000)
def _parse_parameter(text: str) -> Parameter:
    ir_type, *attributes, name = text.split(" ")
    return Parameter(ir_type, name, " ".join(attributes))


class Signature:
    """Result, parameters and attributes of a function. The module names a function that has no fixed name."""

    __slots__ = ("attributes", "exported", "name", "parameters", "result")

    def __init__(
        self,
        result: str,
        parameters: Iterable[Parameter | str],
        attributes: str = "noinline nounwind",
        name: str = "",
        exported: bool = False,
    ) -> None:
        self.result = result
        self.parameters = [Parameter.of(parameter) for parameter in parameters]
        self.attributes = attributes.split()
        self.name = name
        self.exported = exported

    @property
    def is_quick(self) -> bool:
        """Return whether the function is compiled without optimisation."""
        return "optnone" in self.attributes

    def text(self, keyword: str, name: str) -> str:
        """Return the header of the function's text; `keyword` is "define" or "define internal"."""
        return f"{keyword} {self.result} @{name}({', '.join(map(str, self.parameters))}) {' '.join(self.attributes)}"

    def declaration(self, name: str) -> str:
        """Return the declaration of the function in another text."""
        attributes = " ".join(attribute for attribute in self.attributes if attribute != "optnone")
        return f"declare {self.result} @{name}({', '.join(map(str, self.parameters))}) {attributes}"


# LLVM takes 256 bits by default, because the first processors with 512 bits slowed down.
_WIDE_VECTORS = ' "prefer-vector-width"="512"'


@dataclass(slots=True, eq=False)
class Function:
    """The finished text of a function."""

    signature: Signature
    lines: list[str]
    touches_elements: bool = False  # it has a loop over elements of an array, or a loop of the program
    has_descending_index: bool = False  # an index may fall from one iteration to the next
    takes_wide_vectors: bool = False  # loops use the widest vector registers
    name: str = ""
    referenced_names: frozenset[str] = field(init=False)  # functions and globals that it refers to

    def __post_init__(self) -> None:
        self.referenced_names = names_in("\n".join(self.lines))

    def replace_lines(self, lines: list[str]) -> None:
        self.lines, self.referenced_names = lines, names_in("\n".join(lines))

    def __len__(self) -> int:
        return len(self.text(self.lines))

    def has_backward_branch(self) -> bool:
        """Return whether a branch leads to a block that is written before it, as those of loops do."""
        written_blocks: set[str] = set()
        for line in self.lines:
            if line.endswith(":"):
                written_blocks.add(line[:-1])
            elif "label %" in line and not written_blocks.isdisjoint(_LABELS.findall(line)):
                return True
        return False

    def hide_counts(self) -> None:
        """Load the trip counts of loops from memory, if an index may fall."""
        if self.has_descending_index:
            self.lines = hide_trip_counts(self.lines)

    def text(self, lines: Iterable[str], exported: bool = False) -> str:
        """Return the text of the function with other lines in place of its own.

        Other modules can call the function if it is `exported`.
        """
        keyword = "define" if exported or self.signature.exported else "define internal"
        header = self.signature.text(keyword, self.name)
        if self.takes_wide_vectors and not self.signature.is_quick:
            header += _WIDE_VECTORS
        return "\n".join([f"{header} {{", *lines, "}"])
