"""Classify the statements of a scope with a session: they build a graph, make state, run, or do none of these."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autoconv.upgrade.names import dotted_name

Aliases = dict[str, ast.Import | ast.ImportFrom]


class Kind(enum.Enum):
    """The role of a statement of version 1 in a program of functions."""

    PLAIN = "stays"
    PLACEHOLDER = "becomes a parameter"
    STATE = "makes a variable, an optimizer or a saver, once"
    GRAPH = "becomes part of functions"
    SESSION = "is gone"
    RUN = "calls functions"


@dataclass
class Statement:
    """A statement of a scope, with the enclosing `with` statements that still have a meaning."""

    node: ast.stmt
    kind: Kind
    enclosing: tuple[ast.With, ...] = ()
    defines: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()


@dataclass
class Program:
    """A scope with a session: its statements in order, and its names by their roles."""

    statements: list[Statement] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    placeholders: dict[str, ast.Call] = field(default_factory=dict)  # with the calls that make them
    operations: set[str] = field(default_factory=set)  # nodes without a value, such as training steps
    initializers: set[str] = field(default_factory=set)  # operations that initialise variables
    graph_names: set[str] = field(default_factory=set)  # all names bound by statements of the graph
    variables: set[str] = field(default_factory=set)  # names of TensorFlow's variables
    schedules: set[str] = field(default_factory=set)  # names of schedules of learning rates
    configurations: set[str] = field(default_factory=set)  # names of options of sessions
    summaries: list[str] = field(default_factory=list)  # names of summaries, in the order of the program


class CannotUpgrade(Exception):
    """A session that cannot become functions: the node, and the reason."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


_VARIABLE_MAKERS = ("Variable", "get_variable")
_STEP_VARIABLES = ("get_or_create_global_step", "create_global_step")
INITIALIZERS = (
    "global_variables_initializer", "local_variables_initializer", "initialize_all_variables", "tables_initializer",
    "initialize_local_variables", "variables_initializer",
)  # fmt: skip
_SESSION_CLASSES = ("Session", "InteractiveSession")
_NON_BUILDING_PREFIXES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "string", "complex64",
    "complex128", "AUTO_REUSE", "Graph", "errors", "app", "flags", "logging", "gfile", "GraphKeys", "ConfigProto",
    "GPUOptions", "RunOptions", "RunMetadata", "test", "keras", "data", "compat", "set_random_seed", "random.set_seed",
    "reset_default_graph", "get_default_graph", "disable_v2_behavior", "disable_eager_execution", "__version__",
    "logging.set_verbosity", "enable_resource_variables", "TensorShape", "config",
)  # fmt: skip
_OPERATION_MAKERS = ("group", "no_op")
_DROPPED_CALLS = ("reset_default_graph", "disable_v2_behavior", "disable_eager_execution", "enable_resource_variables")


def names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Return the names in a piece of code that are read (`ast.Load`) or bound (`ast.Store`)."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, context)}


def classify(body: Sequence[ast.stmt], aliases: Aliases, builders: set[str]) -> Program:
    """Return the statements of a scope with their kinds; raises CannotUpgrade for a statement without a kind.

    `builders` are the functions of the file that build parts of graphs.
    """
    program = Program()
    _classify(body, (), program, aliases, builders)
    for statement in program.statements:  # a function that reads tensors of the graph belongs to it
        if isinstance(statement.node, ast.FunctionDef) and _free_names(statement.node) & program.graph_names:
            statement.kind, statement.uses = Kind.GRAPH, frozenset(_free_names(statement.node))
    return program


