"""Run graphs with recursive functions on an explicit stack, so that only Python's own limit bounds the depth.

A node that leads to a recursive call is a `Control`: it starts one of its regions, is resumed with the region's
results, and may start another region. All other nodes run as in graphs without recursion. Recursive calls use no frames
of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.errors import GraphOnlyError, IntegerLimitError, OtherKindError, StagingError
from autoconv.graph.graph import Graph, Node, Span, is_recursive, leads_to_recursion
from autoconv.graph.region_flow import state_size

Frame = list[Any]  # the values of a graph's parameters and nodes, by slot
Function = Callable[..., Any]
Locate = Callable[[BaseException, Span | None], None]


# Errors that report limits of graphs: handlers of the program do not catch them.
LIMIT_ERRORS = (GraphOnlyError, IntegerLimitError, OtherKindError, StagingError)


def compile_recursive(
    graph: Graph,
    lower: Callable[[Node], Function],
    locate: Locate,
    is_own_file: Callable[[str], bool],
    inside_recursion: bool = False,
) -> Callable[..., list[Any]]:
    """Compile a graph to a function from parameter values to output values, as `interpreter.compile_graph` does.

    `lower` makes a function of a node without recursive calls, and `locate` records a node's span on an error.
    `is_own_file` tests for files of this package, whose frames do not count towards Python's limit. The returned
    function raises RecursionError where plain Python does. With `inside_recursion`, the graph is the body of a
    recursive function, and the returned function takes, as second argument, the number of Python frames of the
    enclosing calls.
    """
    code = _Compiler(lower, locate, inside_recursion).compile(graph)

    def run(arguments: Sequence[Any], enclosing_frames: int = 0) -> list[Any]:
        limit = sys.getrecursionlimit() - count_stack_frames(is_own_file) - enclosing_frames
        return _run(code, list(arguments), limit)

    return run


class Step(NamedTuple):
    """The function of a node without regions to run on the stack, and the slots of its inputs and outputs."""

    function: Function
    inputs: list[int]
    outputs: list[int]


class GraphCode:
    """A compiled graph or region: a step for each node, or the control that runs the node."""

    __slots__ = ("local_count", "results", "steps")

    def __init__(self) -> None:
        self.steps: list[Step | Control] = []
        self.local_count = 0  # number of slots besides those of the parameters
        self.results: list[int] = []  # slots


class Start(NamedTuple):
    """A region to run next, its arguments, and the state with which the control that starts it is resumed."""

    region: GraphCode
    arguments: list[Any]
    state: Any


class Control:
    """A node that runs its regions on the stack.

    `python_frames` is the number of frames that a recursive call takes in plain Python; 0 for other nodes.
    """

    python_frames = 0

    def __init__(
        self, node: Node, inputs: list[int], outputs: list[int], regions: list[GraphCode], locate: Locate
    ) -> None:
        self.node, self.inputs, self.outputs, self.regions, self.locate = node, inputs, outputs, regions, locate

    def start(self, frame: Frame) -> Start:
        """Return the region to run first."""
        raise NotImplementedError

    def resume(self, state: Any, results: list[Any]) -> Start | list[Any]:
        """Return the region to run next, or the node's results, after a region returned `results`."""
        return results

    def handle_error(self, state: Any, error: BaseException) -> Start | None:
        """Return the region that handles the error of a region, or None to propagate it."""
        return None


class _Call(Control):
    """A call, which locates the errors of the callee."""

    def start(self, frame: Frame) -> Start:
        return Start(self.regions[0], [frame[slot] for slot in self.inputs], None)

    def handle_error(self, state: Any, error: BaseException) -> None:
        self.locate(error, self.node.span)


class _Cond(Control):
    """A condition, which runs one of its arms."""

    def start(self, frame: Frame) -> Start:
        index, *captures = self.inputs
        choice = frame[index]
        arm = (0 if choice else 1) if np.asarray(choice).dtype == bool else int(choice)
        return Start(self.regions[arm], [frame[slot] for slot in captures], None)


class _LoopPhase(NamedTuple):
    """The state of a loop's control: the captures, and the loop's state, which is None while the body runs."""

    loop_state: list[Any] | None
    captures: list[Any]


class _While(Control):
    """A loop, which is resumed with a `_LoopPhase`."""

    def start(self, frame: Frame) -> Start:
        state_count = state_size(self.node)
        operands = [frame[slot] for slot in self.inputs]
        state, captures = operands[:state_count], operands[state_count:]
        return Start(self.regions[0], [*state, *captures], _LoopPhase(state, captures))

    def resume(self, state: Any, results: list[Any]) -> Start | list[Any]:
        """Start the test after the body, and the body after a test that holds; otherwise return the loop's state."""
        loop_state, captures = state
        if loop_state is None:  # an iteration is over
            return Start(self.regions[0], [*results, *captures], _LoopPhase(results, captures))
        if not results[0]:
            return loop_state  # type: ignore[no-any-return]
        return Start(self.regions[1], [*loop_state, *captures], _LoopPhase(None, captures))


class _TryPhase(NamedTuple):
    """The state of a try's control: whether the body runs, the error that is handled or None, and the captures."""

    is_body: bool
    handled_error: BaseException | None
    captures: list[Any]


class _Try(Control):
    """A try, which is resumed with a `_TryPhase`."""

    def start(self, frame: Frame) -> Start:
        captures = [frame[slot] for slot in self.inputs]
        return Start(self.regions[0], captures, _TryPhase(True, None, captures))

    def resume(self, state: Any, results: list[Any]) -> Start | list[Any]:
        if not state.is_body:
            return results
        return Start(self.regions[1], [*results, *state.captures], _TryPhase(False, None, state.captures))

    def handle_error(self, state: Any, error: BaseException) -> Start | None:
        """Start the handler if the body raised; an error of the handler gets the handled error as its context."""
        if state.handled_error is not None:
            _chain_context(error, state.handled_error)
        if not state.is_body or isinstance(error, LIMIT_ERRORS):
            return None
        return Start(self.regions[2], [error, *state.captures], _TryPhase(False, error, state.captures))


