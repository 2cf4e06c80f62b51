"""Loops that are compiled by themselves, where a function as a whole cannot be traced.

Plain Python then runs the function, and calls a compiled function for each loop (see `emit.outline`). The loops of a
loop that cannot be traced either are outlined in turn.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from autoconv.emit.converted import outline_loops
from autoconv.runtime.recording.activity import BUSY
from autoconv.runtime.recording.tracebacks import drop_callers_of_loops
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.runtime.tensors.numpy_behaviour import call_plain
from autoconv.tracing.api.function_options import FunctionOptions
from autoconv.tracing.execute.internal_errors import count_fault
from autoconv.tracing.specialise.bailout import Bailout
from autoconv.tracing.specialise.call_kinds import kind_of
from autoconv.tracing.specialise.retracing import CallCounter
from autoconv.tracing.specialise.session_contract import SessionContract
from autoconv.tracing.specialise.tiers import FOREVER, PLAIN, Gate, Tiers
from autoconv.tracing.views.explain import Explanation

_MAX_FORMS = 16  # functions of one definition with outlined loops: others may be made anew for every call
# Depth of recursion up to which recursive calls are examined, where graphs are not timed against plain Python: each
# examined call takes ten frames of the stack.
_MAX_EXAMINED_DEPTH = 8


class OutlinedForm(NamedTuple):
    """A plain function that calls its loops, and the compiled functions of these loops."""

    function: types.FunctionType | None = None  # None if no loop can be outlined
    loops: Sequence[Any] = ()

    def loop_codes(self) -> Iterator[types.CodeType]:
        """Iterate over the plain code of the loops, and of loops that were outlined in these."""
        for loop in self.loops:
            yield loop.python_function.__code__
            inner_form: OutlinedForm = loop._outlined_form or OutlinedForm()
            if inner_form.function is not None:
                yield inner_form.function.__code__
            yield from inner_form.loop_codes()


@skipped_by_warnings
class LoopOutlining:
    """Mixin of `Function` that runs calls without a trace, with the loops of the function as compiled functions."""

    loop_class: Any = None  # the class Function itself, whose methods have another class
    python_function: Callable[..., Any]
    _contract: type[SessionContract]
    _decorator_options: FunctionOptions
    _explanation: Explanation
    _gate: Gate
    _open_gate: Callable[[int, str], None]
    _times_calls: bool
    _is_call_time_typical: bool
    _bailout: Bailout
    _call_counter: CallCounter
    _tiers: Tiers

    def _initialise_outlining(self) -> None:
        self._outlines_loops = False  # true once a trace of the function was abandoned
        self._outlined_form: OutlinedForm | None = None
        self._plain_depth = 0  # nesting of the running plain calls whose recursive calls are examined

    @property
    def _function_of_class(self) -> Any:
        """The class's function if this object is the method of an instance; otherwise the object itself."""
        return vars(self).get("__func__", self)

    def _run_with_outlined_loops(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call as plain Python, which calls the loops if a trace of the whole function was abandoned."""
        form = self._find_outlined_form() if self._outlines_loops and not BUSY.value else OutlinedForm()
        if form.function is None:
            return self._call_plain(args, kwargs)
        examined_calls = [loop._tiers.examined_calls for loop in form.loops]
        instance = (self.python_function.__self__,) if isinstance(self.python_function, types.MethodType) else ()
        try:
            return form.function(*instance, *args, **kwargs)
        except BaseException as error:
            drop_callers_of_loops(error, form.function.__code__, set(form.loop_codes()))
            raise
        finally:
            if self._times_calls and examined_calls != [loop._tiers.examined_calls for loop in form.loops]:
                # Traces and examinations of the loops took time that later calls do not need.
                self._is_call_time_typical = False
                self._tiers.timing(kind_of(args, kwargs)).discount_call()

    def _run_recursively(self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call as plain Python by `run`, so that its recursive calls have no frames of this package in between.

        All calls then run plain: those of this function, and those of instances without a method of their own.
        """
        owner = self._function_of_class
        if BUSY.value:
            return run(args, kwargs)
        if not self._times_calls and owner._plain_depth < _MAX_EXAMINED_DEPTH:  # recursive calls may be graphs
            owner._plain_depth += 1
            try:
                return run(args, kwargs)
            finally:
                owner._plain_depth -= 1
        functions = {self, owner}
        # An outer call, or another thread, has opened the other gates, and restores them.
        functions = {function for function in functions if not function._gate.is_always_plain}
        states = [(function._gate, function._gate.state) for function in functions]
        self._tiers.latest_form = PLAIN
        for function in functions:
            function._open_gate(FOREVER, PLAIN)
        try:
            return run(args, kwargs)
        finally:
            for gate, state in states:
                gate.state = state

    def _run_unserved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run, as plain Python, a call that no trace serves, and for which none is made yet.

        After several such calls in a row, let some calls run plain without a search for a trace.
        """
        call_count = self._bailout.record_unserved_call(self._call_counter.calls, self._tiers.largest_gain())
        try:
            return self._run_recursively(self._call_plain, args, kwargs)
        finally:
            if self._times_calls and call_count:
                self._open_gate(call_count, PLAIN)

    def _call_plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_plain(self.python_function, args, kwargs)

    def _find_outlined_form(self) -> OutlinedForm:
        """Return the form with outlined loops, which all instances of a class share for a method."""
        owner = self._function_of_class
        if owner._outlined_form is None:
            owner._outlined_form = owner._make_outlined_form()
        form: OutlinedForm = owner._outlined_form
        return form

    def _make_outlined_form(self) -> OutlinedForm:
        """Outline the loops of the Python function; return an empty form if it has none, or has many definitions."""
        self._call_counter.outlined_forms += 1
        is_made_anew = self._call_counter.outlined_forms > _MAX_FORMS
        if is_made_anew or not isinstance(self.python_function, types.FunctionType):
            return OutlinedForm()
        loops: list[Any] = []

        def compile_loop(function: types.FunctionType) -> Any:
            """Return the compiled function of an outlined loop, and add it to `loops`."""
            name = f"{function.__name__}_loop_{function.__code__.co_firstlineno}"
            options = self._decorator_options._replace(name=name, input_signature=None, donate=())
            loop = self.loop_class(function, self._contract, options)
            loop._tiers.presumption.may_wait = False
            loops.append(loop)
            return loop

        try:
            function = outline_loops(self.python_function, compile_loop)
        except Exception as error:
            count_fault(self._explanation, error)
            return OutlinedForm()
        return OutlinedForm(function, loops)

    def _outlined_loops(self) -> Sequence[Any]:
        return self._outlined_form.loops if self._outlined_form is not None else ()
