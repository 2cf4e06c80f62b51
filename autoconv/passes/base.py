"""Context of one conversion, and base class of the passes, which tracks the enclosing function.

No class here or in `analysis` is a dataclass: defining one takes 0.5 ms, in every first call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from autoconv.errors import Place, UnsupportedError
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import FUNCTIONS, RewrittenStatements, Transformer, UntracedStatements


class Note(NamedTuple):
    """The emitted form of one control-flow construct; `emit.conversion.Construct` documents the fields."""

    kind: str
    place: Place
    function: str
    form: str
    stages: bool
    reason: str = ""


class Context:
    """State of one conversion: the file, the user's lines, fresh names, and notes.

    `only`: the qualified names of the functions to convert, None for all. `excluded`: those to leave as they are.
    The keys of the dicts are ids of nodes; each value contains its node, which keeps the node alive and its id unique.
    `generated`: the nodes that passes made, to tell them apart from user code of the same shape. `exit_names`: the
    variables of exit codes and return values. `statement_forms`: for each if or loop that stays a statement, the
    reason. `staged_tries`: the try and with statements that are recorded in rounds. `region_writes`: for each region
    function, the outer names that it writes. `records_notes`: False inside the untraced copy of a function, which has
    no notes. `outer_names`: names of an outer function, converted separately, that may be unassigned. `at_run_time`:
    True if a single function is converted while the program runs, with `ag__` as a free variable.
    """

    def __init__(
        self,
        filename: str,
        lines: list[str],
        namer: Namer,
        only: frozenset[str] | None = None,
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.filename = filename
        self.lines = lines
        self.namer = namer
        self.only = only
        self.excluded = excluded
        self.notes: list[Note] = []
        self.generated: dict[int, gast.AST] = {}
        self.exit_names: set[str] = set()
        self.statement_forms: dict[int, tuple[gast.AST, str]] = {}
        self.staged_tries: dict[int, gast.AST] = {}
        self.region_writes: dict[int, tuple[gast.AST, set[str]]] = {}
        self.records_notes = True
        self.outer_names: frozenset[str] = frozenset()
        self.at_run_time = False
        self._namers: dict[int, tuple[gast.AST, Namer]] = {}

    def namer_of(self, function: gast.AST) -> Namer:
        """Return the namer of one function; names made by one pass are not reused by the next."""
        if id(function) not in self._namers:
            self._namers[id(function)] = function, self.namer.for_function()
        return self._namers[id(function)][1]

    def mark_generated(self, node: Any) -> Any:
        """Register a node as made by a pass."""
        self.generated[id(node)] = node
        return node

    def is_generated(self, node: gast.AST) -> bool:
        return id(node) in self.generated

    def place(self, node: gast.AST) -> Place:
        """Return the place of a node in the user's source, with the text of its line."""
        line = getattr(node, "lineno", 0)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        column = getattr(node, "col_offset", -1) + 1
        is_on_one_line = getattr(node, "end_lineno", line) == line
        end_column = getattr(node, "end_col_offset", -1) + 1 if is_on_one_line else len(text) + 1
        return Place(self.filename, line, column, end_column, text)

    def note(
        self, kind: str, node: gast.AST, function: str, form: str, stages: bool, reason: str = ""
    ) -> None:
        if self.records_notes and not self.is_generated(node):
            self.notes.append(Note(kind, self.place(node), function, form, stages, reason))

    def converts(self, function: str) -> bool:
        """Return whether the function of that qualified name is to be converted (decided by its outermost function)."""
        return function not in self.excluded and (
            self.only is None
            or any(function == prefix or function.startswith(prefix + ".") for prefix in self.only)
        )

    def unsupported(self, message: str, node: gast.AST, remedy: str) -> UnsupportedError:
        return UnsupportedError(message, self.place(node), remedy)


# Kinds of nodes whose methods are called outside of functions; of other nodes only the children are visited there.
_ENTERED_KINDS = (*FUNCTIONS, gast.ClassDef, gast.Module, UntracedStatements, RewrittenStatements)


