"""Turn except* into try statements that handle the parts of the exception one by one, in Python's order.

def f():
    try:
        g()
    except* KeyError as e:
        h(e)
# becomes
def f():
    error_ = None
    try:
        g()
    except BaseException as caught_:
        error_ = caught_
    if error_ is not None:
        parts_ = []
        raised_ = []
        part_, rest_ = ag__.split_group(error_, KeyError)
        if part_ is not None:
            parts_.append(part_)
            try:
                try:
                    raise part_
                except BaseException as e:
                    h(e)
            except BaseException as caught_1:
                raised_.append(caught_1)
        to_raise_ = ag__.exception_to_raise(error_, rest_, raised_, parts_)
        if to_raise_ is not None:
            raise to_raise_
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.pinned_constructs import pinning_construct
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build
from autoconv.syntax.tree import walk


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Groups(context).visit(tree)


class Groups(FunctionPass, statements_only=True):
    """Turn try statements with `except*` clauses into plain ones."""

    def visit_TryStar(self, node: Any) -> Any:
        """Return the statements in place of a try with `except*` clauses; the try itself if it has to stay."""
        self.visit_children(node)
        # Some constructs are bound to their frame (yield, locals()); the handlers become code of other frames.
        if pinning_construct(node) or any(map(_raises_its_part, node.handlers)):
            return node
        statements = self._lower_handlers(node)
        if node.finalbody:
            statements = [gast.Try(statements, [], [], node.finalbody)]
        return [build.place(statement, node) for statement in statements]

    def _lower_handlers(self, node: Any) -> list[Any]:
        """Return the statements for the body, the handlers and the else clause; the module's docstring shows them."""
        fresh = self.namer.fresh
        error, caught, parts, raised, remaining, to_raise = map(
            fresh, ("error_", "caught_", "parts_", "raised_", "rest_", "to_raise_")
        )
        store_error = build.assign(error, build.name(caught))
        body_try = gast.Try(node.body, [_catch_all(caught, [store_error])], [], [])
        statements: list[Any] = [
            build.assign(parts, gast.List([], gast.Load())), build.assign(raised, gast.List([], gast.Load())),
        ]  # fmt: skip
        remaining_name = error
        for handler in node.handlers:
            part = fresh("part_")
            targets = gast.Tuple([build.store(part), build.store(remaining)], gast.Store())
            split = build.operate("split_group", build.name(remaining_name), handler.type)
            statements.append(build.assign(targets, split))
            remaining_name = remaining
            statements.append(self._if_not_none(part, self._lower_handler(handler, part, parts, raised)))
        names = [build.name(name) for name in (error, remaining, raised, parts)]
        statements.append(build.assign(to_raise, build.operate("exception_to_raise", *names)))
        statements.append(self._if_not_none(to_raise, [gast.Raise(build.name(to_raise), None)]))
        return [build.assign(error, build.constant(None)), body_try, self._if_not_none(error, statements, node.orelse)]

    def _lower_handler(self, handler: Any, part_name: str, parts_name: str, errors_name: str) -> list[Any]:
        """Return the statements of a clause: they append the group named `part_name` to the list named
        `parts_name`, handle it, and append an error that the clause raises to the list named `errors_name`.
        """
        raised_part = gast.Raise(build.name(part_name), None)
        handling_try = gast.Try([raised_part], [_catch_all(handler.name, handler.body)], [], [])
        name = self.namer.fresh("caught_")
        collecting_try = gast.Try([handling_try], [_catch_all(name, [_append_to(errors_name, name)])], [], [])
        return [_append_to(parts_name, part_name), collecting_try]

    def _if_not_none(self, name: str, body: list[Any], orelse: list[Any] | None = None) -> Any:
        test = gast.Compare(build.name(name), [gast.IsNot()], [build.constant(None)])
        return self.context.mark_generated(gast.If(test, body, orelse or []))


def _catch_all(name: Any, body: list[Any]) -> Any:
    return gast.ExceptHandler(build.name("BaseException"), build.store(name) if isinstance(name, str) else name, body)


def _append_to(list_name: str, name: str) -> Any:
    return gast.Expr(build.call(gast.Attribute(build.name(list_name), "append", gast.Load()), build.name(name)))


def _raises_its_part(handler: Any) -> bool:
    """Return whether an `except* … as e` clause contains `raise e`, which Python distinguishes from a bare raise."""
    name = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
    return any(isinstance(n, gast.Raise) and isinstance(n.exc, gast.Name) and n.exc.id == name for n in walk(handler))
