"""Trace a Python function: run its converted form on symbolic arguments, and record the graph."""

from __future__ import annotations

import functools
import time
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autoconv.backends import current
from autoconv.emit.converted import ABOUT_TO_CONVERT, changed_names
from autoconv.errors import StagingError
from autoconv.forks import TRACE, new_lock, undone_in_children
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.graph.types import ObjectType
from autoconv.operators.calls.call import converted, is_user_code, meet_class
from autoconv.operators.calls.special_methods import restore_special_methods
from autoconv.operators.regions.region_body import AbandonTrace, Suspended, is_about_program, record_raise
from autoconv.operators.values.instances import expect_made
from autoconv.ops.python.objects import may_change_array
from autoconv.optimise import optimise
from autoconv.runtime.arrays.methods import attribute_of
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import PLAIN, traced_argument
from autoconv.runtime.objects.number_methods import part_of_complex
from autoconv.runtime.objects.rebuilt_arguments import note_rebuilt
from autoconv.runtime.objects.symbolic_objects import StagedException, SymbolicObject
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.journal import Journal
from autoconv.runtime.recording.regions import COMPILE, Trace, current_region, new_trace, recording
from autoconv.runtime.recording.tracebacks import at_definition, raised_by_us
from autoconv.runtime.support.identity import refuse_nans
from autoconv.runtime.support.structure import flatten, keys_of, kinds_of, mutable_parts, pack
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.rollback import refuse_lasting
from autoconv.tracing.guards import python_contract
from autoconv.tracing.guards.captured_arrays import live_constants, make_inputs
from autoconv.tracing.guards.changed_constants import changed_constants
from autoconv.tracing.guards.external_reads import kinds_reached
from autoconv.tracing.guards.external_writes import Outside, Restage, begin_again
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.guards.list_facts import items_of, told_of_items
from autoconv.tracing.guards.trace_time_values import evaluator
from autoconv.tracing.key.argument_structure import taken_apart
from autoconv.tracing.key.array_keys import ArrayKey, is_of_its_own, kind_of
from autoconv.tracing.key.cache_key import Custom, Literal, ObjectKey, Reference, SpecKey, TensorKey
from autoconv.tracing.key.leaf_names import leaf_names
from autoconv.tracing.key.signature import Call, Signature
from autoconv.tracing.key.trace_types import TracingContext
from autoconv.tracing.outputs.aliases import aliased_outputs, parts_leave, share_memory
from autoconv.tracing.outputs.escape_check import refuse_leaks
from autoconv.tracing.outputs.garbage import young_garbage
from autoconv.tracing.outputs.results import outputs_of
from autoconv.tracing.outputs.unknown_writes import refuse_unknown_writes
from autoconv.tracing.views import logs as trace_logs

_COUNTER = iter(range(1, 1 << 62))
LOCK = new_lock(waited=TRACE)
# A function that no earlier process converted has no cached native code either.
ABOUT_TO_CONVERT.append(lambda: current().make_ready() if current_region() is not None else None)


@dataclass(slots=True)
class Traced:
    """The result of a trace, and the variables created while tracing."""

    concrete: ConcreteFunction
    created: list[Variable]


def trace_function(
    function: Callable[..., Any],
    call: Call,
    signature: Signature,
    contract: str,
    owner: Any,
    convert: bool,
    on_create: Callable[[Any], None] | None = None,
) -> Traced:
    """Make one trace; raises the function's errors, with the user's lines, and AbandonTrace if it cannot continue."""
    trace = new_trace(signature.name, contract, convert)
    trace.owned = {}
    created: list[Variable] = []
    trace.on_create = on_create or created.append
    trace.evaluate = evaluator(trace, call, current_region())
    trace.attribute = part_of_complex
    guards = Guards(python=contract == COMPILE, skip=frozenset(spot.key for spot in call.spots))
    if contract == COMPILE:
        outside = _python_rules(trace, call, guards)
        journal = trace.root.journal = Journal(trace.root)
        undo = functools.partial(_put_back, trace, journal, guards)
        with undone_in_children(undo):
            try:
                return _trace(function, call, signature, owner, convert, trace, guards, created, outside)
            finally:
                undo()
    with undone_in_children(functools.partial(restore_special_methods, trace)):
        try:
            return _trace(function, call, signature, owner, convert, trace, guards, created, None)
        finally:
            restore_special_methods(trace)
            trace.evaluate = None  # it holds the arguments, which must not live as long as the trace
            trace.rebuilt.clear()


def _put_back(trace: Trace, journal: Journal, guards: Guards) -> None:
    """Undo the program's writes during the trace."""
    tried = trace.root.journal
    if tried is not None and tried is not journal:  # the attempt during which the trace was abandoned
        tried.roll_back()
    journal.roll_back()
    guards.put_back()
    restore_special_methods(trace)


