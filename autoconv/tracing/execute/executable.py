"""The compiled graph of a trace, with what calls need to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.protocol import CompiledGraph
from autoconv.lazy_dataclass import dataclass
from autoconv.tracing.execute.argument_unpacking import make_unpacking
from autoconv.tracing.execute.call_form import Arguments, Results, has_python_guards, make_call_form, pass_locations
from autoconv.tracing.execute.native_dispatch import as_native_entry
from autoconv.tracing.execute.placed_graphs import compile_placed
from autoconv.tracing.execute.recording import Recording
from autoconv.tracing.execute.rollback import Rollback, make_rollback


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """The compiled graph of a trace, its entries, and functions that read the outer names and attributes it takes.

    `run` takes the values of the graph's parameters. `entry` takes the user's own arguments if these are only tensors,
    arrays and numbers; `checks_guards_in_python` is true if the caller of `entry` has to check guards first.
    """

    compiled: CompiledGraph
    run: Callable[..., Any]
    entry: Callable[..., Any] | None
    checks_guards_in_python: bool
    location_readers: Sequence[Callable[[], Any]]


def compile_recording(
    recording: Recording,
    results: Results,
    donated: Sequence[int],
    backend: str | None,
    are_disjoint: Callable[[Sequence[Any]], bool],
    can_run_again: bool,
) -> Executable:
    """Compile the optimised graph of a recording.

    `donated` are the positions of the leaves whose memory runs take over. `are_disjoint` is called with the leaves of
    structured arguments, and returns whether they share no memory with outside values. `can_run_again` is true if a
    failed run has no side effects.
    """
    key, contract, optimised = recording.key, recording.contract, recording.runnable
    unpacking, location_count = make_unpacking(key, len(recording.locations)), len(recording.locations)
    form_key = key
    if unpacking is not None:
        form_key = unpacking.key
        location_count = len(form_key.leaves) - len(form_key.templates)
        donated = [i for i, leaf_position in enumerate(unpacking.positions) if leaf_position in donated]
    are_extracted = unpacking is not None or bool(recording.locations or recording.containers)
    arguments = Arguments(form_key, donated, location_count, are_extracted)
    form = make_call_form(arguments, recording.captures, results, recording.guards, contract, recording.graph.name)
    rollback = Rollback() if can_run_again or not contract.python_exceptions else make_rollback(optimised)
    form = rollback.add_saved_arrays(form)
    compiled: CompiledGraph = compile_placed(optimised, recording.graph, contract.name, form, backend)
    run, entry = rollback.wrap(compiled, compiled.entry)
    checks_guards_in_python = entry is not None and has_python_guards(recording.guards)
    container_readers, passed_readers = recording.readers()
    if passed_readers and entry is not None:
        entry = pass_locations(entry, passed_readers)
    if unpacking is not None and entry is not None:
        entry = unpacking.wrap_entry(entry, are_disjoint, container_readers)
    return Executable(
        compiled=compiled, run=run, entry=as_native_entry(entry), checks_guards_in_python=checks_guards_in_python,
        location_readers=(*container_readers, *passed_readers),
    )  # fmt: skip
