"""Control flow as functions of functions: cond, case, loops. Converted Python statements need none of these."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.api.control.loop_invariants import LoopChecks, has_checked_loops
from autoconv.errors import AssertionFailedError
from autoconv.graph.dtypes import int64
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.control.conditionals import and_, condition_value, is_staged, switch_stmt, truth
from autoconv.operators.control.staged_loops import stage_loop
from autoconv.operators.control.staging import stage_arms
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.objects.containers import items_of
from autoconv.runtime.recording.regions import current_region, recording, subregion
from autoconv.runtime.support.structure import is_structure, map_structure
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.runtime.tensors.tensor_array import TensorArray

Thunk = Callable[[], Any]


def cond(
    pred: Any, true_fn: Thunk | None = None, false_fn: Thunk | None = None, name: str | None = None
) -> Any:
    """true_fn() if the bool scalar `pred` is true, else false_fn(); only one of them runs.

    Raises TypeError when one of them is not callable.

    >>> autoconv.cond(autoconv.constant(3) > 2, lambda: "more", lambda: "less")
    'more'
    """
    check_callable("true_fn", true_fn)
    check_callable("false_fn", false_fn)
    pred = condition_value(pred)
    if not is_staged(pred):
        return callable_for(true_fn)() if bool(pred) else callable_for(false_fn)()
    return _stage_choice(truth(pred), [true_fn, false_fn], "the result of cond")


def case(
    pred_fn_pairs: Any,
    default: Thunk | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose predicate is true, else of `default`.

    `pred_fn_pairs` is a sequence of (bool scalar, function). Raises AssertionFailedError, an InvalidArgumentError, when
    none is true and there is no default, or with `exclusive` when more than one is. `strict` has no effect.

    >>> x = autoconv.constant(3)
    >>> autoconv.case([(x > 5, lambda: "large"), (x > 2, lambda: "middle")], default=lambda: "small")
    'middle'
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"pred_fn_pairs has to be (predicate, function) pairs, found {pair!r}")
        _, function = pair
        check_callable("a function of pred_fn_pairs", function)
    if default is not None:
        check_callable("default", default)
    predicates = [pred() if callable(pred) and as_tensor(pred) is None else pred for pred, _ in pairs]
    if exclusive:
        _check_exclusive(predicates)
    results = switch_stmt(
        tuple(map(_constant_function, predicates)),
        tuple(_wrap_arm(function) for _, function in pairs),
        _raise_no_condition if default is None else _wrap_arm(default),
        (),
        ("the result of case",),
    )
    return results[0]


def switch_case(
    branch_index: Any, branch_fns: Any, default: Thunk | None = None, name: str = "switch_case"
) -> Any:
    """branch_fns[branch_index](), or `default()` for an index without a function.

    `branch_fns` is a sequence of functions, of (index, function) pairs, or a dict.
    The default of `default` is the function of the greatest index.

    >>> autoconv.switch_case(1, [lambda: 10, lambda: 20])
    20
    """
    function_by_index = _index_functions(branch_fns)
    indices = list(function_by_index)
    functions = [*function_by_index.values(), default or function_by_index[max(indices)]]
    for arm in functions:
        check_callable("a function of branch_fns", arm)
    index = as_tensor(branch_index)
    if index is None or isinstance(index, EagerTensor):
        return callable_for(function_by_index.get(int(branch_index), functions[-1]))()
    function_position: Any = convert_to_tensor(np.int64(len(indices)))
    index_value = apply("cast", index, dtype=int64)
    for arm_position, number in enumerate(indices):
        function_position = apply("select", index_value == number, np.int64(arm_position), function_position)
    return _stage_choice(function_position, functions, "the result of switch_case")


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeat `loop_vars = body(*loop_vars)` while cond(*loop_vars), at most `maximum_iterations` times.

    Returns the loop variables, with numbers as tensors. Their container is of the class of `loop_vars`; outside of
    `function`, of the class that `body` returned last. Raises ValueError when `body` returns another number of values.
    In graphs of `function`, variables keep their dtypes, and their shapes or those of `shape_invariants`; another dtype
    raises TypeError, another shape ValueError. `parallel_iterations`, `back_prop` and `swap_memory` have no effect.

    >>> autoconv.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), (0, 0))[1].numpy()
    np.int32(6)
    """
    check_callable("cond", cond)
    check_callable("body", body)
    if not loop_vars and loop_vars != 0:  # the number 0 is a loop variable by itself
        raise ValueError("'loop_vars' must be provided.")
    initial_values = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    region = current_region()
    test, step = callable_for(cond), callable_for(body)
    if region is not None and any(getattr(value, "__autoconv_is_structure_open__", False) for value in initial_values):
        # This recording is dropped: in it, the body determines the structure of loop variables that is still open.
        with recording(subregion(region, "probe")):
            step(*initial_values)
    state = tuple(map_structure(_as_loop_value, value) for value in initial_values)
    checks = LoopChecks(initial_values, state, shape_invariants) if has_checked_loops(region) else None
    if region is None or region.contract.python_numbers:
        state = tuple(initial_values)  # Python numbers stay what they are until `body` replaces them

    def continues(count: IntLike, *values: Any) -> Any:
        if maximum_iterations is None:
            return _bool_or_tensor(test(*values))
        return and_(count < maximum_iterations, lambda: _bool_or_tensor(test(*values)))

    def repeat(count: Any, *values: Any) -> tuple[Any, ...]:
        results = _loop_results(step(*map(_with_python_lists, values)), values)
        if checks is not None:
            checks.check(results)
        return (count + 1, *results)

    if region is not None:
        names = ("iterations", *_parameter_names(body, len(state)))
        return _pack_like(initial_values, stage_loop(continues, repeat, (0, *state), names)[1:])
    count, values, container = 0, state, initial_values
    while continues(count, *values):
        body_results = step(*map(_with_python_lists, values))
        count, values = count + 1, _loop_results(body_results, values)
        if isinstance(body_results, (list, tuple)) and len(body_results) == len(values):
            container = body_results
    return _pack_like(container, tuple(map_structure(_as_loop_value, value) for value in values))


