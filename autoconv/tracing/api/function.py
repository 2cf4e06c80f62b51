"""Function: the result of the decorators, which traces, caches and runs."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, overload

from autoconv.backends import check_backend_name, get_backend
from autoconv.config import SETTINGS
from autoconv.errors import AutoconvError, InaccessibleTensorError
from autoconv.operators.calls.decorated import convert_decorated
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.recording.tracebacks import find_place, place_at_definition, present, present_errors
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.numpy_behaviour import call_plain
from autoconv.tracing.api.active_traces import ReentersTrace, has_to_be_inlined, reenters_trace, tracing
from autoconv.tracing.api.attributes import FunctionAttributes, record_package_attributes
from autoconv.tracing.api.bound_methods import MethodBinding, TransientMethod
from autoconv.tracing.api.call_paths import CallDispatch, P, R
from autoconv.tracing.api.function_options import DEFAULTS, FunctionOptions
from autoconv.tracing.api.introspection import FunctionIntrospection
from autoconv.tracing.api.outlining import LoopOutlining
from autoconv.tracing.api.pickling import Pickling
from autoconv.tracing.api.trace_maker import TraceMaker
from autoconv.tracing.execute.binding import bind_to_trace
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.donation import select_donated_names
from autoconv.tracing.execute.internal_errors import count_fault, is_program_error
from autoconv.tracing.execute.plain_rerun import UNDONE_ERRORS, public_error_text, rerun_plain, reruns_plain
from autoconv.tracing.execute.taped_calls import NotDifferentiable
from autoconv.tracing.guards.hooked_objects import find_hook_reason
from autoconv.tracing.key.argument_structure import CannotFlatten
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import Key, Reference, accepts
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.definition import Definition
from autoconv.tracing.key.signature import Signature, is_method
from autoconv.tracing.specialise.bailout import Bailout, TraceBudget
from autoconv.tracing.specialise.function_contract import FunctionContract
from autoconv.tracing.specialise.program_clock import clock
from autoconv.tracing.specialise.retracing import find_call_counter
from autoconv.tracing.specialise.session_contract import SessionContract
from autoconv.tracing.specialise.trace import Traceable, trace_function
from autoconv.tracing.specialise.trace_cache import MAX_KEYS, TraceCache
from autoconv.tracing.specialise.trace_feedback import TraceFeedback
from autoconv.tracing.views.explain import Explanation

_SINGLETON_ERROR = (
    "autoconv.function only supports singleton autoconv.Variables created on the first call: it tried to create "
    "variables on non-first call"
)
_VARIABLE_REMEDY = (
    "Make sure the autoconv.Variable is only created once or created outside of the function: create it before the "
    "function is called and use it inside, or keep it in a name or attribute that is None at first: "
    "`if self.v is None: self.v = autoconv.Variable(…)`."
)
_NEW_OBJECTS_REASON = (
    "each call passes new objects, or values that need a trace of their own: a call runs as plain Python while all "
    "plain calls with its values together have taken less time than one trace takes. Pass the numbers and arrays that "
    "the objects hold, or reuse the objects"
)
_MAX_TRACES_BEFORE_FULL_KEYS = 16  # a function with more makes no trace for a key that has TRACES_PER_KEY traces
Q = ParamSpec("Q")  # the parameters of a method without `self`


class _SignatureDescriptor:
    """Descriptor of the Python function's signature, for code that ignores `__wrapped__`; None if read from a class."""

    def __get__(self, instance: Any, owner: Any = None) -> inspect.Signature | None:
        if instance is None:
            return None
        wrapped = vars(instance).get("__wrapped__")  # another function if the program has set the attribute
        return inspect.signature(instance.python_function if wrapped is None else wrapped)


