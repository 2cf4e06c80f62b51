"""What passes share: the context of one conversion, and a transformer that knows which function it is in.

Nothing here or in `analysis` is a dataclass: each takes half a millisecond to make, in every first call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from autoconv.errors import Place, UnsupportedError
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import FUNCTIONS, Rewritten, Transformer, Untraced


class Note(NamedTuple):
    """What became of one control-flow construct of the source (see emit.conversion.Construct)."""

    kind: str
    place: Place
    function: str
    form: str
    stages: bool
    reason: str = ""


class Context:
    """One conversion: the file, the user's lines, fresh names, what to leave alone and what was found.

    `generated` holds the nodes that passes made and that look like the user's, so that they are not taken for
    them. `staged_tries` are the try and with statements that are recorded round by round, `region_writes`
    what functions that regions became write of the names around them. `outer_names` are those of an
    outer function, converted elsewhere, that may find a name not assigned yet. `at_run_time`: whether one function is
    converted while the program runs, whose name `ag__` is one of a scope around it."""

    def __init__(
        self,
        filename: str,
        lines: list[str],
        namer: Namer,
        only: frozenset[str] | None = None,
        left_alone: frozenset[str] = frozenset(),
        first_line: int = 1,
    ) -> None:
        self.filename = filename
        self.lines = lines
        self.namer = namer
        self.only = only
        self.left_alone = left_alone
        self.first_line = first_line
        self.notes: list[Note] = []
        self.generated: dict[int, gast.AST] = {}
        self.exit_names: set[str] = set()
        self.statement_forms: dict[int, tuple[gast.AST, str]] = {}
        self.staged_tries: dict[int, gast.AST] = {}
        self.region_writes: dict[int, tuple[gast.AST, set[str]]] = {}
        self.noting = True
        self.outer_names: frozenset[str] = frozenset()
        self.at_run_time = False
        self._namers: dict[int, tuple[gast.AST, Namer]] = {}

    def namer_of(self, function: gast.AST) -> Namer:
        """The namer of one function: what one pass named is not named again by the next."""
        if id(function) not in self._namers:
            self._namers[id(function)] = function, self.namer.for_function()
        return self._namers[id(function)][1]

    def mark(self, node: Any) -> Any:
        """Remembers that a pass made this node."""
        self.generated[id(node)] = node
        return node

    def is_generated(self, node: gast.AST) -> bool:
        return id(node) in self.generated

    def place(self, node: gast.AST) -> Place:
        line = getattr(node, "lineno", 0)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        column = getattr(node, "col_offset", -1) + 1
        same_line = getattr(node, "end_lineno", line) == line
        end = getattr(node, "end_col_offset", -1) + 1 if same_line else len(text) + 1
        return Place(self.filename, line, column, end, text)

    def note(
        self, kind: str, node: gast.AST, function: str, form: str, stages: bool, reason: str = ""
    ) -> None:
        if self.noting and not self.is_generated(node):
            self.notes.append(Note(kind, self.place(node), function, form, stages, reason))

    def converts(self, function: str) -> bool:
        """Whether the function of that qualified name is to be converted (by its outermost function)."""
        return function not in self.left_alone and (
            self.only is None
            or any(function == chosen or function.startswith(chosen + ".") for chosen in self.only)
        )

    def unsupported(self, message: str, node: gast.AST, remedy: str) -> UnsupportedError:
        return UnsupportedError(message, self.place(node), remedy)


_ENTERED = (*FUNCTIONS, gast.ClassDef, gast.Module, Untraced, Rewritten)


class FunctionPass(Transformer):
    """Rewrites what is inside functions; modules and class bodies run once, when imported, and stay as they
    are.

    `function` is the qualified name of the function being rewritten, `class_name` the innermost class around
    it (for private names). Subclasses write `visit_Kind` methods, and `finish_function(node)` for what needs
    the whole."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.path: list[str] = []
        self.function = ""
        self.in_function = False
        self.class_name = ""
        self.function_node: Any = None
        self.namer = context.namer

    def visit(self, node: Any) -> Any:
        if not self.in_function and not isinstance(node, _ENTERED):
            return self.generic(node)
        return super().visit(node)

    def visit_FunctionDef(self, node: Any) -> Any:
        if self.context.is_generated(node):
            return self.generic(node)
        self.path.append(node.name)
        name = ".".join(self.path)
        if self.in_function or self.context.converts(name):
            self._outer_parts(node)
            before = self.in_function, self.function, self.function_node, self.namer
            self.in_function, self.function, self.function_node = True, name, node
            self.namer = self.context.namer_of(node)
            node = self.rewrite_function(node)
            self.in_function, self.function, self.function_node, self.namer = before
        self.path.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def rewrite_function(self, node: Any) -> Any:
        """Rewrites the body; what is around it (defaults, decorators) has been."""
        node.body = self.visit_list(node.body)
        return node

    def visit_Lambda(self, node: Any) -> Any:
        if self.context.is_generated(node):
            node.body = self.visit(node.body)
            return node
        if not self.in_function and not self.context.converts(".".join([*self.path, "<lambda>"])):
            return node
        self._outer_parts(node)
        before = self.in_function, self.function_node, self.function
        if not self.in_function:
            self.function = ".".join([*self.path, "<lambda>"])
        self.in_function, self.function_node = True, node
        node.body = self.visit(node.body)
        self.in_function, self.function_node, self.function = before
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        before = self.in_function, self.class_name
        if self.in_function:
            node.bases = self.visit_list(node.bases)
            node.keywords = self.visit_list(node.keywords)
            node.decorator_list = self.visit_list(node.decorator_list)
        self.path.append(node.name)
        self.in_function, self.class_name = False, node.name
        node.body = self.visit_list(node.body)
        self.in_function, self.class_name = before
        self.path.pop()
        return node

    def _outer_parts(self, node: Any) -> None:
        """Defaults and decorators belong to the scope around the function."""
        arguments = node.args
        arguments.defaults = self.visit_list(arguments.defaults)
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]
        if hasattr(node, "decorator_list"):
            node.decorator_list = self.visit_list(node.decorator_list)

    def visit_Untraced(self, node: Any) -> Any:
        """Only functions inside are rewritten; what becomes of them is noted where they stand a second time."""
        before, noting = self.in_function, self.context.noting
        self.in_function = self.context.noting = False
        node.kept = self.visit_list(node.kept)
        self.in_function, self.context.noting = before, noting
        return node

    def visit_Rewritten(self, node: Any) -> Any:
        before, self.in_function = self.in_function, True
        node.kept = self.visit_list(node.kept)
        self.in_function = before
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        """Annotations of locals are not evaluated: they stay."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def mangled(name: str, class_name: str) -> str:
    """The name that Python's private names get inside a class."""
    stripped = class_name.lstrip("_")
    if name.startswith("__") and not name.endswith("__") and stripped:
        return f"_{stripped}{name}"
    return name