def _trace(
    function: Callable[..., Any],
    call: Call,
    signature: Signature,
    owner: Any,
    convert: bool,
    trace: Trace,
    guards: Guards,
    created: list[Variable],
    outside: Outside | None,
) -> Traced:
    """Trace with prepared rules and guards: run the function, check effects and results, optimise, compile."""
    contract, begin = trace.contract, time.perf_counter()
    trace.sources = []
    leaves = _placeholders(trace, call, leaf_names(call, signature.specs))
    with recording(trace.root):
        arguments, copies = _arguments(trace, call, leaves)
    built = [part for part in taken_apart(copies, signature.is_leaf, False) if type(part) not in PLAIN]
    note_rebuilt(trace.root, built)
    before = [flatten(copy, signature.is_leaf) for copy in copies]
    with LOCK, recording(trace.root):
        trace.include_guards = guards.include
        trace.watch = functools.partial(_watch_called, guards)
        guards.meet = functools.partial(meet_class, trace.root)
        target = converted(function, trace.root) if convert else function
        _watch(guards, function, target, call)
        for kind in kinds_reached(call.leaves) if contract == COMPILE else map(type, call.leaves):
            meet_class(trace.root, kind)
        for spot in guards.holders():
            meet_class(trace.root, type(spot.read()))
        for kind, held in (what for how, what in call.learned if how == "made"):
            meet_class(trace.root, kind, False)
            expect_made(trace.root, kind, held)
        if outside is not None:
            outside.copies = dict(zip(arguments, copies, strict=True))
            outside.begin(leaves[len(leaves) - len(call.spots) :])
            outside.check_dimensions(call)
        try:
            result = _invoke(target, signature, arguments)
        except Suspended as never:  # the code that follows is not reached
            never.caught()
            result = None
        except BaseException as error:
            refusal = trace.refusal
            if isinstance(refusal, AbandonTrace) or (refusal is not None and type(error) is TypeError):
                raise refusal from None  # handlers of the program, or Python itself, raised something else meanwhile
            if contract != COMPILE or not _is_programs_own(error):
                raise
            record_raise(trace.root, error)  # the graph raises on every call
            result = None
        if trace.refusal is not None:
            raise trace.refusal
        _check_not_modified(call, copies, before, signature, contract, function)
        if contract == COMPILE:
            # Attributes are stored when they are set.
            written = [spot.read() for spot in call.spots if spot.kind != "attribute"]
            python_contract.check_identities(result, (*copies, *guards.values()), written)
        # Before the outputs: new objects stored in older ones are the same objects in the result.
        if outside is not None:
            outside.stores.store(trace.root)
        layout, outputs = outputs_of(result, trace, function)
        if outside is not None:
            outside.containers_change(changed_constants(trace.root.graph))
            assert trace.root.journal is not None
            trace.root.journal.roll_back()
            restore_special_methods(trace)
    graph = trace.root.graph
    graph.outputs = outputs
    if trace.hidden:
        refuse_leaks(graph, trace.hidden)
    if trace.identifies and contract == COMPILE:
        refuse_nans(graph)
    restore_special_methods(trace)  # guards compare the user's own methods
    guards.settle()
    if contract == COMPILE:
        count = len(call.leaves) - len(call.spots)
        whole = [call.leaves[i] for i in range(count) if isinstance(call.key.leaves[i], ObjectKey)]
        copies = [part for copy in copies for part in mutable_parts(copy)]
        refuse_unknown_writes(graph, guards.reached, [*copies, *trace.rebuilt.values()], whole)
        guards.reached.clear()
    if trace.arrays and not trace.memory and aliased_outputs(graph, graph.parameters[: len(call.key.leaves)]):
        if outside is not None and outside.may_be_memory:
            raise Restage(memory=True)  # with arrays as memory, the result is the same array, or a view of it
        if outside is not None and outside.arrays:
            raise Restage(arguments=outside.arrays)  # with arrays as objects, the result is the same array
        raise python_contract.RunPlain("an array from outside, or a view of one, is returned")
    if trace.memory and "taken" in trace.complexes and parts_leave(graph):
        raise StagingError("parts of a complex array are returned, which are views of it")
    if outside is not None and outside.may_be_memory and not trace.memory and share_memory(graph):
        raise Restage(memory=True)
    if guards.unnamed_frozensets and any(map(_makes_a_set, graph.walk())):
        raise python_contract.RunPlain(
            "a set that the graph changes may be combined with a frozenset, which its file does not mention: "
            "name frozenset there"
        )
    if contract == COMPILE and guards.blind:
        raise python_contract.RunPlain(f"{guards.blind[0]} is read, and a change of it would not be noticed")
    if contract == COMPILE and aliased_outputs(graph, live_constants(trace.sources or (), guards.arrays)):
        raise python_contract.RunPlain("an array from outside, or a view of one, is returned")
    captures = [obj for obj, _ in trace.captures.values()]
    captures += make_inputs(graph, trace.sources or (), guards.arrays)
    writes = any(node.effects & Effects.WRITE for node in graph.nodes)
    apart_from = [weakref.ref(array) for array in guards.arrays.values()] if contract == COMPILE and writes else []
    reads_arrays = bool(guards.arrays)
    if apart_from and call.by_object:
        raise python_contract.RunPlain("arrays are changed as Python objects, and an outside array may be among them")
    guards.arrays.clear()
    trace.sources = None
    trace.regions.clear()
    trace.appended.clear()
    trace.reassembled.clear()
    name = f"__inference_{signature.name}_{next(_COUNTER)}"
    with young_garbage():
        told = told_of_items(graph, call.key)
        finished = optimise(told, contract=contract, dump=trace_logs.optimisations(name))
        if outside is not None:
            python_contract.check_guesses(finished)
            python_contract.check_choices(finished, guards.kinds)
            refuse_lasting(finished)
            if any(map(may_change_array, finished.walk())):
                outside.objects_change(reads_arrays)
        trace_logs.graphs(name, graph, finished)
        what = (call.key, call.names, captures, layout, guards, contract, owner, name)
        concrete = ConcreteFunction(graph, finished, *what, arrays=trace.arrays, spots=call.spots)
        concrete.apart_from, concrete.is_narrow = apart_from, call.wide is not None
        concrete.seconds = time.perf_counter() - begin
        concrete.uses_tensors |= trace.uses_tensors
    return Traced(concrete, created)


