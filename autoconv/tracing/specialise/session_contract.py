"""The steps of a trace at which its contract acts, and the common part of both contracts."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from autoconv.emit.converted import mutated_names
from autoconv.operators.calls.call import is_user_code
from autoconv.operators.calls.special_methods import restore_special_methods
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import Trace, current_region
from autoconv.runtime.support.structure import keys_of, kinds_of
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.guards.outside_values import OutsideValues
from autoconv.tracing.guards.trace_time_values import make_evaluator
from autoconv.tracing.key.cache_key import Literal, Reference
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.signature import Signature

if TYPE_CHECKING:
    from autoconv.graph.graph import Graph, Value

_Evaluate = Callable[["Value"], Any]  # from a value to its array in this call, or None; see `make_evaluator`


class SessionContract(Contract):
    """The contract of one trace of a decorated function. `TraceSession` calls its steps in the order of this class.

    `on_create` is called for each variable that the traced code creates.
    """

    def __init__(self, trace: Trace, call: Call, on_create: Callable[[Any], None]) -> None:
        self.call = call
        input_keys = frozenset(location.key for location in call.all_locations)
        self.guards = Guards(runs_plain=self.runs_plain, input_keys=input_keys)
        self._on_create = on_create
        self._evaluate: _Evaluate | None = make_evaluator(trace, call, current_region())

    def argument_classes(self) -> Iterable[type]:
        """Return the arguments' classes, whose special methods are converted."""
        return map(type, self.call.leaves)

    def begin(self, arguments: Mapping[str, Any], leaves: Sequence[Any]) -> None:
        """Prepare the arguments, by name, and the written locations, whose values are the last leaves.
        """

    def is_raised_by_graph(self, error: BaseException) -> bool:
        """Return whether `error`, which ended the converted code, is one that the graph raises on each call."""
        return False

    def refuse_modified(self, names: Sequence[str], signature: Signature, function: Callable[..., Any]) -> NoReturn:
        """Raise for arguments whose structure the converted code changed."""
        raise NotImplementedError

    def after_run(self, result: Any, arguments: Sequence[Any]) -> None:
        """Check the result and record the writes, before the outputs are made."""

    def after_outputs(self) -> None:
        """Undo the writes of the traced code, as the graph now has its outputs."""

    def check_recorded(self, arguments: Sequence[Any]) -> None:
        """Raise for a recorded graph that does not have the program's meaning on each call."""

    def outside_values(self) -> OutsideValues:
        """Return the outside values with which arguments must not overlap, because the graph may change arguments."""
        return OutsideValues()

    def check_optimised(self, graph: Graph) -> None:
        """Raise for an optimised graph whose effects cannot be undone where they have to be."""

    def restore_outside_objects(self, trace: Trace) -> None:
        """Undo the trace's changes of outside objects: after its end, and in a child process forked during the trace.
        """
        restore_special_methods(trace)

    def close(self, trace: Trace) -> None:
        """Release the arguments of the call, because the trace itself lives until cyclic references are collected."""
        self._evaluate = None
        del self.call
        self.guards.release()

    def on_variable_created(self, variable: Any) -> None:
        self._on_create(variable)

    def evaluate(self, value: Value) -> Any:
        return None if self._evaluate is None else self._evaluate(value)

    def on_converted(self, function: types.FunctionType) -> None:
        self.guards.add_function(function, mutated_names(function))
        self.guards.check_new_values()

    def include_guards(self, guards: Guards) -> None:
        self.guards.include(guards)

    def watch(self, function: Any) -> None:
        """Guard the function, a method's instance, and the arguments whose contents are not part of the key."""
        guards, call = self.guards, self.call
        python_function = getattr(function, "__func__", function)
        if hasattr(python_function, "__code__"):
            guards.add_function(python_function, mutated_names(python_function))
            guards.function = python_function if isinstance(python_function, types.FunctionType) else None
        else:  # a partial function, or a callable object
            guards.add_value("the function", function)
        instance = getattr(function, "__self__", None)
        if instance is not None:
            guards.add_value("self", instance)
        for leaf, key, name in zip(call.leaves, call.key.leaves, call.names, strict=True):
            if isinstance(key, Reference) or (isinstance(key, Literal) and is_user_code(type(leaf))):
                guards.add_value(name, leaf)
        for name, template in call.key.templates:
            for cls in kinds_of(template):
                if is_user_code(cls):
                    guards.add_value(f"the class of {name}", cls)
            for key in keys_of(template):
                if is_user_code(type(key)) or isinstance(key, (type, types.FunctionType)):
                    guards.add_value(f"a key of {name}", key)
        guards.check_new_values()
