"""Trace a Python function: run its converted form on symbolic arguments, and record the graph."""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from autoconv.backends import get_backend
from autoconv.emit.converted import BEFORE_CONVERSION
from autoconv.forks import TRACE, new_lock, undo_in_children
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.calls.call import convert_members
from autoconv.operators.calls.decorated import convert_decorated
from autoconv.operators.calls.special_methods import restore_special_methods
from autoconv.operators.regions.layout import Layout
from autoconv.operators.regions.outside_writes import check_outside_writes
from autoconv.operators.regions.raised_errors import record_raise
from autoconv.operators.regions.tracing_signals import AbandonTrace, Suspended
from autoconv.operators.values.instances import expect_class_in_graph
from autoconv.process_state import rare_collections
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.rebuilt_arguments import register_rebuilt
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import (
    current_region,
    new_trace,
    recording,
    recording_state,
    restore_recording,
)
from autoconv.runtime.support.structure import flatten
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.recording import Recording
from autoconv.tracing.guards.captured_arrays import lift_captured_arrays
from autoconv.tracing.guards.list_facts import mark_list_facts
from autoconv.tracing.guards.numpy_error_state import report_constant_errors
from autoconv.tracing.key.argument_structure import find_structures_to_flatten
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.leaf_names import leaf_names
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.outputs.escape_check import refuse_escapes
from autoconv.tracing.outputs.garbage import collect_young_garbage
from autoconv.tracing.outputs.results import make_outputs
from autoconv.tracing.specialise.placeholders import invoke, make_placeholders, rebuild_arguments
from autoconv.tracing.specialise.session_contract import SessionContract

_TRACE_NUMBERS = itertools.count(1)
LOCK = new_lock(order=TRACE)


def _prepare_backend_once() -> None:
    """Start the backend's helper process at the first conversion in a trace.

    If the converted code is not cached on disk, the native code will not be either, and has to be compiled.
    """
    if current_region() is not None:
        get_backend().prepare_in_background()
        if _prepare_backend_once in BEFORE_CONVERSION:
            BEFORE_CONVERSION.remove(_prepare_backend_once)


BEFORE_CONVERSION.append(_prepare_backend_once)


@dataclass(slots=True)
class TraceResult:
    """A finished trace, and the variables that the function created while it was traced."""

    concrete: ConcreteFunction
    created_variables: list[Variable]


@dataclass(slots=True)
class Traceable:
    """The subject of a trace: a Python function, its signature, the contract, and the `Function` that owns the trace.

    `converts` is False if the function runs unconverted, with its Python control flow.
    """

    function: Callable[..., Any]
    signature: Signature
    contract: type[SessionContract]
    owner: Any
    converts: bool = True


def trace_function(subject: Traceable, call: Call, on_create: Callable[[Any], None] | None = None) -> TraceResult:
    """Trace a function for a call.

    `on_create` is called for each variable that the function creates. By default, it collects them for the result.
    """
    return TraceSession(subject, call, on_create).run()


