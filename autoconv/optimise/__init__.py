"""Optimisation passes: each has a file and a row of `OPTIMISATIONS`, returns an equivalent graph, and can be skipped.

None of them changes what a graph computes: results are equal bit by bit with any subset of them. The exception:
powers that become products, see `simplify`, differ by a unit in the last place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from autoconv.graph.graph import Graph
from autoconv.graph.verify import verify
from autoconv.lazy_dataclass import dataclass
from autoconv.optimise.common import merge_common_subexpressions
from autoconv.optimise.dead import remove_dead
from autoconv.optimise.fold import fold_constants
from autoconv.optimise.forward_stores import forward_array_stores
from autoconv.optimise.hoist import hoist_invariants
from autoconv.optimise.inline import inline_calls
from autoconv.optimise.lists_as_arrays import replace_lists_by_arrays
from autoconv.optimise.masked_elements import mask_elements
from autoconv.optimise.promote_arrays import promote_read_only_arrays
from autoconv.optimise.running_extremes import find_changed_extremes
from autoconv.optimise.shared_payloads import share_payloads
from autoconv.optimise.simplify import simplify_nodes
from autoconv.optimise.unbox import unbox_lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimisation:
    """A pass: `transform(graph, contract)` returns an equivalent graph and leaves the given one unchanged.

    A pass that finds nothing to change may return the graph itself: a copy costs as much as most passes do.

    The contract is "function" or "compile"; the second keeps every exception, also those of unused nodes. The
    docstring of the transform's file shows a graph before and after.
    """

    name: str
    transform: Callable[[Graph, str], Graph]


OPTIMISATIONS = (
    Optimisation(name="inline", transform=inline_calls),  # first: it exposes more to the other passes
    Optimisation(name="unbox", transform=unbox_lists),  # before the rest, which optimise numbers, not objects
    Optimisation(name="forward", transform=forward_array_stores),  # before promote: fewer arrays are written
    Optimisation(name="promote", transform=promote_read_only_arrays),
    Optimisation(name="payloads", transform=share_payloads),  # before fold, which removes what it leaves over
    Optimisation(name="fold", transform=fold_constants),
    Optimisation(name="list_arrays", transform=replace_lists_by_arrays),  # after fold, which finds constant lengths
    Optimisation(name="simplify", transform=simplify_nodes),
    Optimisation(name="common", transform=merge_common_subexpressions),
    Optimisation(name="masked", transform=mask_elements),  # after common, which joins equal masks
    Optimisation(name="extremes", transform=find_changed_extremes),  # after common, which joins equal comparisons
    Optimisation(name="hoist", transform=hoist_invariants),
    Optimisation(name="dead", transform=remove_dead),  # last: removes what the others leave unused
)


def optimise(
    graph: Graph,
    skip: Collection[str] = frozenset(),
    contract: str = "function",
    dump: Callable[[str, Graph], None] | None = None,
) -> Graph:
    """Return an equivalent, cheaper graph; `graph` itself is unchanged.

    `skip` names the passes to leave out; raises ValueError for a name that is not in the table. `dump` is called with
    ("before", graph), and with the name and the graph after each pass. If AUTOCONV_VERIFY=1 is in the environment, each
    graph is verified.
    """
    unknown = sorted(set(skip) - {row.name for row in OPTIMISATIONS})
    if unknown:
        names = ", ".join(row.name for row in OPTIMISATIONS)
        raise ValueError(f"there is no optimisation {', '.join(map(repr, unknown))}; there are {names}")
    _dump_and_verify(graph, "before", dump)
    for row in OPTIMISATIONS:
        if row.name not in skip:
            graph_before, graph = graph, row.transform(graph, contract)
            _dump_and_verify(graph, row.name, dump, is_unchanged=graph is graph_before)
    return graph


def _dump_and_verify(
    graph: Graph, stage: str, dump: Callable[[str, Graph], None] | None, is_unchanged: bool = False
) -> None:
    """Call `dump`, and verify the graph if AUTOCONV_VERIFY is set; an unchanged graph was verified before."""
    if dump is not None:
        dump(stage, graph)
    if not is_unchanged and os.environ.get("AUTOCONV_VERIFY", "") not in ("", "0"):
        try:
            verify(graph)
        except AssertionError as error:
            error.add_note(f"found {'before the optimisations' if stage == 'before' else f'after {stage}'}")
            raise
