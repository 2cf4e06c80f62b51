"""Print standard-library `ast` trees as source text, with a map from output lines to source lines.

The statement layout builds on `astunparse`. Expressions are printed here with the fewest parentheses that preserve the
tree; patterns and nodes newer than this module go to `ast.unparse`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from astunparse import Unparser  # type: ignore[import-untyped]

from autoconv.emit.expressions import (
    DEFINITIONS,
    SYMBOL_AND_PRECEDENCE_BY_OPERATOR,
    YIELDS,
    aliases_text,
    arguments_text,
    expression_text,
    line_of,
    parameters_text,
    triple_quoted,
    type_parameters_text,
    unparenthesised_text,
)
from autoconv.emit.line_wrapping import MAX_COLUMNS, wrap_statement
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """Source text with the origin of its lines.

    `origins[k]` is the source line (1-based, 0 when unknown) of the statement that printed output
    line `k + 1`; the blank lines above a statement count as printed by that statement.
    """

    text: str
    origins: tuple[int, ...]


def print_tree(tree: ast.AST, comments: Mapping[int, Sequence[str]] | None = None) -> Printed:
    """Print `tree`, with `comments[line]` above the first printed statement of that source line.

    Comments are `# ...` lines without indentation. Those of a decorated definition belong to the line of its
    first decorator. Comments of lines that no printed statement came from are left out.
    """
    printer = _Printer(comments or {})
    printer.print_root(tree)
    return printer.result()


def unparse(tree: ast.AST) -> str:
    """Return the source text of any tree, statement or expression, ending with one newline."""
    return print_tree(tree).text


class _Printer(Unparser):  # type: ignore[misc]
    """Printer of statements: one method for each kind of node, named as in `astunparse`."""

    def __init__(self, comments: Mapping[int, Sequence[str]]) -> None:
        """Prepare to print; `_margin` is the line break with the indentation, `_line` the current source line."""
        # The inherited constructor prints at once and to a file, so it is not called.
        self.future_imports: list[str] = []
        self._comments = dict(comments)
        self._pieces: list[str] = []
        self._origins: list[int] = []
        self._indent = 0
        self._margin = "\n"
        self._line = 0

    def print_root(self, tree: ast.AST) -> None:
        """Print a module, a statement or an expression."""
        if isinstance(tree, (ast.Module, ast.Interactive)):
            self._body(tree.body)
        elif isinstance(tree, ast.stmt):
            self._body([tree])
        else:
            expression = tree.body if isinstance(tree, ast.Expression) else tree
            self._begin(expression)
            self.fill(expression_text(expression))

    def result(self) -> Printed:
        """Return what was printed so far, without the line break before the first line."""
        return Printed("".join(self._pieces)[1:] + "\n", tuple(self._origins or [0]))

    # Primitives of the inherited methods.

    def fill(self, text: str = "") -> None:
        self._pieces.append(self._margin)
        self._origins.append(self._line)
        if len(text) + len(self._margin) > MAX_COLUMNS and not text.startswith("#"):
            text = "\n".join(wrap_statement(text, 4 * self._indent))
        self.write(text)

    def write(self, text: str) -> None:
        self._pieces.append(text)
        if "\n" in text:
            self._origins.extend([self._line] * text.count("\n"))

    def enter(self) -> None:
        self._pieces.append(":")
        self._indent += 1
        self._margin = "\n" + "    " * self._indent

    def leave(self) -> None:
        self._indent -= 1
        self._margin = "\n" + "    " * self._indent

    def dispatch(self, tree: Any) -> None:
        self.write(expression_text(tree))

    # Statements and their blocks.

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        """Print statements, with blank lines around definitions."""
        blank_lines = 1 if self._indent else 2
        after_definition = False
        for position, statement in enumerate(statements):
            is_definition = isinstance(statement, DEFINITIONS)
            decorators = getattr(statement, "decorator_list", None)
            self._line = line_of(decorators[0] if decorators else statement)
            if position and (is_definition or after_definition):
                self._pieces.append("\n" * blank_lines)
                self._origins.extend([self._line] * blank_lines)
            after_definition = is_definition
            self._print_comments()
            getattr(self, "_" + type(statement).__name__, self._print_by_library)(statement)

    def _begin(self, node: ast.AST) -> None:
        """Record that the lines printed from now on come from `node`, and print its comments."""
        self._line = line_of(node)
        self._print_comments()

    def _print_comments(self) -> None:
        """Print the comments of the current source line, once."""
        if self._line in self._comments:
            for comment in self._comments.pop(self._line):
                self.fill(comment)

    def _block(self, header: str, body: Sequence[ast.stmt]) -> None:
        """Print a header and the statements below it."""
        line = self._line
        self.fill(header)
        self.enter()
        self._body(body)
        self.leave()
        self._line = line

    def _optional_block(self, header: str, body: Sequence[ast.stmt]) -> None:
        """Print a block unless it is empty, as that of an absent else."""
        if body:
            self._block(header, body)

    def _print_by_library(self, node: ast.stmt) -> None:
        """Print a statement newer than this module by `ast.unparse`, in nested blocks for its indentation."""
        for _ in range(self._indent):
            node = ast.If(test=ast.Constant(value=True), body=[node], orelse=[])
        for line in ast.unparse(node).strip("\n").split("\n")[self._indent :]:
            self._pieces.append("\n" + line)
            self._origins.append(self._line)

    def _FunctionDef(self, node: Any, keyword: str = "def") -> None:
        returns = f" -> {expression_text(node.returns)}" if node.returns else ""
        signature = f"{type_parameters_text(node)}({parameters_text(node.args)}){returns}"
        self._definition(node, f"{keyword} {node.name}{signature}")

    def _AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(node, "async def")

    def _ClassDef(self, node: ast.ClassDef) -> None:
        arguments = arguments_text(node.bases, node.keywords)
        bases = f"({arguments})" if arguments else ""
        self._definition(node, f"class {node.name}{type_parameters_text(node)}{bases}")

    def _definition(self, node: Any, header: str) -> None:
        """Print a function or class, with its decorators."""
        for decorator in node.decorator_list:
            self._begin(decorator)
            self.fill("@" + expression_text(decorator))
        self._begin(node)
        self._block(header, node.body)

    def _If(self, node: ast.If) -> None:
        """Write an `if` statement; an `else` block that is only another `if` becomes `elif`."""
        self._block("if " + unparenthesised_text(node.test, if_type=ast.NamedExpr), node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self._begin(node)
            self._block("elif " + unparenthesised_text(node.test, if_type=ast.NamedExpr), node.body)
        self._optional_block("else", node.orelse)

    def _While(self, node: ast.While) -> None:
        self._block("while " + unparenthesised_text(node.test, if_type=ast.NamedExpr), node.body)
        self._optional_block("else", node.orelse)

    def _For(self, node: Any, keyword: str = "for") -> None:
        target = unparenthesised_text(node.target, if_type=ast.Tuple)
        self._block(f"{keyword} {target} in {expression_text(node.iter)}", node.body)
        self._optional_block("else", node.orelse)

    def _AsyncFor(self, node: ast.AsyncFor) -> None:
        self._For(node, "async for")

    def _With(self, node: Any, keyword: str = "with") -> None:
        """Write a `with` statement; `keyword` is `with` or `async with`."""
        item_texts = [
            expression_text(item.context_expr)
            + (f" as {expression_text(item.optional_vars)}" if item.optional_vars else "")
            for item in node.items
        ]
        text = ", ".join(item_texts)
        first_item = node.items[0]
        if len(item_texts) == 1 and isinstance(first_item.context_expr, ast.Tuple) and not first_item.optional_vars:
            text = f"({text})"  # without the parentheses, the tuple's elements would become the items
        self._block(f"{keyword} {text}", node.body)

    def _AsyncWith(self, node: ast.AsyncWith) -> None:
        self._With(node, "async with")

    def _Try(self, node: Any, keyword: str = "except") -> None:
        """Write a `try` statement; `keyword` begins its handlers: `except` or `except*`."""
        self._block("try", node.body)
        line = self._line
        for handler in node.handlers:
            self._begin(handler)
            exception_type = f" {expression_text(handler.type)}" if handler.type else ""
            self._block(keyword + exception_type + (f" as {handler.name}" if handler.name else ""), handler.body)
        self._line = line
        self._optional_block("else", node.orelse)
        self._optional_block("finally", node.finalbody)

    def _TryStar(self, node: ast.TryStar) -> None:
        self._Try(node, "except*")

    def _Match(self, node: ast.Match) -> None:
        """Write a `match` statement with its cases."""
        line = self._line
        self.fill("match " + expression_text(node.subject))
        self.enter()
        for case in node.cases:
            self._begin(case.pattern)
            guard = f" if {expression_text(case.guard)}" if case.guard else ""
            self._block(f"case {ast.unparse(case.pattern)}{guard}", case.body)
        self.leave()
        self._line = line

    def _Expr(self, node: ast.Expr) -> None:
        """Write an expression statement; a text constant, such as a docstring, in triple quotes."""
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            text = ("u" if value.kind else "") + triple_quoted(value.value)
            line_count = text.count("\n") + 1
            self._pieces.append(self._margin + text)
            if self._line:  # the source may have fewer lines, with escapes for line breaks
                last_line = getattr(node, "end_lineno", 0) or sys.maxsize
                self._origins.extend(min(self._line + i, last_line) for i in range(line_count))
            else:
                self._origins.extend([0] * line_count)
        else:
            self.fill(unparenthesised_text(value, if_type=YIELDS))

    def _Assign(self, node: ast.Assign) -> None:
        targets = [unparenthesised_text(target, if_type=ast.Tuple) for target in node.targets]
        assigns_tuple_to_tuple = isinstance(node.targets[-1], ast.Tuple) and isinstance(node.value, ast.Tuple)
        value = unparenthesised_text(node.value, if_type=ast.Tuple if assigns_tuple_to_tuple else YIELDS)
        self.fill(f"{' = '.join(targets)} = {value}")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        symbol, _ = SYMBOL_AND_PRECEDENCE_BY_OPERATOR[type(node.op)]
        self.fill(f"{expression_text(node.target)} {symbol}= {unparenthesised_text(node.value, if_type=YIELDS)}")

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        target = expression_text(node.target)
        if isinstance(node.target, ast.Name) and not node.simple:
            target = f"({target})"
        value = f" = {unparenthesised_text(node.value, if_type=YIELDS)}" if node.value else ""
        self.fill(f"{target}: {expression_text(node.annotation)}{value}")

    def _TypeAlias(self, node: Any) -> None:
        self.fill(f"type {expression_text(node.name)}{type_parameters_text(node)} = {expression_text(node.value)}")

    def _Return(self, node: ast.Return) -> None:
        value = f" {unparenthesised_text(node.value, if_type=ast.Tuple)}" if node.value else ""
        self.fill(f"return{value}")

    def _Assert(self, node: ast.Assert) -> None:
        self.fill(f"assert {expression_text(node.test)}" + (f", {expression_text(node.msg)}" if node.msg else ""))

    def _Raise(self, node: ast.Raise) -> None:
        raised = f" {expression_text(node.exc)}" if node.exc else ""
        self.fill(f"raise{raised}" + (f" from {expression_text(node.cause)}" if node.cause else ""))

    def _Import(self, node: ast.Import) -> None:
        self.fill("import " + aliases_text(node.names))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        self.fill(f"from {'.' * (node.level or 0)}{node.module or ''} import {aliases_text(node.names)}")
