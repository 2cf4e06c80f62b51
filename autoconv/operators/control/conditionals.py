"""if, elif, conditional expressions, and, or, not, assert."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from autoconv.errors import AssertionFailedError, StagingError
from autoconv.graph.dtypes import bool_
from autoconv.operators.control.shared_numbers import shared_number
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.region_body import record_body
from autoconv.operators.support.deferred_messages import evaluate_exception
from autoconv.operators.support.protected_names import Undefined
from autoconv.operators.support.speculation import Attempt
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of, items_of
from autoconv.runtime.objects.object_conversions import truth_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box
from autoconv.runtime.recording.journal import cell_locations
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor

Thunk = Callable[[], Any]


class Cells(NamedTuple):
    """Names that a region writes in place; converted code passes a plain tuple of these fields."""

    get_values: Callable[[], tuple[Any, ...]]  # returns the values in the order of `names`
    set_values: Callable[..., None]
    names: tuple[str, ...]


def if_stmt(
    test: object,
    body: Callable[..., Any],
    orelse: Callable[..., Any] | None = None,
    inputs: tuple[Any, ...] = (),
    names: tuple[str, ...] = (),
    cells: Cells | None = None,
) -> Any:
    """`if test: body else: orelse`. Both take `inputs` and return the values of `names`.

    Without `orelse`, the other arm returns the inputs. `cells` are names that the arms write in place.
    """
    test = condition_value(test)
    if not is_staged(test):
        if test:
            return body(*inputs)
        return inputs if orelse is None else orelse(*inputs)
    arms = [with_cells(arm, cells) for arm in (body, orelse or _unchanged)]
    return stage_arms(truth(test), arms, inputs, names)


def switch_stmt(
    tests: tuple[Thunk, ...],
    bodies: tuple[Callable[..., Any], ...],
    orelse: Callable[..., Any] | None = None,
    inputs: tuple[Any, ...] = (),
    names: tuple[str, ...] = (),
    cells: Cells | None = None,
) -> Any:
    """`if`, `elif` …, `else` as one region: the first body whose test holds, else `orelse`."""
    for position, test in enumerate(tests):
        value = condition_value(test())
        if is_staged(value):
            return _stage_switch(value, tests[position:], bodies[position:], orelse, inputs, names, cells)
        if value:
            return bodies[position](*inputs)
    return inputs if orelse is None else orelse(*inputs)


def _stage_switch(
    first_test: Any, tests: Any, bodies: Any, orelse: Any, inputs: Any, names: Any, cells: Cells | None
) -> Any:
    """Record the switch from its first test that a tensor decides; return the values of `names` after it.

    `first_test` is the value of that test; `tests` and `bodies` begin with it and its body.
    """
    last_body = orelse or _unchanged
    arms = [bodies[0]]
    index: Any = dispatch.apply("select", truth(first_test), 0, -1)  # of the first body whose test holds; -1: none yet
    for test, body in zip(tests[1:], bodies[1:], strict=True):
        position = len(arms)
        index_or_truth = _add_test(index, test, position)
        if index_or_truth is False:
            continue
        if index_or_truth is True:
            last_body = body
            break
        index = index_or_truth
        arms.append(body)
    index = dispatch.apply("select", index < 0, len(arms), index)
    staged_arms = [with_cells(arm, cells) for arm in (*arms, last_body)]
    if len(staged_arms) == 2:
        return stage_arms(truth(first_test), staged_arms, inputs, names)
    return stage_arms(index, staged_arms, inputs, names)


def _add_test(index: Any, test: Thunk, position: int) -> Any:
    """Return the index of the chosen arm after one more test, or the test's truth if that is known at trace time.

    `index` is -1 while no earlier test held; only then is the test evaluated, and `position` chosen where it holds.
    """
    region = current_region()
    assert region is not None
    attempt = Attempt()
    try:
        test_record = record_body(region, "cond_test", lambda _: [_evaluate_condition(test())], 1)
    except BaseException:
        attempt.keep()
        raise
    attempt.undo()
    value = test_record.results[0]
    graph, writes_or_raises = test_record.region.graph, bool(test_record.locations) or test_record.diverges
    if not is_staged(value) and not graph.nodes and not writes_or_raises:
        return bool(value)
    if not graph.effects and not writes_or_raises:  # evaluating the test is harmless even if an earlier one held
        return dispatch.apply("select", (index < 0) & truth(test()), position, index)
    add_index = lambda: (dispatch.apply("select", truth(test()), position, -1),)
    (result,) = stage_arms(index < 0, [add_index, lambda: (index,)], [], ("elif",))
    return result


def _evaluate_condition(value: object) -> Any:
    """Return a test's value; for an object its truth, as that may run code or raise."""
    value = condition_value(value)
    return truth(value) if is_staged(value) and not isinstance(value, SymbolicTensor) else value


