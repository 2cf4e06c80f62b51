"""The text of a function that replaces a run of a session."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence

from autoconv.upgrade.edits import Source
from autoconv.upgrade.names import dotted_name
from autoconv.upgrade.program import Aliases, CannotUpgrade, Program, Statement, names_in
from autoconv.upgrade.runs import Run

_VARIABLE_MAKER_PREFIXES = (
    "get_variable", "Variable", "layers.", "nn.dynamic_rnn", "nn.static_rnn", "nn.rnn_cell.", "metrics.",
)  # fmt: skip


class FunctionWriter:
    """A writer of the functions of a scope: parameters, the statements of the graph, and the return statement."""

    def __init__(
        self, source: Source, program: Program, aliases: Aliases, builders: dict[str, ast.FunctionDef]
    ) -> None:
        self.source = source
        self.program = program
        self.aliases = aliases
        self.builders = builders
        self.tf_alias = next(iter(aliases))

    def write_function(self, name: str, run: Run, statements: Sequence[Statement], store: str) -> str:
        """Return the text of a function for a run, of the statements that it needs.

        `store` is the name of the variable that has the VariableStore of the scope; "" without one.
        """
        parameters = [name for name, _ in run.feeds]
        names = set().union(*(names_in(fetch, ast.Load) for fetch in run.fetches))
        self._check_placeholders(run, statements, set(parameters))
        defaults = self._default_assignments(statements, names, set(parameters))
        body = [*defaults, *self._body_lines(statements), *self._return_lines(run)]
        text = _indent("\n".join(body or ["pass"]), 1)
        if store:
            text = f"    with {store}.as_default():\n" + textwrap.indent(text, "    ")
        return f"{self._decorator(parameters)}\ndef {name}({', '.join(parameters)}):\n{text}"

    def _decorator(self, parameters: Sequence[str]) -> str:
        """Return the decorator, with a signature if the dtypes of all parameters are known."""
        specs = []
        for name in parameters:
            placeholder = self.program.placeholders.get(name)
            dtype = self._dtype(placeholder) if placeholder is not None else None
            if placeholder is None or dtype is None:
                return f"@{self.tf_alias}.function"
            specs.append(f"{self.tf_alias}.TensorSpec({self._shape(placeholder)}, {dtype})")
        arguments = f"(input_signature=[{', '.join(specs)}])" if specs else ""
        return f"@{self.tf_alias}.function{arguments}"

    def _dtype(self, call: ast.Call) -> str | None:
        """Return the text of the dtype of a placeholder, made by `call`; None if it is not in the call."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        if dotted_name(call.func, self.aliases) != "placeholder":
            return None
        dtype_node = call.args[0] if call.args else keywords.get("dtype")
        if isinstance(dtype_node, ast.Constant) and isinstance(dtype_node.value, str):
            return f"{self.tf_alias}.{dtype_node.value}"
        return None if dtype_node is None else self.source.edited_text(dtype_node)

    def _shape(self, call: ast.Call) -> str:
        """Return the text of the shape of a placeholder, made by `call`; "None" if it is not in the call."""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        shape_node = call.args[1] if len(call.args) > 1 else keywords.get("shape")
        return "None" if shape_node is None else self.source.edited_text(shape_node)

    def _default_assignments(self, statements: Sequence[Statement], names: set[str], parameters: set[str]) -> list[str]:
        """Return assignments of the defaults of placeholders that are needed and not fed."""
        used_names = names.union(*(statement.uses for statement in statements)) - parameters
        return [
            f"{name} = {self.source.edited_text(placeholder.args[0])}"
            for name, placeholder in self.program.placeholders.items()
            if name in used_names and dotted_name(placeholder.func, self.aliases) == "placeholder_with_default"
        ]  # fmt: skip

    def _check_placeholders(self, run: Run, statements: Sequence[Statement], parameters: set[str]) -> None:
        """Raise CannotUpgrade if the run needs a placeholder without a default that it does not feed."""
        used_names = set().union(
            *(names_in(fetch, ast.Load) for fetch in run.fetches), *(statement.uses for statement in statements)
        )
        for name, placeholder in self.program.placeholders.items():
            if name in used_names - parameters and dotted_name(placeholder.func, self.aliases) == "placeholder":
                raise CannotUpgrade(run.call, f"a run that needs the placeholder {name!r} and does not feed it")

    def _body_lines(self, statements: Sequence[Statement]) -> list[str]:
        """Return the text of the statements inside of the scopes that they need, such as `with tf.device(…)`."""
        lines: list[str] = []
        open_scopes: tuple[ast.With, ...] = ()
        for statement in statements:
            scopes = tuple(scope for scope in statement.enclosing if self._is_scope_needed(scope, statement))
            for depth, scope in enumerate(scopes):
                if depth >= len(open_scopes) or open_scopes[: depth + 1] != scopes[: depth + 1]:
                    lines.append("    " * depth + self.with_header(scope))
            open_scopes = scopes
            lines.append(_indent(self._graph_text(statement), len(scopes)))
        return lines

    def _graph_text(self, statement: Statement) -> str:
        """Return the text of a statement of the graph, in which summaries have names, and `merge_all` lists them."""
        text = self.statement_text(statement.node)
        if isinstance(statement.node, ast.Expr) and statement.defines:  # a summary, which `merge_all` takes
            text = f"{next(iter(statement.defines))} = {text}"
        if "merge_all(" in text:
            text = re.sub(r"merge_all\([^)]*\)", f"merge([{', '.join(self._summaries())}])", text)
        return text

    def _is_scope_needed(self, scope: ast.With, statement: Statement) -> bool:
        """Return whether a function needs a scope: a device, or a scope in which the statement makes variables."""
        calls = [item.context_expr for item in scope.items]
        names = [dotted_name(call.func, self.aliases) if isinstance(call, ast.Call) else "" for call in calls]
        return "device" in names or ("variable_scope" in names and self.makes_variables(statement.node))

    def _return_lines(self, run: Run) -> list[str]:
        """Return the lines that run the operations among the fetches, and return the values of the others."""
        text_of = self.source.edited_text
        pairs = list(zip(run.fetches, run.are_operations, strict=True))
        values = [text_of(fetch) for fetch, is_operation in pairs if not is_operation]
        lines = [text_of(fetch) for fetch, is_operation in pairs if is_operation and isinstance(fetch, ast.Call)]
        if run.form == "dict":
            keyed_pairs = zip(run.keys, pairs, strict=True)
            items = [
                f"{text_of(key)}: {text_of(fetch)}"
                for key, (fetch, is_operation) in keyed_pairs if key and not is_operation
            ]  # fmt: skip
            return [*lines, f"return {{{', '.join(items)}}}"]
        if not values:
            return lines
        is_single = len(values) == 1 and self.is_returned_alone(run)
        return [*lines, f"return {values[0]}" if is_single else f"return [{', '.join(values)}]"]

    def is_returned_alone(self, run: Run) -> bool:
        """Return whether a single value among the fetches is returned itself, not in a list of one."""
        return run.form == "one" or len(run.fetches) > 1

    def _summaries(self) -> list[str]:
        """Return the names of the summaries, in the order of the program."""
        names = [name for statement in self.program.statements for name in statement.defines]
        return [name for name in dict.fromkeys(names) if name in self.program.summaries]

    def makes_variables(self, node: ast.AST) -> bool:
        """Return whether a statement makes variables, itself or by a function of the file."""
        return self._has_variable_maker(node, set())

    def _has_variable_maker(self, node: ast.AST, seen_builders: set[str]) -> bool:
        """Return whether a node makes variables, also in builders that it calls."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                function = dotted_name(inner.func, self.aliases) or ""
                if function.startswith(_VARIABLE_MAKER_PREFIXES) and function != "VariableScope":
                    return True
                name = inner.func.id if isinstance(inner.func, ast.Name) else ""
                if name in self.builders and name not in seen_builders:
                    seen_builders.add(name)
                    if self._has_variable_maker(self.builders[name], seen_builders):
                        return True
        return False

    def with_header(self, scope: ast.With) -> str:
        """Return the first line of a `with` statement."""
        items = ", ".join(self.source.edited_text(item.context_expr) for item in scope.items)
        names = [item.optional_vars for item in scope.items if item.optional_vars is not None]
        return f"with {items}{f' as {self.source.edited_text(names[0])}' if names else ''}:"

    def statement_text(self, node: ast.stmt) -> str:
        """Return the text of a statement with its replacements and comments, without indentation."""
        if self.source.shares_lines(node):
            return self.source.edited_text(node)
        start, end = self.source.line_range(node)
        return textwrap.dedent(self.source.text(start, end)).rstrip("\n")

    def feed_argument(self, name: str, value: ast.expr) -> str:
        """Return the text of a fed value, cast to the dtype of its placeholder."""
        text = self.source.edited_text(value)
        placeholder = self.program.placeholders.get(name)
        if placeholder is None or isinstance(value, ast.Constant):
            return text
        dtype = self._dtype(placeholder)
        return text if dtype is None or dtype.endswith(".string") else f"{self.tf_alias}.cast({text}, {dtype})"


def _indent(text: str, depth: int) -> str:
    """Return the text, indented by `depth` levels except for blank lines."""
    return textwrap.indent(text, "    " * depth, lambda line: bool(line.strip()))
