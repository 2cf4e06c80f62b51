"""Rewrite a scope with sessions as functions, one for each combination of fetched and fed tensors."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from autoconv.upgrade.edits import Source
from autoconv.upgrade.function_text import FunctionWriter
from autoconv.upgrade.names import dotted_name
from autoconv.upgrade.program import Aliases, CannotUpgrade, Kind, Program, Statement, classify, is_run_call, names_in
from autoconv.upgrade.report import Note
from autoconv.upgrade.runs import Run, parse_run
from autoconv.upgrade.slicing import select_needed_statements

# Beginnings of names, and methods, that need a graph: a program with one of them keeps its sessions.
_GRAPH_ONLY_PREFIXES = (
    "get_collection", "add_to_collection", "losses.get_total_loss", "losses.get_losses", "trainable_variables",
    "global_variables", "losses.get_regularization", "layers.batch_normalization", "import_graph_def", "gradients_",
    "train.start_queue_runners", "train.Coordinator", "train.MonitoredTrainingSession", "train.Supervisor",
    "get_default_session", "report_uninitialized_variables", "data.make_", "data.Iterator", "queue.", "FIFOQueue",
    "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue", "train.QueueRunner",
)  # fmt: skip
_GRAPH_ONLY_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")


def rewrite_scope(
    source: Source, body: Sequence[ast.stmt], aliases: Aliases, builders: dict[str, ast.FunctionDef]
) -> list[Note]:
    """Replace the text of a scope with sessions by text with functions; return notes on the changes.

    Raises CannotUpgrade for a program that has no such form; `source` then has a part of the replacements.
    """
    return _ScopeRewriter(source, body, aliases, builders).replace()


class _ScopeRewriter:
    """The state of rewriting one scope: its statements by kind, the functions made so far, and the used names."""

    def __init__(
        self, source: Source, body: Sequence[ast.stmt], aliases: Aliases, builders: dict[str, ast.FunctionDef]
    ) -> None:
        self.source = source
        self.aliases = aliases
        self.builders = builders
        self.tf_alias = next(iter(aliases))
        self.body = body
        self.notes: list[Note] = []
        self.function_names: dict[Any, str] = {}  # (fetches, feeds, needed statements) -> its function's name
        self.added_names: set[str] = set()
        self.renamed_feeds: set[str] = set()  # dicts of feeds whose keys became names of parameters
        self.store_name = ""  # name of the variable that holds the VariableStore; "" without one
        self._check_names()
        self.program: Program = classify(body, aliases, set(builders))
        self.writer = FunctionWriter(source, self.program, aliases, builders)

    def replace(self) -> list[Note]:
        """Replace the text of the scope; return notes on the changes."""
        indent = " " * self.body[0].col_offset
        start, _ = self.source.line_range(self._first_statement())
        _, end = self.source.line_range(self.body[-1])
        graph_statements = [statement for statement in self.program.statements if statement.kind is Kind.GRAPH]
        if any(self.writer.makes_variables(statement.node) for statement in graph_statements):
            self.store_name = "variables"
        for statement in self.program.statements:
            if statement.kind is Kind.RUN:
                self._rename_feeds(statement)
        lines = self._write_statements()
        text = textwrap.indent("\n".join(lines), indent, lambda line: bool(line.strip()))
        self.source.replace_range(start, end, text + "\n")
        return self.notes

    def _rename_feeds(self, statement: Statement) -> None:
        """Rewrite the dicts that the runs in a statement feed."""
        for call in self._run_calls(statement):
            run = parse_run(call, self.program, self.aliases)
            if run is not None and run.feed_dict_name and run.feed_dict_name not in self.renamed_feeds:
                self.renamed_feeds.add(run.feed_dict_name)
                self._rename_feed_keys(run)

    def _run_calls(self, statement: Statement) -> list[ast.Call]:
        """Return the calls in a statement that run a session."""
        nodes = (node for node in ast.walk(statement.node) if isinstance(node, ast.Call))
        return [node for node in nodes if is_run_call(node, self.program.sessions, self.aliases)]

    def _first_statement(self) -> ast.stmt:
        """Return the first statement that is not a docstring or import, which stay where they are."""
        for node in self.body:
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not (is_docstring or isinstance(node, ast.Import | ast.ImportFrom)):
                return node
        return self.body[0]

    def _write_statements(self) -> list[str]:
        """Return the lines of the new scope, without the indentation of the scope."""
        written_lines: list[str] = []
        open_scopes: tuple[ast.With, ...] = ()
        first_statement, blank_count = self._first_statement(), 0
        for position, statement in enumerate(self.program.statements):
            if statement.node.lineno < first_statement.lineno:
                continue
            if statement.kind not in (Kind.SESSION, Kind.STATE) and self._drop_sessions_of_savers(statement):
                raise CannotUpgrade(statement.node, "a session that is used for something other than run")
            match statement.kind:
                case Kind.PLAIN:
                    lines = [self.writer.statement_text(statement.node)]
                case Kind.STATE:
                    lines = [self._state_statement(statement)]
                case Kind.RUN:
                    lines = self._run_statement(statement, position)
                case Kind.GRAPH:
                    lines = self._graph_statement(statement)
                case _:
                    lines = []
            blank_count = max(blank_count, self._blank_lines_before(statement.node))
            if not lines:
                continue
            is_state = statement.kind is Kind.STATE
            scopes = tuple(filter(self._is_variable_scope, statement.enclosing)) if is_state else ()
            if written_lines and written_lines[-1]:
                written_lines += [""] * blank_count
            blank_count = 0
            if scopes != open_scopes:
                for depth, scope in enumerate(scopes):
                    if depth >= len(open_scopes) or open_scopes[depth] is not scope:
                        written_lines.append("    " * depth + self.writer.with_header(scope))
                open_scopes = scopes
            written_lines += [
                textwrap.indent(line, "    " * len(scopes), lambda text: bool(text.strip())) for line in lines
            ]
        if self.store_name:
            comment = "# owns the variables that layers make"
            creation = f"{self.store_name} = {self.tf_alias}.compat.v1.VariableStore()  {comment}"
            written_lines[:0] = [creation, ""]
        max_blank_count = 2 if self.body[0].col_offset == 0 else 1
        return re.sub(
            rf"\n{{{max_blank_count + 2},}}", "\n" * (max_blank_count + 1), "\n".join(written_lines).strip("\n")
        ).split("\n")

    def _blank_lines_before(self, node: ast.stmt) -> int:
        """Return the number of blank lines before a statement, at most two."""
        line = self.source.line_at(self.source.line_range(node)[0]) - 1
        return next((count for count in (0, 1) if line <= count or self.source.lines[line - 1 - count].strip()), 2)

    def _is_variable_scope(self, scope: ast.With) -> bool:
        """Return whether a `with` statement enters a scope of variables."""
        calls = [item.context_expr for item in scope.items]
        names = [dotted_name(call.func, self.aliases) for call in calls if isinstance(call, ast.Call)]
        return "variable_scope" in names

    def _state_statement(self, statement: Statement) -> str:
        """Return the statement that makes a variable, optimizer, saver or writer, without its session."""
        call = statement.node.value if isinstance(statement.node, ast.Assign | ast.Expr) else None
        name = dotted_name(call.func, self.aliases) or "" if isinstance(call, ast.Call) else ""
        text = self.writer.statement_text(statement.node)
        if isinstance(call, ast.Call) and name == "summary.FileWriter" and len(call.args) + len(call.keywords) > 1:
            # The second argument is the graph, which no longer exists.
            start, end = self.source.end(call.args[0]), self.source.end(call) - 1
            text = text.replace(self.source.text(start, end), "")
        if name == "train.Saver" and isinstance(call, ast.Call) and not call.args:
            if self.store_name:
                raise CannotUpgrade(statement.node, "a saver of variables that layers make")
            names = ", ".join(self._named_variables(statement))
            text = text.replace("Saver(", f"Saver([{names}]{', ' if call.keywords else ''}", 1)
            note = "the saver has the variables, without the state of optimizers"
            self.notes.append(Note(statement.node.lineno, note))
        return text

    def _named_variables(self, saver_statement: Statement) -> list[str]:
        """Return the names of the scope's variables; raises CannotUpgrade if there are none."""
        names = [
            name for statement in self.program.statements if statement.kind is Kind.STATE
            for name in sorted(statement.defines) if name in self.program.variables
        ]  # fmt: skip
        if not names:
            raise CannotUpgrade(saver_statement.node, "a saver without variables that have names")
        return names

    def _graph_statement(self, statement: Statement) -> list[str]:
        """Return the text that stays of a statement of the graph: its optimizer, a comment, or none."""
        optimizer = self._optimizer_of(statement)
        if optimizer is not None:
            names_by_target = [f"{target}_optimizer" for target in sorted(statement.defines)]
            name = self._free_name("optimizer", *names_by_target, "trainer")
            assignment = f"{name} = {self.source.edited_text(optimizer)}"
            self.source.replace(optimizer, name)
            return [assignment]
        if isinstance(statement.node, ast.Expr):
            call = statement.node.value
            name = dotted_name(call.func, self.aliases) or "" if isinstance(call, ast.Call) else ""
            if name.startswith("summary."):
                return []
            reason = "this statement reads the graph, which no longer exists"
            self.notes.append(Note(statement.node.lineno, reason, is_open=True))
            commented_text = textwrap.indent(self.writer.statement_text(statement.node), "# ")
            return [f"# autoconv upgrade: there is no graph any more\n{commented_text}"]
        return []

    def _optimizer_of(self, statement: Statement) -> ast.Call | None:
        """Return the call that makes an optimizer in a statement that uses it, if it needs nothing of the graph."""
        for node in ast.walk(statement.node):
            receiver = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
            if isinstance(receiver, ast.Call):
                name = dotted_name(receiver.func, self.aliases) or ""
                if name.startswith("train.") and name.endswith("Optimizer"):
                    return None if names_in(receiver, ast.Load) & self.program.graph_names else receiver
        return None

    def _free_name(self, *candidates: str) -> str:
        """Return the first candidate that the scope does not use, or the last one with a number."""
        names_in_use = self.added_names.union(
            *(names for statement in self.program.statements for names in (statement.defines, statement.uses))
        )
        numbered_names = (f"{candidates[-1]}_{number}" for number in range(2, 1000))
        name = next(name for name in (*candidates, *numbered_names) if name not in names_in_use)
        self.added_names.add(name)
        return name

    def _drop_sessions_of_savers(self, statement: Statement) -> bool:
        """Replace sessions given to savers by None; return whether a session remains that is not only run."""
        allowed_nodes: set[ast.AST] = set()
        for node in ast.walk(statement.node):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "run":
                    allowed_nodes.add(node.func.value)
                if node.func.attr in ("save", "restore") and node.args and isinstance(node.args[0], ast.Name):
                    allowed_nodes.add(node.args[0])
                    if node.args[0].id in self.program.sessions:
                        self.source.replace(node.args[0], "None")
                allowed_nodes |= {keyword.value for keyword in node.keywords if keyword.arg == "session"}
        names = (node for node in ast.walk(statement.node) if isinstance(node, ast.Name))
        return any(name.id in self.program.sessions and name not in allowed_nodes for name in names)

    def _run_statement(self, statement: Statement, position: int) -> list[str]:
        """Return the lines of the functions that a statement with runs will call, and of the statement."""
        function_lines: list[str] = []
        calls = self._run_calls(statement)
        runs_by_call = [(call, parse_run(call, self.program, self.aliases)) for call in calls]
        for call, run in runs_by_call:
            fetches = [] if run is None else run.fetches
            if any(names_in(fetch, ast.Load) & self.program.schedules for fetch in fetches):
                raise CannotUpgrade(call, "a scheduled learning rate among the fetches")
        if all(run is None for _, run in runs_by_call):
            if isinstance(statement.node, ast.Expr):
                return []
            self._drop_initialisation(statement.node, calls)
        for call, run in runs_by_call:
            if run is not None and self._fetches_only_variables(run):
                self._read_variables(run)
            elif run is not None:
                name = self._make_function(run, position, function_lines)
                self._replace_call(run, name, statement.node)
                self.notes.append(Note(call.lineno, f"the run is a call of the function {name}"))
            elif len(runs_by_call) > 1:
                self._drop_initialisation(statement.node, [call])
        return [*function_lines, self.writer.statement_text(statement.node)]

    def _fetches_only_variables(self, run: Run) -> bool:
        """Return whether the fetches of a run are variables, and not in a dict."""
        names = [fetch.id if isinstance(fetch, ast.Name) else "" for fetch in run.fetches]
        return run.form != "dict" and all(name in self.program.variables for name in names)

    def _read_variables(self, run: Run) -> None:
        """Replace a run that fetches only variables by reads of their values."""
        values = [f"{self.source.edited_text(fetch)}.numpy()" for fetch in run.fetches]
        value_list = ", ".join(values)
        tuple_text = f"({value_list},)" if len(values) == 1 else f"({value_list})"
        self.source.replace(run.call, {"one": value_list, "list": f"[{value_list}]", "tuple": tuple_text}[run.form])
        self.notes.append(Note(run.call.lineno, "the values of variables are read"))

    def _drop_initialisation(self, node: ast.stmt, calls: Sequence[ast.Call]) -> None:
        """Replace by `pass` the statements inside of `node` that consist of one of the calls."""
        for statement in ast.walk(node):
            if isinstance(statement, ast.Expr) and statement.value in calls:
                self.source.replace(statement, "pass")

    def _replace_call(self, run: Run, name: str, statement: ast.stmt) -> None:
        """Replace a run in a statement by a call of the function `name`, whose results become arrays of NumPy."""
        feed_arguments = ", ".join(self.writer.feed_argument(*pair) for pair in run.feeds)
        arguments = f"**{run.feed_dict_name}" if run.feed_dict_name else feed_arguments
        call_text = f"{name}({arguments})"
        parent = _parent(statement, run.call)
        have_values = [not operation for operation in run.are_operations]
        if isinstance(parent, ast.Expr) or not any(have_values):
            self.source.replace(run.call, call_text)
            return
        if run.form == "one":
            self.source.replace(run.call, f"{call_text}.numpy()")
            return
        target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
        if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(have_values) and run.form != "dict":
            targets = [
                self.source.edited_text(element)
                for element, has_value in zip(target.elts, have_values, strict=True) if has_value
            ]  # fmt: skip
            only_value = f"{call_text}.numpy()" if self.writer.is_returned_alone(run) else f"{call_text}[0].numpy()"
            value = only_value if len(targets) == 1 else f"[each.numpy() for each in {call_text}]"
            self.source.replace(parent, f"{', '.join(targets)} = {value}")  # type: ignore[arg-type]
            return
        if run.form == "dict":
            self.source.replace(run.call, f"{{key: each.numpy() for key, each in {call_text}.items()}}")
            return
        if not all(have_values):
            raise CannotUpgrade(run.call, "operations among fetches that are not assigned to one name each")
        opening, closing = ("tuple(", ")") if run.form == "tuple" else ("[", "]")
        self.source.replace(run.call, f"{opening}each.numpy() for each in {call_text}{closing}")

    def _rename_feed_keys(self, run: Run) -> None:
        """Rewrite a dict of feeds: its keys become names of parameters, its values tensors."""
        for statement in self.program.statements:
            for node in ast.walk(statement.node):
                if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)):
                    continue
                if any(isinstance(target, ast.Name) and target.id == run.feed_dict_name for target in node.targets):
                    for key, (name, value) in zip(node.value.keys, run.feeds, strict=True):
                        if key is not None:
                            self.source.replace(key, repr(name))
                        argument = self.writer.feed_argument(name, value)
                        if argument != self.source.edited_text(value):
                            self.source.replace(value, argument)
                    if statement.node is node:
                        statement.kind = Kind.PLAIN

    def _make_function(self, run: Run, position: int, function_lines: list[str]) -> str:
        """Return the name of the function for a run; append its text to `function_lines` if it is new."""
        preceding_statements = [
            statement for statement in self.program.statements[:position]
            if statement.kind in (Kind.GRAPH, Kind.PLAIN)
        ]  # fmt: skip
        parameters = [name for name, _ in run.feeds]
        names = set().union(*(names_in(fetch, ast.Load) for fetch in run.fetches))
        needed_statements = select_needed_statements(
            preceding_statements, names, set(parameters), self.writer.makes_variables
        )
        key = (
            tuple(ast.dump(fetch) for fetch in run.fetches),
            tuple(parameters),
            tuple(id(statement) for statement in needed_statements),
        )
        if key in self.function_names:
            return self.function_names[key]
        name = self._function_name(run)
        self.function_names[key] = name
        blank_lines = ["", ""] if self.body[0].col_offset == 0 else [""]
        text = self.writer.write_function(name, run, needed_statements, self.store_name)
        function_lines += [*blank_lines, text, *blank_lines]
        return name

    def _function_name(self, run: Run) -> str:
        """Return a new name for the function that takes the place of a run."""
        fetched_name = next((fetch.id for fetch in run.fetches if isinstance(fetch, ast.Name)), "")
        base = f"run_{fetched_name}" if fetched_name else "run"
        names_in_use = set(self.function_names.values()).union(
            *(statement.defines for statement in self.program.statements)
        )
        number, name = 1, base
        while name in names_in_use:
            number += 1
            name = f"{base}_{number}"
        return name

    def _check_names(self) -> None:
        """Raise CannotUpgrade for names that need a graph."""
        for statement in self.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Attribute) and node.attr in _GRAPH_ONLY_METHODS:
                    raise CannotUpgrade(node, f"{node.attr}, which needs a graph")
                name = dotted_name(node.func, self.aliases) if isinstance(node, ast.Call) else None
                if name is not None and name.startswith(_GRAPH_ONLY_PREFIXES) and not name.endswith("_initializer"):
                    raise CannotUpgrade(node, f"tf.{name}, which needs a graph")


def _parent(root: ast.AST, node: ast.AST) -> ast.AST | None:
    """Return the node below `root` that has `node` as a child."""
    for candidate in ast.walk(root):
        if node in ast.iter_child_nodes(candidate):
            return candidate
    return None