_CONTROLS: dict[str, type[Control]] = {"call": _Call, "cond": _Cond, "while": _While, "try": _Try}


class _Compiler:
    """A compiler that compiles each graph once; a recursive call refers to the code of the enclosing graph."""

    def __init__(self, lower: Callable[[Node], Function], locate: Locate, inside_recursion: bool) -> None:
        self.lower, self.locate = lower, locate
        self.codes: dict[Graph, GraphCode] = {}
        self.enclosing_functions = int(inside_recursion)  # number of enclosing recursive functions

    def compile(self, graph: Graph) -> GraphCode:
        """Return the code of a graph; that of an enclosing graph may still lack steps."""
        known_code = self.codes.get(graph)
        if known_code is not None:
            return known_code
        code = self.codes[graph] = GraphCode()
        is_outermost = not self.enclosing_functions
        slots = {value: slot for slot, value in enumerate(graph.parameters)}
        for node in graph.nodes:
            inputs = [slots[value] for value in node.inputs]
            outputs = [slots.setdefault(value, len(slots)) for value in node.results]
            if leads_to_recursion(node):
                self.enclosing_functions += is_recursive(node)
                regions = [self.compile(region) for region in node.regions]
                self.enclosing_functions -= is_recursive(node)
                control = _CONTROLS[node.op.name](node, inputs, outputs, regions, self.locate)
                if is_recursive(node):
                    control.python_frames = count_call_frames(node.span, is_outermost)
                code.steps.append(control)
            else:
                code.steps.append(Step(self.lower(node), inputs, outputs))
        code.local_count = len(slots) - len(graph.parameters)
        code.results = [slots[value] for value in graph.outputs]
        return code


class _Suspended(NamedTuple):
    """A graph that waits for a region of one of its controls; the control is resumed with `state`."""

    code: GraphCode
    frame: Frame
    position: int  # of the control among the steps
    control: Control
    state: Any


def _run(code: GraphCode, arguments: list[Any], limit: int) -> list[Any]:
    """Run code; raise RecursionError if its calls stand for more than `limit` Python frames at a time."""
    suspended_graphs: list[_Suspended] = []
    frame, position, depth = [*arguments, *[None] * code.local_count], 0, 0
    while True:
        outcome: Start | list[Any] | None  # a region to run, or a control's results; None: the error propagates
        try:
            steps = code.steps
            control = None
            while position < len(steps):
                step = steps[position]
                if isinstance(step, Control):
                    control = step
                    break
                function, inputs, outputs = step
                result = function(*[frame[slot] for slot in inputs])
                if len(outputs) == 1:
                    frame[outputs[0]] = result[0] if type(result) is tuple else result
                elif outputs:
                    for slot, value in zip(outputs, result, strict=True):
                        frame[slot] = value
                position += 1
            if control is not None:
                depth += control.python_frames
                if depth > limit:
                    depth -= control.python_frames
                    raise _recursion_error(control)
                outcome = control.start(frame)
            else:
                result = [frame[slot] for slot in code.results]
                if not suspended_graphs:
                    return result
                code, frame, position, control, state = suspended_graphs.pop()
                outcome = control.resume(state, result)
        except BaseException as error:
            outcome = None
            while suspended_graphs:
                code, frame, position, control, state = suspended_graphs.pop()
                depth -= control.python_frames
                outcome = control.handle_error(state, error)
                if outcome is not None:
                    depth += control.python_frames
                    break
            if outcome is None:
                raise
        assert control is not None
        if isinstance(outcome, Start):
            region, values, state = outcome
            suspended_graphs.append(_Suspended(code, frame, position, control, state))
            code, frame, position = region, [*values, *[None] * region.local_count], 0
        else:
            depth -= control.python_frames
            for slot, value in zip(control.outputs, outcome, strict=True):
                frame[slot] = value
            position += 1


def _chain_context(error: BaseException, handled_error: BaseException) -> None:
    """Chain the two errors through `__context__`, as Python does when a handler raises."""
    visited_ids: set[int] = set()
    end_of_chain = error
    while end_of_chain is not handled_error and id(end_of_chain) not in visited_ids:
        visited_ids.add(id(end_of_chain))
        if end_of_chain.__context__ is None:
            end_of_chain.__context__ = handled_error
            return
        end_of_chain = end_of_chain.__context__


def _recursion_error(control: Control) -> RecursionError:
    """Return the RecursionError of a call, located where the program makes it."""
    error = RecursionError("maximum recursion depth exceeded")
    control.locate(error, control.node.span)
    return error


def count_call_frames(span: Span | None, is_outermost: bool) -> int:
    """Return the number of frames that a recursive call adds in plain Python.

    Each span is in a frame of its own, and the callee has one. Within a recursive function, the caller's own frame is
    not added: the call of the caller has counted it.
    """
    count = 0
    while span is not None:
        count += 1
        span = span.caller
    return count + 1 if is_outermost else max(count, 1)


def count_stack_frames(is_own_file: Callable[[str], bool]) -> int:
    """Return the number of frames on Python's stack without the innermost ones, which belong to this package."""
    frame = sys._getframe(1)
    outer_frame: Any = frame
    while outer_frame is not None and is_own_file(outer_frame.f_code.co_filename):
        outer_frame = outer_frame.f_back
    count = 0
    while outer_frame is not None:
        count += 1
        outer_frame = outer_frame.f_back
    return count
