"""The table of the source tower's passes, in order. Each module's docstring shows its rewrite, before and after."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import gast

from autoconv.passes import (
    assertions,
    calls,
    comprehensions,
    control_flow,
    displays,
    eager_fast_path,
    effects,
    exits,
    groups,
    in_place_operators,
    lifting,
    logic,
    matches,
    normalise,
    subscripts,
    texts,
)
from autoconv.passes.base import Context


class Pass(NamedTuple):
    """A row of the table. `removes`: node kinds that no function contains after the pass."""

    name: str
    transform: Callable[[gast.AST, Context], gast.AST]
    removes: tuple[type, ...] = ()

    @property
    def summary(self) -> str:
        docstring = sys.modules[self.transform.__module__].__doc__ or ""
        return docstring.split("\n\n")[0].replace("\n", " ")


PASSES: tuple[Pass, ...] = (
    Pass("matches", matches.transform, removes=(gast.Match,)),
    Pass("groups", groups.transform),
    Pass("normalise", normalise.transform),
    Pass("assertions", assertions.transform),
    Pass("effects", effects.transform),
    Pass("subscripts", subscripts.transform),
    Pass("logic", logic.transform),
    Pass("displays", displays.transform),
    Pass("texts", texts.transform),
    Pass("sets", in_place_operators.transform),
    Pass("calls", calls.transform),
    Pass("exits", exits.transform),
    Pass("lifting", lifting.transform),
    Pass("control_flow", control_flow.transform),
    Pass("comprehensions", comprehensions.transform),
    Pass("untraced", eager_fast_path.transform),
)

# (earlier, later, reason)
MUST_PRECEDE: tuple[tuple[str, str, str], ...] = (
    ("matches", "normalise", "the conditions of patterns may be chained comparisons, which are split"),
    ("groups", "normalise", "the generated try statements may have an else clause, which is moved"),
    ("normalise", "effects", "augmented assignments have to be plain assignments before writes are rewritten"),
    ("normalise", "logic", "a chained comparison is an `and` of simple ones"),
    ("normalise", "exits", "a while with a walrus gets a break"),
    ("assertions", "calls", "the exception inside a raise is called like any other function"),
    ("effects", "subscripts", "an item that is written is not read"),
    ("effects", "lifting", "item assignment rebinds the name, which makes it state"),
    ("logic", "lifting", "reads inside deferred operands are checked too"),
    ("logic", "sets", "a difference in a comparison is still recognised as an expression of numbers"),
    ("sets", "calls", "calls of the inserted operators are not routed through `ag__.call`"),
    ("calls", "exits", "calls of the operators for exits are not routed through `ag__.call`"),
    ("exits", "lifting", "exit codes and return values are state like other variables"),
    ("exits", "control_flow", "a region can only become a function when nothing leaves it early"),
    ("lifting", "control_flow", "a region's arguments have to be assigned"),
    ("lifting", "comprehensions", "the outer names that a comprehension reads are found in its original form"),
    ("control_flow", "comprehensions", "the functions made of comprehensions are not scopes of the user"),
    ("comprehensions", "untraced", "the untraced copy is not rewritten"),
    ("control_flow", "untraced", "the untraced copy is not rewritten"),
)


# Called after each pass with the file, the name of the pass, and its time in seconds.
PASS_WATCHERS: list[Callable[[str, str, float], None]] = []


def run_passes(
    tree: gast.AST, context: Context, last: str | None = None, skip: frozenset[str] = frozenset()
) -> gast.AST:
    """Run the passes of the table except those in `skip`, up to and including the one named `last` if given."""
    if "untraced" not in skip and last in (None, "untraced"):
        tree = eager_fast_path.save_statements(tree, context)
    for pass_ in PASSES:
        if pass_.name not in skip:
            start = time.perf_counter()
            tree = pass_.transform(tree, context)
            for watcher in PASS_WATCHERS:
                watcher(context.filename, pass_.name, time.perf_counter() - start)
        if pass_.name == last:
            break
    return tree