def _free_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function reads and does not bind."""
    arguments = {inner.arg for inner in ast.walk(function) if isinstance(inner, ast.arg)}
    return names_in(function, ast.Load) - names_in(function, ast.Store) - arguments


def _classify(
    body: Sequence[ast.stmt], enclosing: tuple[ast.With, ...], program: Program, aliases: Aliases, builders: set[str]
) -> None:  # fmt: skip
    """Add the statements of a block to the program, also those inside of `with` for sessions, graphs, scopes."""
    for node in body:
        if isinstance(node, ast.With):
            role = _role_of_with(node, aliases)
            if role == "session":
                for item in node.items:
                    if isinstance(item.optional_vars, ast.Name):
                        program.sessions.add(item.optional_vars.id)
                    elif isinstance(item.context_expr, ast.Name):
                        program.sessions.add(item.context_expr.id)
                program.statements.append(Statement(node, Kind.SESSION))
                _classify(node.body, enclosing, program, aliases, builders)
                continue
            if role == "graph":
                _classify(node.body, enclosing, program, aliases, builders)
                continue
            if role == "scope":
                _classify(node.body, (*enclosing, node), program, aliases, builders)
                continue
        statement = _classify_statement(node, program, aliases, builders)
        statement.enclosing = enclosing
        program.statements.append(statement)


def _role_of_with(node: ast.With, aliases: Aliases) -> str:
    """Return what a `with` statement enters: a "session", a "graph", a "scope" of names or devices, or "other"."""
    calls = [item.context_expr for item in node.items]
    names = [dotted_name(call.func, aliases) if isinstance(call, ast.Call) else None for call in calls]
    if any(name in _SESSION_CLASSES for name in names):
        return "session"
    called_functions = [call.func for call in calls if isinstance(call, ast.Call)]
    if any(isinstance(function, ast.Attribute) and function.attr == "as_default" for function in called_functions):
        return "graph"
    if any(isinstance(call, ast.Name) for call in calls) and not any(names):
        return "session"
    if names and all(name in ("variable_scope", "name_scope", "device", "control_dependencies") for name in names):
        return "scope"
    return "other"


def _classify_statement(node: ast.stmt, program: Program, aliases: Aliases, builders: set[str]) -> Statement:
    """Return the statement with its kind, and with the names that it defines and uses."""
    defines, uses = _defined_names(node), names_in(node, ast.Load) | _updated_names(node)
    value = node.value if isinstance(node, ast.Assign | ast.Expr | ast.AnnAssign) else None
    kind = Kind.PLAIN
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return Statement(node, Kind.PLAIN, (), frozenset({getattr(node, "name", "")}), frozenset(uses))
    if isinstance(value, ast.Call):
        name = dotted_name(value.func, aliases) or ""
        kind = _kind_of_call(node, value, name, defines, program)
    if kind is Kind.STATE and defines <= program.variables and uses & program.graph_names:
        kind = Kind.GRAPH  # its size or value depends on the graph
        program.variables -= defines
    if kind is Kind.PLAIN and any(is_run_call(inner, program.sessions, aliases) for inner in ast.walk(node)):
        kind = Kind.RUN
    if kind is Kind.PLAIN and (
        _closes_session(node, program.sessions) or _configures_session(node, program.configurations)
    ):
        kind = Kind.SESSION
    if kind is Kind.PLAIN and builds_graph(node, program.graph_names | program.variables, aliases, builders):
        kind = Kind.GRAPH
        called_names = {dotted_name(inner.func, aliases) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
        if called_names & {"placeholder", "Session"}:
            raise CannotUpgrade(node, "a placeholder or session inside of another statement")
    if kind is Kind.GRAPH:
        defines, uses = _record_graph_names(value, defines, uses, program, aliases)
    return Statement(node, kind, (), frozenset(defines), frozenset(uses))


def _record_graph_names(
    value: ast.expr | None, defines: set[str], uses: set[str], program: Program, aliases: Aliases
) -> tuple[set[str], set[str]]:
    """Record the results of a statement of the graph; return the names that it binds and reads.

    A summary without a name gets one, and `merge_all` reads the names of all summaries.
    """
    name = dotted_name(value.func, aliases) or "" if isinstance(value, ast.Call) else ""
    if name == "summary.merge_all":
        uses = uses | set(program.summaries)
    elif name.startswith("summary.") and name != "summary.merge":
        defines = defines or {f"summary_{len(program.summaries) + 1}"}
        program.summaries += sorted(defines)
    program.graph_names |= defines
    if _is_operation(value, program, aliases):
        program.operations |= defines
    else:
        program.operations -= defines
    return defines, uses


def _kind_of_call(node: ast.stmt, call: ast.Call, name: str, defines: set[str], program: Program) -> Kind:
    """Return the kind of a statement whose value is a call of TensorFlow's `name`; record the names that it defines."""
    last_part = name.rpartition(".")[2]
    if name in ("placeholder", "placeholder_with_default"):
        if len(defines) != 1 or not isinstance(node, ast.Assign):
            raise CannotUpgrade(node, "a placeholder that is not given to one name")
        program.placeholders[next(iter(defines))] = call
        program.graph_names |= defines
        return Kind.PLACEHOLDER
    if name in INITIALIZERS:
        program.initializers |= defines
        return Kind.SESSION
    if name in _SESSION_CLASSES:
        program.sessions |= defines
        return Kind.SESSION
    if name in _DROPPED_CALLS:
        return Kind.SESSION
    if name in ("ConfigProto", "GPUOptions"):
        program.configurations |= defines
        return Kind.SESSION
    if name in _VARIABLE_MAKERS or (name.startswith("train.") and last_part in _STEP_VARIABLES):
        program.variables |= defines
        return Kind.STATE
    if name.startswith("train.") and (last_part.endswith("Optimizer") or last_part == "Saver"):
        return Kind.STATE
    if name.startswith("train.") and last_part.endswith(("_decay", "_constant")):
        if program.graph_names & names_in(call, ast.Load):
            return Kind.GRAPH
        program.schedules |= defines
        return Kind.STATE
    if name == "summary.FileWriter":
        return Kind.STATE
    if name.startswith("summary.") and isinstance(node, ast.Assign | ast.Expr):
        return Kind.GRAPH
    return Kind.PLAIN