def _is_programs_own(error: BaseException) -> bool:
    """Return whether the program itself raised the error; errors of this package here may be about the trace."""
    if type(error) is StagedException:
        return True
    ours = raised_by_us(error) and not getattr(error, "_autoconv_run_time", False)
    return not (ours or is_about_program(error))


def _python_rules(trace: Trace, call: Call, guards: Guards) -> Outside:
    """Set up the hooks of a trace under `compile`: for effects, calls of other functions, and values that Python needs.

    Returns the monitor of its writes.
    """
    trace.arrays = call.key.memory or any(
        isinstance(key, TensorKey) and key.origin == "array" for key in call.key.leaves
    )
    if call.key.memory:
        trace.memory = "shared" if call.key.overlaps else "apart"
    trace.allows_call = functools.partial(python_contract.allows_call, trace)
    trace.spend = call.work = call.work or python_contract.Work()
    call.work(python_contract.ATTEMPT)
    outside = Outside(trace, call, guards)
    trace.outside_effect = outside.about_to_write
    trace.is_outside = outside.is_outside
    guards.take_in = outside.take_in
    trace.without_dimensions = outside.without_dimensions
    trace.begin_again = begin_again
    trace.holders = {name for how, name in call.learned if how == "holder"}
    trace.eagerly_created = frozenset(name for how, name in call.learned if how == "class")
    trace.stores.append(outside.stores)
    trace.python_print = python_contract.python_print
    trace.attribute = attribute_of
    values: dict[Any, int] = {}
    trace.leaf_positions = values

    def concretise(tensor: SymbolicTensor, what: str) -> Any:
        position = values.get(tensor.value_in_graph)
        if position is None:
            raise python_contract.RunPlain(f"Python needs {what} while tracing")
        raise python_contract.Specialise(position)

    trace.concretise = concretise
    return outside


def _placeholders(trace: Trace, call: Call, names: Sequence[str]) -> list[Any]:
    """Return the leaves as the function gets them: symbolic tensors, plain values, stand-ins for variables."""
    leaves: list[Any] = []
    for position, (leaf, key, name) in enumerate(zip(call.leaves, call.key.leaves, names, strict=True)):
        if isinstance(leaf, (np.ndarray, np.generic)) and trace.contract == COMPILE and is_of_its_own(leaf):
            what = f"{name!r} is a {kind_of(leaf)}, which a graph does not take as an array of numbers"
            raise python_contract.RunPlain(what)
        if isinstance(key, TensorKey):
            value = trace.root.graph.add_parameter(key.type, name)
            positions = trace.leaf_positions
            if positions is not None and key.origin == "number":
                positions[value] = position
            leaves.append(SymbolicTensor(value))
        elif isinstance(key, ArrayKey):
            if not key.plain:
                raise python_contract.RunPlain(f"the array {name!r} is read-only or has an unusual memory layout")
            type_ = replace(key.type, shared=call.key.overlaps)
            leaves.append(SymbolicArray(trace.root.graph.add_parameter(type_, name)))
        elif isinstance(key, ObjectKey):
            value = trace.root.graph.add_parameter(ObjectType(key.kind), name)
            items = items_of(key)
            if items is not None:
                trace.given_items[value] = items
            leaves.append(SymbolicObject(value))
        elif isinstance(key, SpecKey):
            leaves.append(key.spec(trace.root.graph.add_parameter(key.spec.type, name)))
        elif isinstance(leaf, Variable):
            value = trace.root.graph.add_parameter(leaf.storage.type, name)
            leaves.append(_argument_variable(trace, leaf, value))
        elif isinstance(key, Custom):
            leaves.append(key.type.placeholder_value(TracingContext()))
        else:
            leaves.append(leaf)
    return leaves


