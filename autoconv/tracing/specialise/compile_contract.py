"""The contract of `@autoconv.compile`: Python's.

Each call has the plain function's results, effects, mutations and exceptions. Effects on outside objects while tracing
are undone, and happen when the graph runs. A call for which that is impossible runs as plain Python: `RunPlain`
abandons the trace. `RestartTrace` and `Specialise` restart it with more inputs, or with a value in its key.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from autoconv.config import SETTINGS
from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType
from autoconv.operators.regions.raised_errors import is_raised_for_program, is_tracing_error
from autoconv.ops.python.objects import may_change_array
from autoconv.runtime.arrays.complex_parts import PARTS_ARE_VIEWS
from autoconv.runtime.arrays.methods import attribute_of
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording.journal import Journal
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.recording.tracebacks import is_package_error
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.identity import insert_nan_checks
from autoconv.runtime.support.structure import mutable_parts
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.execute.rollback import has_no_lasting_effects, refuse_lasting_effects
from autoconv.tracing.guards import trace_restrictions
from autoconv.tracing.guards.attribute_reads import reachable_classes
from autoconv.tracing.guards.captured_arrays import find_captured_constants
from autoconv.tracing.guards.changed_constants import containers_if_changed
from autoconv.tracing.guards.external_writes import RestartTrace, WriteMonitor
from autoconv.tracing.guards.outside_values import OutsideContainers, OutsideValues, values_reached_by_names
from autoconv.tracing.guards.trace_restrictions import ATTEMPT, RunPlain, Specialise, TracingBudget
from autoconv.tracing.key.cache_key import Literal, ObjectKey, TensorKey
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.outputs.aliases import aliased_outputs, outputs_share_memory, returns_complex_parts
from autoconv.tracing.outputs.escaping_constants import find_escaping_containers, find_escaping_values
from autoconv.tracing.outputs.growing_arrays import refuse_growing_arrays
from autoconv.tracing.outputs.unknown_writes import refuse_unknown_writes
from autoconv.tracing.specialise.deciding_arguments import DecidingArguments
from autoconv.tracing.specialise.session_contract import SessionContract

if TYPE_CHECKING:
    from autoconv.graph.graph import Graph, Node
    from autoconv.runtime.recording.journal import Location

_STAGES_HANDLERS = ("handlers", "")
_RETURNED_TWICE = "an array is returned twice, as views that share its memory"
_RETURNED_OUTSIDE_ARRAY = "an array from outside, or a view of one, is returned"


class CompileContract(SessionContract):
    """The contract of traces under `compile`; see `Contract` for its members.

    `write_monitor` monitors the writes to what existed before the trace. `Call.facts` has the facts that earlier traces
    found.
    """

    name = "compile"
    python_numbers = True
    numpy_arrays = True
    objects_in_graph = True
    promises_identity = True
    effects_each_call = True
    python_exceptions = True
    stages_long_loops = True
    runs_plain = True

    def __init__(self, trace: Trace, call: Call, on_create: Callable[[Any], None]) -> None:
        super().__init__(trace, call, on_create)
        self.trace = trace
        self._leaf_positions = trace.positions_of_numbers = {}  # parameter that is a number -> position of its leaf
        key = call.key
        has_arrays = any(isinstance(leaf, TensorKey) and leaf.is_of_array for leaf in key.leaves)
        trace.uses_arrays = key.arrays_as_memory or has_arrays
        if key.arrays_as_memory:
            trace.memory = "shared" if key.overlaps else "disjoint"
        trace.stages_handlers = _STAGES_HANDLERS in call.facts
        trace.complex_array_uses = {"written"} if PARTS_ARE_VIEWS in call.facts else set()
        trace.holders_of_objects = {name for kind, name in call.facts if kind == "holder"}
        trace.classes_made_in_graph = frozenset(name for kind, name in call.facts if kind == "class")
        if call.tracing_budget is None:
            has_only_literals = bool(key.leaves) and all(isinstance(leaf, Literal) for leaf in key.leaves)
            times_calls = SETTINGS.tiers == "measured"
            call.tracing_budget = TracingBudget(times_calls=times_calls, serves_same_values=has_only_literals)
        call.tracing_budget(ATTEMPT)  # counts this attempt
        self._budget: TracingBudget = call.tracing_budget
        self.write_monitor = WriteMonitor(trace, call, self.guards)
        self.guards.restart_with_inputs = self.write_monitor.restart_with_inputs
        trace.store_listeners.append(self.write_monitor.stores)
        self.journal = trace.root.journal = Journal(trace.root)
        self._reads_arrays = False
        self._outside_containers: OutsideContainers | None = None
        self._arguments: Sequence[Any] = ()

    # While the converted code runs

    def before_call(self, function: Any) -> None:
        trace_restrictions.require_pure(self.trace, function)

    def require_original(self, owner: Any, reason: str, locations: Sequence[Location] = ()) -> None:
        self.write_monitor.check_write(owner, reason, locations)

    def is_outside(self, array: np.ndarray) -> bool:
        return self.write_monitor.is_outside(array)

    def record_print(self, values: Sequence[Any], sep: Any, end: Any, file: Any, flush: bool) -> bool:
        trace_restrictions.record_print(values, sep, end, file, flush)
        return True

    def concretise(self, tensor: SymbolicTensor, reason: str) -> NoReturn:
        """Abandon the trace because Python code needs the value of a tensor.

        If numbers among the arguments determine the value, they become part of the key; otherwise the call runs plain.
        """
        position = self._leaf_positions.get(tensor.value_in_graph)
        if position is not None:
            raise Specialise(frozenset({position}))
        self.specialise(tensor)
        raise RunPlain(f"Python needs {reason} while tracing")

    def specialise(self, *values: object) -> None:
        deciding_arguments = DecidingArguments(self._leaf_positions, self.trace.regions)
        symbolic_values = [value for value in values if isinstance(value, (SymbolicTensor, SymbolicArray))]
        deciding_leaves = [deciding_arguments.find_deciding_leaves(value.value_in_graph) for value in symbolic_values]
        if deciding_leaves and all(deciding_leaves):
            raise Specialise(frozenset().union(*deciding_leaves))

    def attribute(self, tensor: SymbolicTensor, name: str) -> Any:
        return attribute_of(tensor, name)

    def as_zero_dimensional_array(self, tensor: Any) -> Any:
        return self.write_monitor.as_zero_dimensional_array(tensor)

    def restart(self, kind: str, fact: Any) -> NoReturn:
        raise RestartTrace(facts=[(kind, fact)])

    def count_step(self, unit: str) -> None:
        self._budget(unit)

    # The steps of the trace

    def argument_classes(self) -> Iterable[type]:
        return reachable_classes(self.call.leaves)

    def begin(self, arguments: Mapping[str, Any], leaves: Sequence[Any]) -> None:
        write_monitor = self.write_monitor
        write_monitor.flattened_arguments = dict(arguments)
        write_monitor.begin(leaves[len(leaves) - len(self.call.locations) :])
        write_monitor.check_dimensions(self.call)

    def is_raised_by_graph(self, error: BaseException) -> bool:
        """Return whether the program itself raised the error; this package's own errors may be about the trace."""
        if type(error) is StagedException:
            return True
        is_error_of_trace = is_package_error(error) and not is_raised_for_program(error)
        return not (is_error_of_trace or is_tracing_error(error))

    def refuse_modified(self, names: Sequence[str], signature: Signature, function: Any) -> NoReturn:
        raise RunPlain(f"the argument {names[0]!r} is changed")

    def after_run(self, result: Any, arguments: Sequence[Any]) -> None:
        """Refuse results and arguments that share containers with outside objects; record the deferred stores."""
        self._arguments = arguments
        # Only deferred locations are still to be stored: attributes were stored when they were set.
        stored_values = [location.read() for location in self.write_monitor.deferred_locations]
        stored_values = [value for value in stored_values if id(value) not in self.trace.argument_containers]
        self._refuse_other_references(arguments)
        trace_restrictions.preserve_identities(result, self._reachable_before_call(arguments), stored_values)
        # Stores precede the outputs: an object that is both stored in an outside object and returned stays one object.
        self.write_monitor.stores.store(self.trace.root)

    def _refuse_other_references(self, arguments: Sequence[Any]) -> None:
        """Raise RunPlain if a container that is an input, flattened, is also reachable by another name."""
        call = self.call
        input_ids = {id(part) for name in call.containers for part in mutable_parts(call.arguments[name])}
        for part in self._reachable_before_call(arguments) if input_ids else ():
            if id(part) in input_ids:
                raise RunPlain(f"{with_article(type(part))} is changed that is also read by another name")

    def _reachable_before_call(self, arguments: Sequence[Any]) -> Iterator[Any]:
        """Iterate over the objects reachable from the arguments and the names read, without those at written locations.
        """
        reads = self.guards.current_reads()
        names = None if reads is None else reads.attribute_names_if_all_known
        values = (*arguments, *self.guards.values())
        return values_reached_by_names(values, names, frozenset(self.write_monitor.input_keys))

    def after_outputs(self) -> None:
        graph = self.trace.root.graph
        self.write_monitor.handle_changed_containers(containers_if_changed(graph))
        self._promote_escaping(find_escaping_containers(graph))
        self.write_monitor.handle_escaping_tuples(find_escaping_values(graph, self.trace.tuples_in_graph))
        self.journal.roll_back()

    def _promote_escaping(self, containers: Sequence[Any]) -> None:
        """Restart the trace with those escaping containers as inputs that existed before the call.

        Raise RunPlain if they cannot be inputs.
        """
        reachable_ids = {id(part) for part in self._reachable_before_call(self._arguments)} if containers else ()
        preexisting_containers = [part for part in containers if id(part) in reachable_ids]
        if preexisting_containers:
            self.write_monitor.handle_changed_containers(preexisting_containers)
            container = with_article(type(preexisting_containers[0]))
            raise RunPlain(f"{container} that existed before the call is stored, raised or returned")

    def check_recorded(self, arguments: Sequence[Any]) -> None:
        """Check writes, memory and the values read; raise for a graph without the program's meaning on each call."""
        graph, guards = self.trace.root.graph, self.guards
        if self.trace.compares_identity:
            insert_nan_checks(graph)
        self._record_tensor_use()
        self._check_writes(arguments)
        self._check_memory()
        refuse_growing_arrays(graph)
        # A call without lasting effects runs again as plain Python after an error.
        cannot_rerun = self.trace.catches_errors or not has_no_lasting_effects(graph)
        if self.trace.inlines_handlers and self.trace.raises_in_handlers and cannot_rerun:
            raise RestartTrace(facts=[_STAGES_HANDLERS])
        if guards.unnamed_frozensets and any(map(_makes_set, graph.walk())):
            raise RunPlain(
                "a set is made and a frozenset is read in a file without the word frozenset, which converts in-place "
                "operators on sets for both: write it in this file"
            )
        if guards.unguarded:
            raise RunPlain(f"{guards.unguarded[0]} is read, and a change of it would not be noticed")
        if aliased_outputs(graph, find_captured_constants(self.trace.constant_sources or (), guards.arrays)):
            raise RunPlain(_RETURNED_OUTSIDE_ARRAY)

    def _record_tensor_use(self) -> None:
        """Set `uses_tensors` if the graph captures a tensor of the program, and not only tensors that tracing made.

        Raise RunPlain if the graph has arrays of the arguments beside captured tensors or variables. Its results would
        all be arrays, and plain Python's are tensors where these are operands.
        """
        captured_ids = {id_ for id_, (value, _) in self.trace.captures.items() if isinstance(value, EagerTensor)}
        captures_tensors = bool(captured_ids) and any(id(x) in captured_ids for x in self.guards.reached_values)
        self.trace.uses_tensors |= captures_tensors
        captures_variables = any(isinstance(value, Storage) for value, _ in self.trace.captures.values())
        has_arrays = any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in self.call.leaves)
        if has_arrays and (captures_tensors or captures_variables):
            raise RunPlain("an array of the arguments is used beside a tensor or variable from outside")

    def _check_writes(self, arguments: Sequence[Any]) -> None:
        """Raise for writes to objects that may alias others which the trace read."""
        graph, call, guards = self.trace.root.graph, self.call, self.guards
        containers_end = len(call.leaves) - len(call.locations)  # the leaves of written locations follow
        ids_at_locations = {id(part) for location in call.all_locations for part in mutable_parts(location.read())}
        opaque_arguments = [
            leaf
            for leaf, key in zip(call.leaves[:containers_end], call.key.leaves, strict=False)
            if isinstance(key, ObjectKey) and id(leaf) not in ids_at_locations
        ]
        rebuilt_parts = [part for argument in arguments for part in mutable_parts(argument)]
        rebuilt_parts += self.trace.rebuilt_arguments.values()
        names = guards.reads.attribute_names_if_all_known if guards.reads else None
        reached_values = list(values_reached_by_names(guards.reached_values, names))
        if refuse_unknown_writes(graph, reached_values, rebuilt_parts, opaque_arguments):
            self._outside_containers = OutsideContainers(guards, self._written_containers(containers_end))
        guards.reached_values.clear()

    def _written_containers(self, end: int) -> list[Any] | None:
        """Return the containers that the graph may change, if all of them were flattened; otherwise None.

        Their leaves in the key follow those of the arguments, and end before the position `end`.
        """
        key = self.call.key
        start = key.template_leaf_count
        if any(isinstance(leaf, ObjectKey) for leaf in (*key.leaves[:start], *key.leaves[end:])):
            return None
        return self.call.leaves[start:end]

    @property
    def arrays_are_objects(self) -> bool:
        return self.call.arrays_as_objects

    def _check_memory(self) -> None:
        """Raise if plain Python's results share memory with arguments or each other, and those of the graph do not."""
        trace, graph, write_monitor = self.trace, self.trace.root.graph, self.write_monitor
        parameters = set(graph.parameters[: len(self.call.key.leaves)])
        loads = [node for node in graph.nodes if node.op.name == "array_load" and node.inputs[0] in parameters]
        parameters |= {node.results[0] for node in loads}
        if trace.uses_arrays and not trace.memory and aliased_outputs(graph, parameters):
            if write_monitor.may_be_memory:
                raise RestartTrace(arrays_as_memory=True)  # then the result is the same array, or a view of it
            if write_monitor.array_names:
                raise RestartTrace(arguments=write_monitor.array_names)  # as objects, the result is the same array
            raise RunPlain(_RETURNED_OUTSIDE_ARRAY)
        if trace.memory and "split" in trace.complex_array_uses and returns_complex_parts(graph):
            raise RestartTrace(facts=[PARTS_ARE_VIEWS])  # in plain Python, a returned part is a view of its array
        if trace.memory or not (write_monitor.may_be_memory or self.call.arrays_as_objects):
            return  # outputs are views where NumPy's are, or tensors
        if outputs_share_memory(graph):
            raise RestartTrace(arrays_as_memory=True) if write_monitor.may_be_memory else RunPlain(_RETURNED_TWICE)

    def outside_values(self) -> OutsideValues:
        """Return the outside arrays that the trace read, with which arguments must not overlap if the graph writes."""
        arrays = self.guards.arrays
        writes = any(node.effects & Effects.WRITE for node in self.trace.root.graph.nodes)
        must_not_overlap = [weakref.ref(array) for array in arrays.values()] if writes else []
        self._reads_arrays = bool(arrays)
        if must_not_overlap and self.call.arrays_as_objects:
            raise RunPlain("arrays are changed as Python objects, and an outside array may be among them")
        return OutsideValues(must_not_overlap, self._outside_containers)

    def check_optimised(self, graph: Graph) -> None:
        trace_restrictions.require_undoable_guesses(graph)
        trace_restrictions.require_undoable_attributes(graph, self.guards.compared_classes)
        refuse_lasting_effects(graph)
        if any(map(may_change_array, graph.walk())):
            self.write_monitor.handle_changed_objects(self._reads_arrays)

    def restore_outside_objects(self, trace: Trace) -> None:
        """Undo the program's writes during the trace."""
        try:
            abandoned_journal = trace.root.journal
            if abandoned_journal is not None and abandoned_journal is not self.journal:
                abandoned_journal.roll_back()
            self.journal.roll_back()
            self.guards.restore_arrays()
        finally:
            super().restore_outside_objects(trace)


def _makes_set(node: Node) -> bool:
    """Return whether a node returns a set that is an object of the graph."""
    return any(isinstance(value.type, ObjectType) and value.type.kind == "set" for value in node.results)