def _is_operation(value: ast.expr | None, program: Program, aliases: Aliases) -> bool:
    """Return whether an expression is an operation of the graph without a value."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Name) and value.id in program.operations
    name = dotted_name(value.func, aliases)
    method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
    return name in _OPERATION_MAKERS or method in ("minimize", "apply_gradients")


def builds_graph(node: ast.AST, graph_names: set[str], aliases: Aliases, builders: set[str]) -> bool:
    """Return whether a statement computes with tensors: it reads one of the names, or calls TensorFlow or a builder."""
    for inner in ast.walk(node):
        used_name = inner.id if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) else None
        if used_name in graph_names or used_name in builders:
            return True
        if isinstance(inner, ast.Call):
            name = dotted_name(inner.func, aliases)
            if name is not None and not name.startswith(_NON_BUILDING_PREFIXES):
                return True
    return False


def is_run_call(node: ast.AST, sessions: set[str], aliases: Aliases) -> bool:
    """Return whether an expression runs a session: session.run(…), tensor.eval(…), operation.run(…)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    if node.func.attr == "run" and dotted_name(node.func, aliases) is None:
        owner = node.func.value
        is_session = isinstance(owner, ast.Name) and owner.id in sessions
        is_initializer = isinstance(owner, ast.Call) and dotted_name(owner.func, aliases) in INITIALIZERS
        is_operation = isinstance(owner, ast.Name | ast.Attribute) and _may_run_operation(node)
        return is_session or is_initializer or (bool(sessions) and is_operation)
    return node.func.attr == "eval" and bool(sessions) and dotted_name(node.func, aliases) is None


def _may_run_operation(node: ast.Call) -> bool:
    """Return whether a call of `run` may run an operation: without arguments, or with a feed_dict."""
    has_feed_dict = any(keyword.arg == "feed_dict" for keyword in node.keywords)
    return not node.args or isinstance(node.args[0], ast.Dict) or has_feed_dict


def _closes_session(node: ast.stmt, sessions: set[str]) -> bool:
    """Return whether a statement closes a session, or makes it the default."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    owner = call.func.value
    return call.func.attr in ("close", "as_default") and isinstance(owner, ast.Name) and owner.id in sessions


def _configures_session(node: ast.stmt, configurations: set[str]) -> bool:
    """Return whether a statement sets an option of a session."""
    assigned_target = node.targets[0] if isinstance(node, ast.Assign) else None
    target: ast.AST | None = assigned_target
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id in configurations and target is not assigned_target


def _defined_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    return names_in(node, ast.Store) | {
        inner.name for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef | ast.ClassDef)
    }


def _updated_names(node: ast.stmt) -> set[str]:
    """Return the names that augmented assignments read and bind."""
    targets = (inner.target for inner in ast.walk(node) if isinstance(inner, ast.AugAssign))
    return {target.id for target in targets if isinstance(target, ast.Name)}


def scopes_with_sessions(tree: ast.Module, aliases: Aliases) -> Iterator[Sequence[ast.stmt]]:
    """Yield the bodies of the module and of functions that make a session themselves."""
    worklist: list[ast.Module | ast.FunctionDef] = [tree]
    while worklist:
        scope = worklist.pop()
        scope_nodes = list(_nodes_outside_functions(scope))
        worklist += [node for node in scope_nodes if isinstance(node, ast.FunctionDef)]
        calls = (node for node in scope_nodes if isinstance(node, ast.Call))
        if any(dotted_name(call.func, aliases) in _SESSION_CLASSES for call in calls):
            yield scope.body


def _nodes_outside_functions(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of inner functions."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _nodes_outside_functions(child)