def if_exp(test: object, body: Thunk, orelse: Thunk) -> Any:
    """`body() if test else orelse()`."""
    test = condition_value(test)
    if not is_staged(test):
        return body() if test else orelse()
    return _stage_choice(test, body, orelse, "conditional expression")


def and_(first: object, *operands: Thunk) -> Any:
    """`first and operands[0]() and …`: each operand is evaluated only if all before it are true."""
    value = first
    for position, thunk in enumerate(operands):
        condition = condition_value(value)
        if is_staged(condition):
            return _stage_choice(condition, _apply_to_rest(and_, operands[position:]), _constant_function(value), "and")
        if not condition:
            return value
        value = thunk()
    return value


def or_(first: object, *operands: Thunk) -> Any:
    """`first or operands[0]() or …`: each operand is evaluated only if none before it is true."""
    value = first
    for position, thunk in enumerate(operands):
        condition = condition_value(value)
        if is_staged(condition):
            return _stage_choice(condition, _constant_function(value), _apply_to_rest(or_, operands[position:]), "or")
        if condition:
            return value
        value = thunk()
    return value


def _stage_choice(condition: Any, body: Thunk, orelse: Thunk, name: str) -> Any:
    (result,) = stage_arms(truth(condition), [lambda: (body(),), lambda: (orelse(),)], [], (name,))
    return result


def _apply_to_rest(and_or_or: Callable[..., Any], operands: tuple[Thunk, ...]) -> Thunk:
    return lambda: and_or_or(operands[0](), *operands[1:])


def _constant_function(value: object) -> Thunk:
    return lambda: value


def not_(value: object) -> Any:
    """`not value`, as a tensor if the value is known only at run time."""
    value = condition_value(value)
    if not is_staged(value):
        return not value
    return dispatch.apply("logical_not", python_truth(value))


def python_truth(value: object) -> Any:
    """Return the truth of a value as a Python bool (weak under `compile`), also for a NumPy scalar."""
    result, region = truth(value), current_region()
    has_dtype = isinstance(result, SymbolicTensor) and not result.weak
    if region is None or not region.contract.python_numbers or not has_dtype:
        return result
    return dispatch.apply("python_cast", result, dtype=bool_, weak=True)


def test(value: object, reason: str = "") -> Any:
    """Return the condition of a statement that stays in Python; a value known only at run time raises StagingError."""
    if is_staged(value):
        suffix = f" because {reason}" if reason else ""
        raise StagingError(
            f"this condition depends on a tensor and cannot become part of the graph{suffix}",
            current_place(),
            "move the part that depends on the tensor into a function of its own, or use autoconv.where",
        )
    return value


def operand(value: object) -> Any:
    """Return an operand of an `and` or `or` that stays in Python; it decides whether the next one is evaluated."""
    return test(value, "the operands after it have to be evaluated in place")


def assertion(condition: TensorLike, message: Thunk | None = None) -> Any:
    """Return the condition of an assert for Python's statement; True for a tensor, which is checked at run time."""
    condition = condition_value(condition)
    if not is_staged(condition):
        return condition

    region = current_region()
    raises_python_errors = region is not None and region.contract.python_exceptions

    def fail() -> tuple[()]:
        if raises_python_errors:
            error = evaluate_exception(lambda: AssertionError(message())) if message else AssertionError()
            raise mark_program_error(error)
        raise evaluate_exception(lambda: AssertionFailedError(f"assertion failed: [{message() if message else ''}]"))

    stage_arms(truth(condition), [lambda: (), fail], [], ())
    return True


def condition_value(value: object) -> Any:
    """Return the value whose truth decides a condition: that of a variable, or of a user's `__bool__` or `__len__`."""
    if current_region() is None:
        return value
    if hasattr(type(value), "__autoconv_tensor__") and not is_staged(value):
        return as_tensor(value)
    name = "__bool__" if hasattr(type(value), "__bool__") else "__len__"
    method = user_defined_method(value, name)
    if method is None:
        return value
    result = method(value) if name == "__bool__" else length_of(value, method)
    return result if is_staged(result) else bool(result)


def length_of(value: object, method: Callable[[Any], Any]) -> Any:
    """Return the result of a user-defined `__len__` after the checks that `len` makes."""
    result = method(value)
    if not is_staged(result):
        return builtins.len(_LengthCheck(result))
    is_negative = truth(result < 0)

    def fail() -> tuple[()]:
        raise mark_program_error(ValueError("__len__() should return >= 0"))

    stage_arms(is_negative, [fail, lambda: ()], [], ())
    return result


