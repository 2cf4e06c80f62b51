"""The calls that run a session: what they fetch and feed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from autoconv.upgrade.names import dotted_name
from autoconv.upgrade.program import INITIALIZERS, Aliases, CannotUpgrade, Kind, Program


@dataclass
class Run:
    """A call that runs a session, tensor or operation.

    fetches         the expressions that it fetches
    form            how they are written: "one", "list", "tuple" or "dict", with the `keys` of a dict
    are_operations  for each fetch whether it is an operation, which has no value
    feeds           the name and the value of each tensor that it feeds
    feed_dict_name  the variable whose value is the dict of feeds; "" if the dict is written in the call
    """

    call: ast.Call
    fetches: list[ast.expr]
    form: str
    keys: list[ast.expr | None] = field(default_factory=list)
    are_operations: list[bool] = field(default_factory=list)
    feeds: list[tuple[str, ast.expr]] = field(default_factory=list)
    feed_dict_name: str = ""


def parse_run(call: ast.Call, program: Program, aliases: Aliases) -> Run | None:
    """Parse a call that runs a session; None if it only initialises variables; raise CannotUpgrade for other forms."""
    assert isinstance(call.func, ast.Attribute)
    owner = call.func.value
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(owner, ast.Name) and owner.id in program.sessions:
        fetch_node = call.args[0] if call.args else arguments.get("fetches")
        feed_node = call.args[1] if len(call.args) > 1 else arguments.get("feed_dict")
        if "options" in arguments or "run_metadata" in arguments or len(call.args) > 2:
            raise CannotUpgrade(call, "options of a run")
    else:
        fetch_node, feed_node = owner, call.args[0] if call.args else arguments.get("feed_dict")
    if fetch_node is None:
        raise CannotUpgrade(call, "a run without fetches")
    result = _make_run(call, _resolve_literal(fetch_node, program))
    are_initializers = [_is_initializer(fetch, program, aliases) for fetch in result.fetches]
    if all(are_initializers):
        return None
    if any(are_initializers):
        raise CannotUpgrade(call, "a run that initialises variables and fetches others")
    for fetch in result.fetches:
        if isinstance(fetch, ast.Constant | ast.Starred):
            raise CannotUpgrade(call, "a fetch by the name of a node")
    result.are_operations = [_is_operation(fetch, program, aliases) for fetch in result.fetches]
    if feed_node is not None:
        result.feeds, result.feed_dict_name = _parse_feeds(call, feed_node, program)
    return result


def _resolve_literal(fetch_node: ast.expr, program: Program) -> ast.expr:
    """Return the list, tuple or dict assigned to a name of the graph, or the expression itself."""
    if isinstance(fetch_node, ast.Name):
        for statement in reversed(program.statements):
            value = statement.node.value if isinstance(statement.node, ast.Assign) else None
            if fetch_node.id in statement.defines:
                return value if isinstance(value, ast.List | ast.Tuple | ast.Dict) else fetch_node
    return fetch_node


def _make_run(call: ast.Call, fetch_node: ast.expr) -> Run:
    """Return a run with its fetches; raises CannotUpgrade for nested ones."""
    if isinstance(fetch_node, ast.Dict):
        return Run(call, list(fetch_node.values), "dict", list(fetch_node.keys))
    if isinstance(fetch_node, ast.List | ast.Tuple):
        if any(isinstance(element, ast.List | ast.Tuple | ast.Dict) for element in fetch_node.elts):
            raise CannotUpgrade(call, "fetches in nested structures")
        return Run(call, list(fetch_node.elts), "tuple" if isinstance(fetch_node, ast.Tuple) else "list")
    return Run(call, [fetch_node], "one")


def _is_initializer(fetch: ast.expr, program: Program, aliases: Aliases) -> bool:
    """Return whether a fetch is an operation that initialises variables."""
    if isinstance(fetch, ast.Name):
        return fetch.id in program.initializers
    if isinstance(fetch, ast.Attribute) and fetch.attr == "initializer":
        return True
    return isinstance(fetch, ast.Call) and dotted_name(fetch.func, aliases) in INITIALIZERS


def _is_operation(fetch: ast.expr, program: Program, aliases: Aliases) -> bool:
    """Return whether a fetch is an operation of the graph, which has no value."""
    if isinstance(fetch, ast.Name):
        return fetch.id in program.operations
    if isinstance(fetch, ast.Call):
        method = fetch.func.attr if isinstance(fetch.func, ast.Attribute) else ""
        return dotted_name(fetch.func, aliases) in ("group", "no_op") or method in ("minimize", "apply_gradients")
    return isinstance(fetch, ast.Attribute) and fetch.attr == "op"


def _parse_feeds(call: ast.Call, feeds: ast.expr, program: Program) -> tuple[list[tuple[str, ast.expr]], str]:
    """Return names and values of the fed tensors, and the name of the variable with the dict of feeds, or ""."""
    feed_dict_name = ""
    if isinstance(feeds, ast.Name):
        feed_dict_name = feeds.id
        values = [
            statement.node.value for statement in program.statements
            if statement.kind in (Kind.PLAIN, Kind.GRAPH) and isinstance(statement.node, ast.Assign)
            and feeds.id in statement.defines
        ]  # fmt: skip
        nested_values = [
            node.value for statement in program.statements for node in ast.walk(statement.node)
            if isinstance(node, ast.Assign) and feeds.id in [ast.unparse(target) for target in node.targets]
        ]  # fmt: skip
        literals = [value for value in {*values, *nested_values} if isinstance(value, ast.Dict)]
        if len(literals) != 1 or len({*values, *nested_values}) != 1:
            raise CannotUpgrade(call, f"feeds by the dict {feeds.id!r}, which is not written once in the same scope")
        feeds = literals[0]
    if not isinstance(feeds, ast.Dict):
        raise CannotUpgrade(call, "feeds that are not written as a dict")
    pairs = []
    for key, value in zip(feeds.keys, feeds.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            pairs.append((_placeholder_of_node(call, key.value, program), value))
        elif isinstance(key, ast.Name) and key.id in program.graph_names:
            pairs.append((key.id, value))
        else:
            raise CannotUpgrade(call, "a feed whose key is not a name of the graph")
    return pairs, feed_dict_name


def _placeholder_of_node(call: ast.Call, name: str, program: Program) -> str:
    """Return the variable of the placeholder whose node has that name; raises CannotUpgrade without one."""
    for placeholder, placeholder_call in program.placeholders.items():
        for keyword in placeholder_call.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg == "name" and value == name.partition(":")[0]:
                return placeholder
    raise CannotUpgrade(call, f"a feed for the node {name!r}")