class FunctionPass(Transformer):
    """Base of passes that rewrite functions; modules and class bodies run once, at import, and stay as they are.

    `path` has the names of the enclosing classes and functions. `function` is the qualified name of the function being
    rewritten, `class_name` the innermost class around it (for private names). Subclasses define a method `visit_Kind`
    for each kind of node, and override `rewrite_function` to rewrite a whole function.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.path: list[str] = []
        self.function = ""
        self.in_function = False
        self.class_name = ""
        self.function_node: Any = None
        self.namer = context.namer

    def visit(self, node: Any) -> Any:
        if not self.in_function and not isinstance(node, _ENTERED_KINDS):
            return self.visit_children(node)
        return super().visit(node)

    def visit_FunctionDef(self, node: Any) -> Any:
        """Visit a function to convert by `rewrite_function`, with its name and namer as the enclosing ones."""
        if self.context.is_generated(node):
            return self.visit_children(node)
        self.path.append(node.name)
        name = ".".join(self.path)
        if self.in_function or self.context.converts(name):
            self._rewrite_outer_parts(node)
            outer_state = self.in_function, self.function, self.function_node, self.namer
            self.in_function, self.function, self.function_node = True, name, node
            self.namer = self.context.namer_of(node)
            node = self.rewrite_function(node)
            self.in_function, self.function, self.function_node, self.namer = outer_state
        self.path.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def rewrite_function(self, node: Any) -> Any:
        """Rewrite the body; defaults and decorators have been rewritten."""
        node.body = self.visit_list(node.body)
        return node

    def visit_Lambda(self, node: Any) -> Any:
        """Visit the body of a lambda to convert, as the innermost enclosing function."""
        if self.context.is_generated(node):
            node.body = self.visit(node.body)
            return node
        if not self.in_function and not self.context.converts(".".join([*self.path, "<lambda>"])):
            return node
        self._rewrite_outer_parts(node)
        outer_state = self.in_function, self.function_node, self.function
        if not self.in_function:
            self.function = ".".join([*self.path, "<lambda>"])
        self.in_function, self.function_node = True, node
        node.body = self.visit(node.body)
        self.in_function, self.function_node, self.function = outer_state
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        """Visit the body of a class, whose code runs outside of the enclosing function's state."""
        outer_state = self.in_function, self.class_name
        if self.in_function:
            node.bases = self.visit_list(node.bases)
            node.keywords = self.visit_list(node.keywords)
            node.decorator_list = self.visit_list(node.decorator_list)
        self.path.append(node.name)
        self.in_function, self.class_name = False, node.name
        node.body = self.visit_list(node.body)
        self.in_function, self.class_name = outer_state
        self.path.pop()
        return node

    def _rewrite_outer_parts(self, node: Any) -> None:
        """Rewrite defaults and decorators, which belong to the enclosing scope."""
        arguments = node.args
        arguments.defaults = self.visit_list(arguments.defaults)
        arguments.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]
        if hasattr(node, "decorator_list"):
            node.decorator_list = self.visit_list(node.decorator_list)

    def visit_UntracedStatements(self, node: Any) -> Any:
        """Rewrite only the functions in the statements, without notes, which are made for the traced copy."""
        outer_in_function, outer_records_notes = self.in_function, self.context.records_notes
        self.in_function = self.context.records_notes = False
        node.statements = self.visit_list(node.statements)
        self.in_function, self.context.records_notes = outer_in_function, outer_records_notes
        return node

    def visit_RewrittenStatements(self, node: Any) -> Any:
        outer_in_function, self.in_function = self.in_function, True
        node.statements = self.visit_list(node.statements)
        self.in_function = outer_in_function
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        """Leave the annotation, which is not evaluated for a local name."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def mangle(name: str, class_name: str) -> str:
    """Return Python's name for a private name inside a class."""
    class_stem = class_name.lstrip("_")
    if name.startswith("__") and not name.endswith("__") and class_stem:
        return f"_{class_stem}{name}"
    return name