def _with_python_lists(value: Any) -> Any:
    """Copy the lists of a graph in a loop variable to Python lists, since other packages test for the class `list`."""
    if isinstance(value, list) and items_of(value) is None:
        return [_with_python_lists(item) for item in value]
    return tuple(map(_with_python_lists, value)) if type(value) is tuple else value


def _stage_choice(index: Any, functions: Sequence[Any], title: str) -> Any:
    """Return the result of `functions[index]`, where a graph computes `index`; `title` names the result in errors."""
    return stage_arms(index, [_wrap_arm(function) for function in functions], [], (title,))[0]


def _wrap_arm(function: Callable[..., Any]) -> Callable[[], tuple[Any]]:
    """Wrap the function as an arm, which returns its results as a tuple."""
    return lambda: (callable_for(function)(),)


def _constant_function(value: TensorLike) -> Thunk:
    """Return a function that returns the value."""
    return lambda: value


def check_callable(parameter: str, function: object) -> None:
    """Raise TypeError, naming the parameter, for an object that is not callable."""
    if not callable(function):
        raise TypeError(f"'{parameter}' must be callable, found {function!r}")


def _raise_no_condition() -> Any:
    """Raise the error of `case` for predicates that are all false."""
    raise AssertionFailedError("None of the conditions evaluated as True, and case has no default")


def _check_exclusive(predicates: Sequence[Any]) -> None:
    """Assert that at most one predicate is true."""
    stacked_predicates = apply("stack", *[_as_int(predicate) for predicate in predicates], axis=0)
    is_exclusive = apply("reduce_sum", stacked_predicates, axis=None, keepdims=False) < 2
    message = "More than one condition evaluated as True but exclusive=True."
    apply("assert_true", is_exclusive, message=(message,), summarize=3)


def _as_int(predicate: Any) -> Any:
    """Return a predicate as 0 or 1, int64."""
    return apply("cast", convert_to_tensor(predicate), dtype=int64)


def _index_functions(branch_fns: Any) -> dict[int, Thunk]:
    """Return the functions of `switch_case` by their index."""
    if isinstance(branch_fns, Mapping) or all(isinstance(entry, (tuple, list)) for entry in branch_fns):
        function_by_index = dict(branch_fns)
    else:
        function_by_index = dict(enumerate(branch_fns))
    if not function_by_index:
        raise ValueError("branch_fns has no functions")
    for number in function_by_index:
        if not isinstance(number, int):
            raise TypeError(f"branch_fns has to be numbered by ints, found {number!r}")
    return function_by_index


def _as_loop_value(value: TensorLike) -> Any:
    """Return a leaf of a loop variable as a tensor; None, TensorArrays and other values of graphs stay."""
    if value is None or isinstance(value, TensorArray) or hasattr(type(value), "__autoconv_graph_value__"):
        return value
    return convert_to_tensor(value)


def _bool_or_tensor(value: TensorLike) -> Any:
    """Return the value of a loop's condition: a symbolic tensor as it is, any other value as a bool."""
    return value if is_staged(value) else bool(value)


def _loop_results(results: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return a body's results as a tuple with one item for each of the loop variables `values`, or raise ValueError."""
    loop_values = tuple(results) if isinstance(results, (list, tuple)) else (results,)
    count = len(values)
    if count == 1 and len(loop_values) != 1 and is_structure(values[0]):
        loop_values = (results,)  # the list or tuple is the only loop variable itself
    if len(loop_values) != count:
        raise ValueError(
            f"the body of while_loop has to give {count} values, one a loop variable; found {len(loop_values)}"
        )
    return loop_values


def _parameter_names(body: Callable[..., Any], count: int) -> tuple[str, ...]:
    """Return the names of the body's parameters, for the loop variables."""
    try:
        names = [
            parameter.name
            for parameter in inspect.signature(body).parameters.values()
            if parameter.kind is not parameter.VAR_POSITIONAL
        ]
    except (TypeError, ValueError):
        names = []
    return tuple(names) if len(names) == count else tuple(f"loop_vars[{i}]" for i in range(count))


def _pack_like(container: Any, results: tuple[Any, ...]) -> Any:
    """Return the results in a container of the same class."""
    return type(container)(*results) if hasattr(container, "_fields") else type(container)(results)
