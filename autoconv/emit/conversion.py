"""What converting a module is asked for and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autoconv.errors import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`compile_names`: qualified names (`f`, `Class.method`) to put under @autoconv.compile; `compile_all`: every
    function at the top level. `rename_imports`: top-level package -> its replacement. `keep_going`: a function that
    cannot be converted stays as it is, with a comment. `comments`: keep comments above statements. `only`: the
    qualified names to convert, None for all. `last_pass`: stop after that pass (see autoconv.passes.PASSES).
    `source_path`: where the source is, seen from the folder of the output; with it the converted module shows the
    user's lines."""

    compile_names: frozenset[str] = frozenset()
    compile_all: bool = False
    rename_imports: Mapping[str, str] = field(default_factory=dict)
    keep_going: bool = False
    comments: bool = True
    only: frozenset[str] | None = None
    last_pass: str | None = None
    skip: frozenset[str] = frozenset()
    source_path: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One construct that cannot be converted: what, where, in which function, and what to write instead."""

    message: str
    place: Place
    function: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Construct:
    """One if, while, for, and, or, conditional expression or comprehension of the source.

    `form` says what it became: "functional" (a region with explicit state), "operator" (and, or, not …), "statement"
    (its own statement, whose test goes through an operator: regions that hold a yield, say) or "plain" (left as it
    was). `stages` says whether it becomes part of a graph on a tensor; if not, `reason` says why.
    """

    kind: str
    place: Place
    function: str
    form: str
    stages: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """`text`: the converted module. `origins[k]`: the source line of output line k+1, 0 when there is none.
    `generated`: the names of functions that are parts of the user's."""

    text: str
    origins: tuple[int, ...]
    diagnostics: tuple[Diagnostic, ...]
    constructs: tuple[Construct, ...]
    functions: tuple[str, ...]
    generated: tuple[str, ...] = ()