def _argument_variable(trace: Trace, variable: Variable, value: Any) -> Variable:
    """Return a stand-in for a variable argument: the graph uses the variable of each call, not this one."""
    stand_in = Variable.__new__(Variable)
    stand_in.__dict__.update(variable.__dict__)

    value_in_graph = value

    class ArgumentStorage:
        value_in_root = value_in_graph
        name, shape, type = variable.storage.name, variable.storage.shape, variable.storage.type
        value = variable.storage.value

        @staticmethod
        def __autoconv_resource__(region: Any) -> Any:
            return region.lift(value_in_graph)

    stand_in._storage = ArgumentStorage()  # type: ignore[assignment]
    return stand_in


def _arguments(trace: Trace, call: Call, leaves: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return the arguments by name, with structures rebuilt around the placeholders."""
    arguments: dict[str, Any] = {}
    copies = []
    position = 0
    for name, template in call.key.templates:
        count = 1 if template is None else template.leaf_count
        given = pack(template, leaves[position : position + count], initialise=trace.contract != COMPILE)
        arguments[name] = given if trace.contract != COMPILE else traced_argument(given)
        copies.append(arguments[name])
        position += count
    return arguments, copies


def _invoke(target: Callable[..., Any], signature: Signature, arguments: dict[str, Any]) -> Any:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    remaining = dict(arguments)
    for name, parameter in signature.python.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            index = 0
            while f"{name}_{index}" in remaining:
                positional.append(remaining.pop(f"{name}_{index}"))
                index += 1
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(remaining)
            remaining.clear()
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = remaining.pop(name)
        else:
            positional.append(remaining.pop(name))
    return target(*positional, **keywords)


def _makes_a_set(node: Node) -> bool:
    return any(isinstance(value.type, ObjectType) and value.type.kind == "set" for value in node.results)


def _watch(guards: Guards, function: Any, target: Any, call: Call) -> None:
    """Guard the function, its owner, and those arguments whose contents are not part of the key."""
    inner = getattr(function, "__func__", function)
    if hasattr(inner, "__code__"):
        guards.add_function(inner, changed_names(inner))
    else:  # a partial function, or a callable object
        guards.add_value("the function", function)
    owner = getattr(function, "__self__", None)
    if owner is not None:
        guards.add_value("self", owner)
    for leaf, key, name in zip(call.leaves, call.key.leaves, call.names, strict=True):
        if isinstance(key, Reference) or (isinstance(key, Literal) and is_user_code(type(leaf))):
            guards.add_value(name, leaf)
    for name, template in call.key.templates:
        for kind in kinds_of(template):
            if is_user_code(kind):
                guards.add_value(f"the class of {name}", kind)
        for key in keys_of(template):
            if is_user_code(type(key)) or isinstance(key, (type, types.FunctionType)):
                guards.add_value(f"a key of {name}", key)
    guards.look_ahead()


def _watch_called(guards: Guards, called: types.FunctionType) -> None:
    guards.add_function(called, changed_names(called))
    guards.look_ahead()


def _check_not_modified(
    call: Call, copies: list[Any], before: list[Any], signature: Signature, contract: str, function: Any
) -> None:
    modified = []
    for (name, _), copy, (leaves, template) in zip(call.key.templates, copies, before, strict=True):
        now, shape = flatten(copy, signature.is_leaf)
        if shape != template or any(a is not b for a, b in zip(now, leaves, strict=True)):
            modified.append(name)
    if not modified:
        return
    if contract == COMPILE:
        raise python_contract.RunPlain(f"the argument {modified[0]!r} is changed")
    text = (
        f"{signature.name}{signature.shown().replace('=<captured_default_value>', '')} should not modify its Python "
        "input arguments. Modifying a copy is allowed. The following parameter(s) were modified: " + ", ".join(modified)
    )
    raise at_definition(ValueError(text), function)


__all__ = ["Traced", "trace_function"]
