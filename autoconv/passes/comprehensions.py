"""Turn comprehensions and generator expressions into calls of operators, with functions of their targets.

def f(xs, table):
    low = [x * 2 for x in xs if x > 0]
    return {k: x for k, v in table for x in v}, low
# becomes
def f(xs, table):
    low = ag__.list_of(xs, lambda x: x * 2, lambda x: x > 0)
    return ag__.dict_of(table, lambda k, v: ag__.nested_clause(v, lambda x: (k, x)), into='k, v'), low
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autoconv.analysis.scopes import clause_names, exhausts_arguments, free_names_of_each
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.calls import FRAME_CALLS
from autoconv.syntax import build
from autoconv.syntax.tree import COMPREHENSIONS, inner_parts, walk

# For each kind of node: its name in notes, and its operator.
_NAMES_AND_OPERATORS = {
    gast.ListComp: ("list comprehension", "list_of"),
    gast.SetComp: ("set comprehension", "set_of"),
    gast.DictComp: ("dict comprehension", "dict_of"),
    gast.GeneratorExp: ("generator expression", "generator"),
}


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Comprehensions(context).visit(tree)


class Comprehensions(FunctionPass):
    """Turn comprehensions and generator expressions into calls of operators."""

    def visit_ListComp(self, node: Any) -> Any:
        """Return the operator's call for a comprehension of any kind, or the comprehension with a reason to keep it."""
        kind, operator = _NAMES_AND_OPERATORS[type(node)]
        reason = self._reason_to_keep(node)
        self.visit_children(node)
        if reason:
            return self._keep_form(node, kind, reason)
        self.context.note(kind, node, self.function, "functional", stages=True)
        element = gast.Tuple([node.key, node.value], gast.Load()) if isinstance(node, gast.DictComp) else node.elt
        for position, clause in reversed(list(enumerate(node.generators))):
            element = self._operator_call(operator if position == 0 else "nested_clause", clause, element)
        return element

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _operator_call(self, operator: str, clause: Any, element: Any) -> Any:
        """Make `ag__.operator(iterable, lambda target: element, lambda target: condition, into='the target')`.

        `into` is absent if the target is a single name. The span of the call is that of the iterable, where Python
        reports that it is not iterable.
        """
        names, into = self._parameters(clause.target)
        keywords = {} if isinstance(clause.target, gast.Name) else {"into": build.constant(into)}
        bodies = (element, *clause.ifs)
        lambdas = [build.place(gast.Lambda(build.arguments(names), body), body) for body in bodies]
        functions = list(map(self.context.mark_generated, lambdas))
        return build.place(build.operate(operator, clause.iter, *functions, **keywords), clause.iter)

    def _parameters(self, target: Any) -> tuple[list[str], str]:
        """Return the names that a target binds, one for each position in the target, and the target as source text.

        Earlier occurrences of a repeated name (`_, _`) get fresh names, as the parameters of a lambda must differ.
        """
        bound_names = [node.id for node in _target_names(target)]
        last_positions = {name: position for position, name in enumerate(bound_names)}
        names = [
            name if last_positions[name] == position else self.namer.fresh(f"{name.strip('_')}_")
            for position, name in enumerate(bound_names)
        ]
        return names, _target_text(target, iter(names), is_outermost=True)

    def _keep_form(self, node: Any, kind: str, reason: str) -> Any:
        """Keep the comprehension's form, with operators around its iterables and conditions."""
        is_asynchronous = any(generator.is_async for generator in node.generators)
        form = "plain" if is_asynchronous else "statement"
        self.context.note(kind, node, self.function, form, stages=False, reason=reason)
        if not is_asynchronous:
            for generator in node.generators:
                generator.iter = build.wrap("iterate", generator.iter)
                generator.ifs = [build.wrap("test", test) for test in generator.ifs]
        return node if isinstance(node, gast.GeneratorExp) else build.wrap("new", node)

    def visit_Call(self, node: Any) -> Any:
        """Leave a comprehension alone if an earlier run of the pass kept its form."""
        if build.is_operation(node, "new") and isinstance(node.args[0], COMPREHENSIONS):
            comprehension = self.visit(node.args[0])
            if build.is_operation(comprehension, "new"):
                return comprehension
            return build.place(build.operate("new", comprehension), node)
        return self.visit_children(node)

    def _reason_to_keep(self, node: Any) -> str:
        """Return why a comprehension keeps its form, '' if it does not."""
        if any(generator.is_async for generator in node.generators):
            return "asynchronous"
        inner_nodes = [child for part in inner_parts(node) for child in walk(part)]
        if any(isinstance(child, (gast.Await, gast.NamedExpr)) for child in inner_nodes):
            return "an await or an assignment expression in it"
        if any(isinstance(child, gast.Name) and child.id in FRAME_CALLS for child in inner_nodes):
            return "a function in it that looks at its frame"
        if not all(_is_plain_target(generator.target) for generator in node.generators):
            return "a target that is no name"
        if any(build.is_operation(generator.iter, "iterate") for generator in node.generators):
            return "it is rewritten already"
        target_names = clause_names(node)
        if any(free_names & target_names for free_names in free_names_of_each(self._deferred_functions_in(node))):
            return "functions in it share its names"
        return ""

    def _deferred_functions_in(self, node: Any) -> Iterator[Any]:
        """Yield the user's lambdas in a comprehension, and the generator expressions that may outlive an iteration."""
        consumed_ids = set()
        for part in inner_parts(node):
            for child in walk(part):
                if isinstance(child, gast.Call) and _is_consumer(child.func) and child.args:
                    consumed_ids.add(id(child.args[0]))
        for part in inner_parts(node):
            for child in walk(part):
                is_lambda = isinstance(child, gast.Lambda) and not self.context.is_generated(child)
                if is_lambda or (isinstance(child, gast.GeneratorExp) and id(child) not in consumed_ids):
                    yield child


def _is_consumer(function: Any) -> bool:
    if build.is_operation(function, "call"):
        function = function.args[0]
    return exhausts_arguments(function)


def _is_plain_target(target: Any) -> bool:
    """Return whether a target consists of names, in tuples of any nesting but no empty ones."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return bool(target.elts) and all(map(_is_plain_target, target.elts))
    if isinstance(target, gast.Starred):
        return isinstance(target.value, gast.Name)
    return isinstance(target, gast.Name)


def _target_names(target: Any) -> Iterator[Any]:
    """Yield the nodes of the names that a target binds, in order."""
    if isinstance(target, gast.Name):
        yield target
    for child in getattr(target, "elts", ()) or ([target.value] if isinstance(target, gast.Starred) else ()):
        yield from _target_names(child)


def _target_text(target: Any, names: Iterator[str], is_outermost: bool = False) -> str:
    """Return the source text of the target, with its names replaced in order by `names`."""
    if isinstance(target, gast.Name):
        return next(names)
    if isinstance(target, gast.Starred):
        return f"*{_target_text(target.value, names)}"
    parts = [_target_text(part, names) for part in target.elts]
    items = ", ".join(parts) + ("," if len(parts) == 1 else "")
    return items if is_outermost else f"({items})"