class TraceSession:
    """One trace of a function for one call, in steps.

    The arguments are replaced by placeholders. The converted code runs on them, and its result becomes the outputs. The
    graph is checked, optimised and compiled. The contract acts between the steps.
    """

    def __init__(self, subject: Traceable, call: Call, on_create: Callable[[Any], None] | None = None) -> None:
        self._start_time = time.perf_counter()
        self.subject = subject
        self.call = call
        self.trace = new_trace(subject.signature.name, converts=subject.converts)
        self.trace.created_objects = {}
        self.trace.constant_sources = []
        self.created_variables: list[Variable] = []
        on_create = on_create or self.created_variables.append
        self.contract = self.trace.contract = subject.contract(self.trace, call, on_create)
        self.guards = self.contract.guards

    def run(self) -> TraceResult:
        """Make the trace. Raises the function's errors, and AbandonTrace to restart the trace or give it up."""
        undo_writes = functools.partial(self.contract.restore_outside_objects, self.trace)
        previous_recording = recording_state()
        with undo_in_children(undo_writes), rare_collections():
            try:
                self._prepare()
                with LOCK, recording(self.trace.root), self._close_generators_on_error(), self._record_float_warnings():
                    result = self._run_converted()
                    layout = self._make_outputs(result)
                self._check()
                self._lift_outside_arrays()
                with collect_young_garbage():
                    concrete = self._compile(self._make_recording(layout))
            finally:
                restore_recording(previous_recording)
                undo_writes()
                self.contract.close(self.trace)
        return TraceResult(concrete, self.created_variables)

    @contextlib.contextmanager
    def _close_generators_on_error(self) -> Iterator[None]:
        """Close the generators of an abandoned trace, while writes of their `finally` blocks can still be undone."""
        try:
            yield
        except BaseException:
            for generator in (reference() for reference in self.trace.generators):
                with contextlib.suppress(Exception, AbandonTrace):
                    if generator is not None:
                        generator.close()
            raise

    def _record_float_warnings(self) -> contextlib.AbstractContextManager[None]:
        """Record whether NumPy would warn about a computation on constants, if the contract is Python's."""

        def record_warning() -> None:
            self.trace.warns_of_constants = True

        return report_constant_errors(record_warning) if self.subject.contract.runs_plain else contextlib.nullcontext()

    def _prepare(self) -> None:
        """Make the arguments: placeholders for the leaves, in structures like the caller's."""
        call, is_leaf = self.call, self.subject.signature.is_leaf
        self._leaves = make_placeholders(self.trace, call, leaf_names(call, self.subject.signature.specs))
        with recording(self.trace.root):
            self._arguments = rebuild_arguments(self.trace, call, self._leaves)
        self._rebuilt_arguments = list(self._arguments.values())
        register_rebuilt(self.trace.root, self._rebuilt_structures(self._rebuilt_arguments))
        self._flattened_before = [flatten(argument, is_leaf) for argument in self._rebuilt_arguments]
        self._key_orders = list(map(self._dict_orders, self._rebuilt_arguments))

    def _rebuilt_structures(self, arguments: list[Any]) -> list[Any]:
        """Return the structures in rebuilt arguments, except containers whose changes the trace records."""
        structures = find_structures_to_flatten(arguments, self.subject.signature.is_leaf, is_under_compile=False)
        return [structure for structure in structures if type(structure) not in TRACED_TO_PLAIN]

    def _dict_orders(self, argument: Any) -> list[list[Any]]:
        """Return the keys of each rebuilt dict in an argument, in order: templates do not include the order."""
        return [list(part) for part in self._rebuilt_structures([argument]) if isinstance(part, dict)]

    def _run_converted(self) -> Any:
        """Run the converted code, and return its result; None if the graph raises on every call."""
        function, root = self.subject.function, self.trace.root
        self.guards.on_class_read = functools.partial(convert_members, root)
        target = convert_decorated(function, root) if self.subject.converts else function
        self.contract.watch(function)
        self._convert_members()
        self.contract.begin(self._arguments, self._leaves)
        result = None
        try:
            result = invoke(target, self.subject.signature, self._arguments)
        except Suspended as signal:  # the graph raises or loops for ever here, so the rest of the code is not reached
            signal.mark_caught()
        except BaseException as error:
            refusal = self.trace.refusal
            if isinstance(refusal, AbandonTrace) or (refusal is not None and type(error) is TypeError):
                raise refusal from None  # handlers of the program, or Python itself, raised something else meanwhile
            if not self.contract.is_raised_by_graph(error):
                raise
            record_raise(root, error)  # the graph raises on every call
        if self.trace.refusal is not None:
            raise self.trace.refusal
        return result

    def _convert_members(self) -> None:
        """Convert the special methods of the classes whose objects the code may meet."""
        root = self.trace.root
        for cls in self.contract.argument_classes():
            convert_members(root, cls)
        for location in self.guards.locations():
            convert_members(root, type(location.read()))
        for cls, attribute_names in (fact for fact_kind, fact in self.call.facts if fact_kind == "made"):
            convert_members(root, cls, is_outer=False)
            expect_class_in_graph(root, cls, attribute_names)

    def _make_outputs(self, result: Any) -> Layout:
        """Turn the result into outputs of the graph and record the code's writes; return the layout of the outputs."""
        self._check_not_modified()
        self.contract.after_run(result, self._rebuilt_arguments)
        layout, self.trace.root.graph.outputs = make_outputs(result, self.trace, self.subject.function)
        self.contract.after_outputs()
        return layout

    def _check_not_modified(self) -> None:
        """Raise the contract's error if the code changed structures of arguments that are not written containers."""
        is_leaf = self.subject.signature.is_leaf
        modified_names = []
        for (name, _), argument, (leaves, template), dict_orders in zip(
            self.call.key.templates, self._rebuilt_arguments, self._flattened_before, self._key_orders, strict=True
        ):
            leaves_after, template_after = flatten(argument, is_leaf)
            if name in self.call.key.written_arguments:
                continue
            pairs = zip(leaves_after, leaves, strict=True)
            has_changed = template_after != template or any(after is not before for after, before in pairs)
            if has_changed or self._dict_orders(argument) != dict_orders:
                modified_names.append(name)
        if modified_names:
            self.contract.refuse_modified(modified_names, self.subject.signature, self.subject.function)

    def _check(self) -> None:
        """Check that the recorded graph has the program's meaning, and take the fingerprints for its guards."""
        trace = self.trace
        restore_special_methods(trace)  # guards compare the user's own methods
        if trace.function_constants:
            refuse_escapes(trace.root.graph, trace.function_constants)
        check_outside_writes(trace)
        self.guards.take_fingerprints()
        self.contract.check_recorded(self._rebuilt_arguments)

    def _lift_outside_arrays(self) -> None:
        """Turn the outside arrays that the code read into inputs of the graph; release what only the recording needs.
        """
        trace, guards = self.trace, self.guards
        self._captures = [captured for captured, _ in trace.captures.values()]
        self._captures += lift_captured_arrays(trace.root.graph, trace.constant_sources or (), guards.arrays)
        self._outside_values = self.contract.outside_values()
        guards.arrays.clear()
        trace.constant_sources = None
        trace.regions.clear()
        trace.appended_items.clear()
        trace.reassembled_objects.clear()

    def _make_recording(self, layout: Layout) -> Recording:
        """Return the finished recording with its optimised graph.

        Under `function`, the graph is not optimised if the trace is made for a call in another trace: that one
        optimises its own copy.
        """
        call, trace, subject = self.call, self.trace, self.subject
        recorded_graph = trace.root.graph
        recording = Recording(
            graph=recorded_graph, runnable=mark_list_facts(recorded_graph, call.key), key=call.key,
            names=call.names, captures=self._captures, layout=layout, guards=self.guards, contract=subject.contract,
            uses_arrays=trace.uses_arrays, locations=call.locations, containers=tuple(call.containers.values()),
            warns_of_constants=trace.warns_of_constants,
        )  # fmt: skip
        self._name = f"__inference_{subject.signature.name}_{next(_TRACE_NUMBERS)}"
        if current_region() is None or self.contract.python_exceptions:
            recording = recording.optimise(self._name)
            self.contract.check_optimised(recording.runnable)
        return recording

    def _compile(self, recording: Recording) -> ConcreteFunction:
        """Compile the optimised graph."""
        call, trace, subject = self.call, self.trace, self.subject
        concrete = ConcreteFunction(recording, subject.owner, self._name)
        concrete.outside, concrete.is_narrow = self._outside_values, call.general_key is not None
        concrete.seconds = time.perf_counter() - self._start_time
        concrete.uses_tensors |= trace.uses_tensors
        concrete.raises_in_handlers = trace.raises_in_handlers
        return concrete