@skipped_by_warnings
class Function(MethodBinding, CallDispatch[P, R], LoopOutlining, TraceMaker, FunctionIntrospection, Pickling):
    """A Python function that runs as graphs, one per signature. See `decorators`."""

    __autoconv_function__ = True
    __signature__ = _SignatureDescriptor()
    __slots__ = ("_methods", "_native_entries")  # native code reads these; other attributes are in `__dict__`

    python_function: Callable[P, R]

    def __init__(
        self, python_function: Callable[P, R],
        contract: type[SessionContract] = FunctionContract,
        options: FunctionOptions = DEFAULTS,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        if type(vars(self)) is not FunctionAttributes:
            self.__dict__ = FunctionAttributes(vars(self))
        # First, as the attributes of a wrapped Function must not replace those set below.
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.contract = contract.name
        self._contract = contract
        self._decorator_options = options
        self._reduce_retracing = options.reduce_retracing
        self.backend = check_backend_name(options.backend)
        get_backend().prepare_for_file(getattr(getattr(python_function, "__code__", None), "co_filename", ""))
        name = options.name or str(getattr(python_function, "__name__", "function"))
        self._signature = Signature(python_function, contract, options.input_signature, name, options.follow_type_hints)
        self._input_signature = self._signature.specs
        parameters = self._signature.python_signature.parameters
        self.donate = select_donated_names(options.donate, parameters, self._signature.name) if options.donate else ()
        counter = self._call_counter = find_call_counter(python_function)
        self._bailout = Bailout()
        self._initialise_binding(name)
        self._initialise_outlining()
        self._trace_cache = TraceCache()
        self._plain_reasons: BoundedDict[Key, tuple[str, Any]] = BoundedDict(MAX_KEYS)
        self._explanation = Explanation(self._signature.name)
        self._feedback = TraceFeedback(self._signature, self._explanation)
        times_calls = contract.runs_plain and SETTINGS.tiers == "measured" and not self.donate and self.backend is None
        if times_calls:  # to choose between graphs and plain Python; functions made from one `def` share a budget
            counter.trace_budget = counter.trace_budget or TraceBudget(counts_all_traces=True)
            self._bailout = Bailout(counter.trace_budget)
        self._initialise_dispatch(counter.cell, times_calls=times_calls, checks_float_state=contract.runs_plain)
        self._trace_count = 0
        self._was_traced = False  # true from the first complete trace on, which alone may create variables
        self._definition = Definition(python_function)
        record_package_attributes(self)

    @present_errors
    def _decorate(self, decorator: Callable[[Any], Any]) -> None:
        """Wrap the Python function in a decorator; raise ValueError if it has been traced."""
        if self._trace_count:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        options = self._decorator_options._replace(name=self._signature.name)
        Function.__init__(self, decorator(self.python_function), self._contract, options)

    def _call_by_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call by the trace for its key, or as plain Python; make the trace if there is none.

        While another function is traced, record the call there: as a call of this function's trace, or inline.
        """
        region = current_region()
        if SETTINGS.run_eagerly and region is None:
            return call_plain(self.python_function, args, kwargs)
        if region is not None and (self._contract.effects_each_call or self._reenters_trace(region)):
            return self._inline_call(region, args, kwargs)
        if not self._definition.still_describes(self.python_function):  # the program has replaced parts of it
            Function.__init__(self, self.python_function, self._contract, self._decorator_options)
        self._signature.check_arity()
        self._call_counter.calls += 1
        if self._bailout.runs_unexamined(args, kwargs):
            return self._run_recursively(self._run_with_outlined_loops, args, kwargs)
        hook_reason = find_hook_reason(self.python_function, args, kwargs) if self._contract.runs_plain else ""
        if hook_reason:
            return self._run_plain_unexamined(hook_reason, args, kwargs)
        try:
            call = self._feedback.bind(args, kwargs)
        except (CannotFlatten, TypeError) as error:
            self._explain_arguments(error, args, kwargs)
            call = None
        try:
            concrete = None if call is None else self._trace_cache.find(call.key) or self._find_or_make_trace(call)
        except (InaccessibleTensorError, ReentersTrace) as error:
            if region is None or not has_to_be_inlined(self, error, region):
                raise
            return self._inline_call(region, args, kwargs)
        if concrete is None or call is None:
            return self._run_plain(call, args, kwargs)
        if call.fault is not None:
            count_fault(self._explanation, call.fault)
        if region is not None:
            return concrete.record(region, call.leaves)
        if overlap := concrete.overlap_with_outside(call.leaves):
            self._explanation.plain.append(f"one call: {overlap}")
            return self._run_plain(call=None, args=args, kwargs=kwargs)
        self._bailout.record_graph_call()
        return self._run_trace(concrete, call.leaves, args, kwargs)

    def _inline_call(self, region: Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the call's own nodes in the region, without a trace for it."""
        is_converted = self._decorator_options.autograph
        function = convert_decorated(self.python_function, region) if is_converted else self.python_function
        return function(*args, **kwargs)

    def _run_plain_unexamined(self, reason: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call as plain Python, because examining its arguments would run code of the program."""
        self._explain_once(reason)
        self._bailout.record_plain_call(args)
        return call_plain(self.python_function, args, kwargs)

    def _explain_arguments(self, error: CannotFlatten | TypeError, args: Any, kwargs: Any) -> None:
        """Record why no key describes the arguments and the call runs plain; under `function`, raise an error instead.

        Wrong arguments have no reason: plain Python raises its own error for them.
        """
        if not self._contract.runs_plain:
            if isinstance(error, TypeError):
                raise error
            text = f"{error}: {self._signature.name} takes tensors as arguments. Pass each tensor by itself."
            raise place_at_definition(ValueError(text), self.python_function) from None
        reason = f"{find_place(self.python_function, error)}: {error}"
        with contextlib.suppress(TypeError):
            self._signature.python_signature.bind(*args, **kwargs)
            if reason not in self._explanation.plain:
                self._explanation.plain.append(reason)

    def _run_plain(self, call: Call | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run and record a call as plain Python; `call` is None without a key or a usable trace."""
        if call is not None and call.deferred is not None:  # presumed to be faster as plain Python for now
            return self._run_deferred(call.deferred, args, kwargs)
        # A call is doubtful as long as plain runs with its values have together taken less time than making a trace.
        if call is None or not self._bailout.is_doubtful(call):
            self._bailout.record_plain_call(args)
            if call is not None and call.fault is not None:
                return self._run_after_fault(call.fault, args, kwargs)
            return self._run_recursively(self._run_with_outlined_loops, args, kwargs)
        start = clock()
        try:
            return self._run_unserved(args, kwargs)
        finally:
            if self._bailout.record_doubtful_call(call, clock() - start):
                self._explain_once(_NEW_OBJECTS_REASON)

    def _decide_to_trace(self, call: Call) -> bool:
        """Return whether a call without a trace gets one now, rather than run as plain Python; set `call.deferred`."""
        call.deferred = self._deferred_kind(call)
        if call.deferred is not None or self._bailout.is_doubtful(call):
            return False
        reason = self._bailout.trace_budget.overspending_reason(self._call_counter.calls) if self._times_calls else ""
        if reason:
            self._explain_once(reason)
        return not reason

    def _run_after_fault(self, fault: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call as plain Python after a fault of its trace; count the fault unless plain Python raises it too."""
        try:
            result = call_plain(self.python_function, args, kwargs)
        except Exception as raised:
            if not is_program_error(fault, raised):
                count_fault(self._explanation, fault)
            raise
        count_fault(self._explanation, fault)
        return result

    def _is_for_object(self, key: Key) -> bool:
        """Return whether a trace of this key serves one object only: a method's instance, or one keyed by reference."""
        return is_method(self.python_function) or any(isinstance(leaf, Reference) for leaf in key.leaves)

    def _reenters_trace(self, region: Region) -> bool:
        """Return whether a call in `region` reenters a trace that is being made (see `active_traces`)."""
        return self._decorator_options.autograph and reenters_trace(self, region)

    def _run_trace(self, concrete: ConcreteFunction, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """Run a call by its trace; rerun it as plain Python if necessary."""
        failure: Exception | None = None
        try:
            result = concrete.call_leaves(leaves)
        except NotDifferentiable as error:
            self._explanation.plain.append(f"one call: a tape records it, and {error}")
        except Exception as error:
            if not reruns_plain(concrete, error):
                raise
            failure = error
        else:
            still_observes_calls = self._feedback.observe_call(concrete, leaves)
            self._is_call_time_typical = not still_observes_calls  # observed calls are slower than direct ones
            if self._is_call_time_typical:
                self._make_first_direct(concrete)
            return self._check_float_flags(concrete, result, args, kwargs)
        if failure is not None:  # outside of the handler, or exceptions of the rerun would have it as context
            return self._rerun_plain(failure, args, kwargs)
        return call_plain(self.python_function, args, kwargs)

    def _rerun_plain(self, error: BaseException, args: Any, kwargs: Any) -> Any:
        """Rerun, as plain Python, a call whose graph met a value that it cannot represent or ended with an error."""
        self._record_rerun(error, args, kwargs)
        if hasattr(error, "_autoconv_items"):  # a guessed kind of list items was wrong: later keys use no guesses
            self._signature.guesses_list_items = False
            self._set_direct_traces()
        if isinstance(error, UNDONE_ERRORS):
            self._explanation.plain.append(f"one call: {public_error_text(error)}")
        return rerun_plain(error, self.python_function, args, kwargs)

    def _store_trace(self, concrete: ConcreteFunction) -> None:
        """Add a trace to the cache; the cache may evict other traces."""
        for direct_trace, _ in self._direct_traces:  # the cache's search marks traces as used; direct calls skip it
            self._trace_cache.mark_used(direct_trace)
        key_is_full = self._trace_cache.add(concrete)
        self._trace_cache.evict(self._remove_direct)
        if self._contract.runs_plain and key_is_full and self._trace_count > _MAX_TRACES_BEFORE_FULL_KEYS:
            self._plain_reasons[concrete.key] = "the outside values that it reads change on every call", None

    def _remove_direct(self, evicted: list[ConcreteFunction]) -> None:
        """Remove evicted traces from the direct ones."""
        if any(concrete in evicted for concrete, _ in self._direct_traces):
            self._set_direct_traces(*(pair for pair in self._direct_traces if pair[0] not in evicted))

    def _trace_call(self, call: Call) -> ConcreteFunction:
        """Trace the function; if the trace creates variables, trace it again, now that the variables exist."""
        on_create = _refuse_variables if self._was_traced else None
        outcome = self._trace_once(call, on_create)
        if outcome.created_variables:
            self._trace_count += 1
            outcome = self._trace_once(call, _refuse_variables)
        self._trace_count += 1
        self._was_traced = True
        return outcome.concrete

    def _trace_once(self, call: Call, on_create: Any) -> Any:
        with tracing(self):
            is_converted = self._decorator_options.autograph
            traceable = Traceable(self.python_function, self._signature, self._contract, self, is_converted)
            return trace_function(traceable, call, on_create)

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for these arguments: tensors, TensorSpecs or Python values."""
        try:
            return self._find_concrete(args, kwargs)
        except BaseException as error:
            present(error)
            raise

    def _find_concrete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ConcreteFunction:
        """Return the trace for the arguments, which is made if necessary; raise AutoconvError if there is no graph."""
        if self._input_signature is not None and not args and not kwargs:
            args = tuple(self._input_signature)
        try:
            call = self._feedback.bind(args, kwargs)
        except CannotFlatten as error:
            raise AutoconvError(
                f"{self._signature.name} runs as plain Python for these arguments and has no graph: {error}"
            ) from None
        call.must_trace = True
        concrete = self._trace_cache.find(call.key) or self._find_or_make_trace(call)
        if concrete is None:
            reason, place = self._plain_reasons.get(call.key, ("", None))
            raise AutoconvError(
                f"{self._signature.name} runs as plain Python for these arguments and has no graph: {reason}", place
            )
        return concrete

    def call_concrete(self, concrete: ConcreteFunction, args: Any, kwargs: Any) -> Any:
        """Call one of this function's traces; raises TypeError for arguments of types other than the trace's."""
        leaves = self.leaves_for(concrete, args, kwargs)
        region = current_region()
        if region is not None:
            return concrete.record(region, leaves)
        return self._run_trace(concrete, leaves, args, kwargs)

    def leaves_for(self, concrete: ConcreteFunction, args: Any, kwargs: Any) -> list[Any]:
        """Return the leaves of a call in the order of the trace's leaves; raise TypeError for another signature."""
        if not self._contract.python_numbers:  # tensors are bound to the trace's type; else keys are compared
            name = concrete.name.decode()
            return bind_to_trace(self._signature.name, name, concrete.function_type, args, kwargs)
        call = self._feedback.bind(args, kwargs)
        if not accepts(concrete.key, call.key):
            raise TypeError(
                f"{self._signature.name} was traced for {concrete.pretty_printed_signature(verbose=False)} and is "
                f"called with ({', '.join(map(str, call.key.leaves))})."
            )
        return call.leaves

    @property
    def constructor_options(self) -> tuple[Any, ...]:
        """The constructor's arguments after `python_function`, to make a Function of the same options."""
        donate = tuple(sorted(self.donate))
        options = self._decorator_options._replace(input_signature=self._input_signature, name=None, donate=donate)
        return self._contract, options

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Function[P, R]: ...

    @overload
    def __get__(
        self: Function[Concatenate[Any, Q], R], instance: object, owner: type[Any] | None = None
    ) -> Function[Q, R]: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        """Return the method of an instance: a Function with traces that are freed with it, or a TransientMethod."""
        if instance is None:
            return self
        method = self.find_method(instance)
        return method or (TransientMethod(self, instance) if self.prefers_plain else self.method_of_instance(instance))

    def _repr_html_(self) -> str:
        return self._explanation.html(f"{self._signature.name}{self._signature.format_text()}")

    def __repr__(self) -> str:
        return f"<autoconv.Function {self._signature.name}{self._signature.format_text()}>"


LoopOutlining.loop_class = Function


def _refuse_variables(variable: Any) -> None:
    place = current_place()
    place_text = f" here:\n{place}\n{place.caret()}\n" if place is not None else ". "
    raise ValueError(_SINGLETON_ERROR + place_text + _VARIABLE_REMEDY)