class _LengthCheck:
    """Delegate the check of a length, and its error message, to Python's `len`."""

    def __init__(self, length: object) -> None:
        self.length = length

    def __len__(self) -> Any:
        return self.length


def user_defined_method(value: object, name: str) -> Any:
    """Return a special method that is written in Python outside of this package; None if there is none."""
    kind = type(value)
    result = getattr(kind, name, None)
    if not isinstance(result, FunctionType) or kind.__module__.startswith("autoconv."):
        return None
    return result


def is_staged(value: object) -> bool:
    """Return whether a value is known only at run time."""
    kind = type(value)
    if kind is SymbolicTensor or kind is Variant or kind is SymbolicObject or hasattr(kind, "__autoconv_staged__"):
        return True
    return heap_of(value) is not None or (kind in TRACED_TO_PLAIN and items_of(value) is not None)


def truth(value: object, construct: str = "if statement") -> Any:
    """Return the truth of a value as a bool or a bool scalar of the graph; raise ValueError for a tensor without one.

    `construct` names the statement in the message of the error.
    """
    value = value if is_staged(value) else condition_value(value)
    if not is_staged(value):
        return bool(value)
    if isinstance(value, Variant):
        return _truth_of_variant(value)
    if items_of(value) is not None:
        return truth(items_of(value).length() > 0, construct)
    if not isinstance(value, SymbolicTensor):
        return truth_of(box(value))
    type_ = value.type
    if type_.dtype.is_bool:
        if type_.shape in ((), None):
            return value
        if type_.shape == (1,):
            return dispatch.apply("reshape", value, shape=())
    if type_.weak:
        return dispatch.apply("python_bool", value)
    region = current_region()
    if region is not None and region.contract.python_numbers and type_.shape == ():
        return value != 0
    remedy = (
        "; reduce it to one bool with `autoconv.reduce_all` or `autoconv.reduce_any`"
        if type_.dtype.is_bool
        else "; to use as boolean Tensor, use `autoconv.cast`; to check for None, use `is not None`"
    )
    error = ValueError(f"condition of {construct} expected to be `autoconv.bool` scalar, got {value}{remedy}")
    error._autoconv_uncatchable_in_trace = True  # type: ignore[attr-defined]
    raise error


def _truth_of_variant(value: Variant) -> Any:
    """Return the truth of the value that the tag selects; None and unassigned names count as false."""
    number = shared_number(value)
    if number is not None:
        return python_truth(number)
    result: Any = None
    for index, arm in enumerate(value.values):
        is_assigned = arm is not None and not isinstance(arm, Undefined)
        if is_assigned and _truth_needs_arm(arm):  # computed only where the value is that arm
            otherwise = False if result is None else result
            arms = [functools.partial(_truth_tuple, arm), functools.partial(_unchanged, otherwise)]
            (result,) = stage_arms(value.tag == index, arms, [], ("condition",))
            continue
        arm_truth = python_truth(arm) if is_assigned else False
        result = arm_truth if result is None else dispatch.apply("select", value.tag == index, arm_truth, result)
    return result


def has_user_defined_truth(value: object) -> bool:
    """Return whether a user-defined method decides the truth of the value."""
    return not is_staged(value) and any(user_defined_method(value, name) for name in ("__bool__", "__len__"))


def _truth_needs_arm(value: object) -> bool:
    """Return whether computing the truth of an arm may raise, run code or read memory.

    If so, it is computed only where the variant is that arm. A scalar or a value known at trace time needs no care.
    """
    if isinstance(value, SymbolicTensor) and value.type.shape == ():
        return False
    return is_staged(value) or hasattr(type(value), "__autoconv_tensor__") or has_user_defined_truth(value)


def _truth_tuple(value: object) -> tuple[Any]:
    return (python_truth(value),)


def _unchanged(*inputs: Any) -> tuple[Any, ...]:
    return inputs


def with_cells(arm: Callable[..., Any], cells: Cells | None) -> Callable[..., Any]:
    """Wrap an arm so that its cells are recorded in the journal first."""
    if cells is None:
        return arm

    def run(*inputs: Any) -> Any:
        record_cells(cells)
        return arm(*inputs)

    return run


def record_cells(cells: Cells) -> None:
    """Record the cells in the journal of the current region, if it has one."""
    region = current_region()
    if region is not None and (journal := region.journal) is not None:
        get_values, _, names = cells
        for location in cell_locations(get_values, names, region.trace.cells):
            journal.record(location)
