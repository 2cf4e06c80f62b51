"""Options and result of converting a module."""

from __future__ import annotations

from collections.abc import Mapping

from autoconv.errors import Place
from autoconv.lazy_dataclass import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a conversion.

    `compile_names`: qualified names (`f`, `Class.method`) to decorate with @autoconv.compile; `compile_all`: every
    function at the top level. `rename_imports`: top-level package -> its replacement. `keep_going`: a function that
    cannot be converted stays unchanged, with a comment. `comments`: keep comments above statements. `only`: the
    qualified names to convert, None for all. `last_pass`: stop after that pass (see autoconv.passes.PASSES). `skip`:
    names of passes that do not run. `source_path`: path of the source relative to the folder of the output; with it
    the converted module shows the user's lines.
    """

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
    """A construct that cannot be converted: message, position, function, and what to write instead."""

    message: str
    place: Place
    function: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Construct:
    """One if, while, for, and, or, conditional expression or comprehension of the source.

    `form` is the emitted form: "functional" (a region with explicit state), "operator" (and, or, not …), "statement" or
    "plain" (unchanged). A "statement" stays one, but its test goes through an operator, as in a region with a yield.
    `stages`: whether the construct becomes part of a graph if its test or iterable is a tensor; if not, `reason` has
    the cause.
    """

    kind: str
    place: Place
    function: str
    form: str
    stages: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting a module.

    `text`: the converted module. `origins[k]`: the source line of output line k+1, 0 if there is none.

    `functions`: the qualified names of its functions. `generated`: the names of the region functions, which are parts
    of the user's functions.
    """

    text: str
    origins: tuple[int, ...]
    diagnostics: tuple[Diagnostic, ...]
    constructs: tuple[Construct, ...]
    functions: tuple[str, ...]
    generated: tuple[str, ...] = ()
