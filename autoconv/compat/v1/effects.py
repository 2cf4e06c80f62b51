"""Assignments, assertions and printing of version 1, which return an operation with the effect in graphs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv import debugging
from autoconv.api.control import checks
from autoconv.api.control.output import print_ as _print
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.scopes import control_dependencies
from autoconv.api.tensors.casts import identity
from autoconv.compat.v1.operations import as_operation
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.support.made_functions import give_name


def assign(
    ref: Any, value: TensorLike, validate_shape: bool | None = None, use_locking: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Assign to a variable; return a tensor of the new value.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable(1.0)
    ...     session.run(autoconv.compat.v1.assign(v, 2.0))
    np.float32(2.0)
    """
    return ref.assign(value)


def _make_update(method_name: str, beginning: str, example_result: str) -> Callable[..., Any]:
    """Return a function that calls the named method of the variable; its docstring starts with `beginning`."""

    def update(ref: Any, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Any:
        return getattr(ref, method_name)(value)

    return give_name(update, method_name, (
        f"{beginning} a variable; return a tensor of the new value.\n\n"
        f">>> autoconv.compat.v1.{method_name}(autoconv.Variable(1.0), 2.0).numpy()\nnp.float32({example_result})\n"
    ))  # fmt: skip


assign_add = _make_update("assign_add", "Add to", "3.0")
assign_sub = _make_update("assign_sub", "Subtract from", "-1.0")


def _make_scatter(method_name: str, example_result: str, takes_slices: bool = False) -> Callable[..., Any]:
    """Return a function that calls the named method of the variable, with IndexedSlices if it `takes_slices`.

    `example_result` has the elements in the docstring's example.
    """

    def scatter(
        ref: Any, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
    ) -> Any:
        method = getattr(ref, method_name)
        return method(IndexedSlices(updates, indices)) if takes_slices else method(indices, updates)

    example_indices = "[1]" if takes_slices else "[[1]]"
    return give_name(scatter, method_name, (
        f"Call `ref.{method_name}` with indices and updates; return a tensor of the new value.\n\n"
        f">>> autoconv.compat.v1.{method_name}(autoconv.Variable([6.0, 3.0]), {example_indices}, [2.0]).numpy()\n"
        f"array({example_result}, dtype=float32)\n"
    ))  # fmt: skip


scatter_update = _make_scatter("scatter_update", "[6., 2.]", takes_slices=True)
scatter_add = _make_scatter("scatter_add", "[6., 5.]", takes_slices=True)
scatter_sub = _make_scatter("scatter_sub", "[6., 1.]", takes_slices=True)
scatter_nd_update = _make_scatter("scatter_nd_update", "[6., 2.]")
scatter_nd_add = _make_scatter("scatter_nd_add", "[6., 5.]")
scatter_nd_sub = _make_scatter("scatter_nd_sub", "[6., 1.]")
scatter_max = _make_scatter("scatter_max", "[6., 3.]", takes_slices=True)
scatter_min = _make_scatter("scatter_min", "[6., 2.]", takes_slices=True)
scatter_mul = _make_scatter("scatter_mul", "[6., 6.]", takes_slices=True)
scatter_div = _make_scatter("scatter_div", "[6. , 1.5]", takes_slices=True)


def Assert(condition: TensorLike, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """Return an operation that raises AssertionFailedError unless all elements of the condition are true.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.Assert(autoconv.constant(True), ["never shown"]).type
    'NoOp'
    """
    return as_operation(lambda: checks.Assert(condition, data, summarize, name))


def print(*inputs: Any, **options: Any) -> Any:
    """Return an operation that prints tensors.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     session.run(autoconv.compat.v1.print("x =", autoconv.constant(3), output_stream=__import__("sys").stdout))
    x = 3
    """
    return as_operation(lambda: _print(*inputs, **options))


def Print(
    input_: TensorLike, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return a tensor of the value of `input_`; each time it is computed, `data` is printed to stderr.

    With `first_n`, only the first times. `summarize` elements of each tensor are shown, 3 by default and all with -1.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.Print(autoconv.constant(3), [autoconv.constant(4)], "four: ").dtype
    autoconv.int32
    """
    prefix, shown_count = message or "", 3 if summarize is None else summarize
    print_count = itertools.count()

    def print_values(*values: np.ndarray) -> None:
        if first_n is None or first_n < 0 or next(print_count) < first_n:
            sys.stderr.write(f"{prefix}{''.join(f'[{_summary(value, shown_count)}]' for value in values)}\n")

    operation = as_operation(lambda: numpy_function(print_values, list(data), Tout=None))
    with control_dependencies([] if operation is None else [operation]):
        return identity(input_, name=name)


def _summary(value: Any, shown_count: int) -> str:
    """Return the first elements of an array as TensorFlow's `Print` shows them: rows of rows are in brackets."""
    array = np.asarray(value)
    limit = array.size if shown_count < 0 else shown_count
    elements = iter(itertools.islice(array.flat, limit))

    def show(part: np.ndarray) -> str:
        if part.ndim < 2:
            texts = [_element_text(element) for element in itertools.islice(elements, part.size)]
            return " ".join(texts) + ("..." if len(texts) < part.size and part is not array else "")
        return "".join(f"[{text}]" for text in map(show, part) if text not in ("", "..."))

    return show(array) + ("..." if array.size > limit else "")


def _element_text(element: Any) -> str:
    """Return a number with the fewest of two counts of digits that give it back, or a string without quotes."""
    if isinstance(element, bytes):
        return element.decode(errors="replace")
    if isinstance(element, np.floating):
        is_double = element.dtype.itemsize == 8
        text = f"{element:.{15 if is_double else 6}g}"
        is_exact = element.dtype.type(text) == element or element != element
        return text if is_exact else f"{element:.{17 if is_double else 9}g}"
    return str(int(element)) if isinstance(element, (np.bool_, np.integer)) else str(element)


def _make_assertion(name: str, function: Callable[..., Any], example: str) -> Callable[..., Any]:
    """Return an assertion of version 1; `example` has the arguments in the docstring's example."""
    def assert_operation(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("data", None)  # TensorFlow adds it to the message; here the message has the operands only
        return as_operation(lambda: function(*args, **kwargs))

    summary = (function.__doc__ or "").strip().splitlines()[0]
    return give_name(assert_operation, name, (
        f"{summary}\n\nReturn the operation of the assertion, for control dependencies.\n\n"
        ">>> with autoconv.Graph().as_default():\n"
        f"...     autoconv.compat.v1.{name}({example}).type\n'NoOp'\n"
    ))  # fmt: skip


assert_equal = _make_assertion("assert_equal", checks.assert_equal, "autoconv.constant(1), 1")
assert_greater = _make_assertion("assert_greater", checks.assert_greater, "autoconv.constant(2), 1")
assert_less = _make_assertion("assert_less", checks.assert_less, "autoconv.constant(1), 2")
assert_rank = _make_assertion("assert_rank", debugging.assert_rank, "autoconv.compat.v1.placeholder(autoconv.int32), 1")
assert_greater_equal = _make_assertion(
    "assert_greater_equal", debugging.assert_greater_equal, "autoconv.constant(1), 1"
)
assert_less_equal = _make_assertion("assert_less_equal", debugging.assert_less_equal, "autoconv.constant(1), 1")
assert_none_equal = _make_assertion("assert_none_equal", debugging.assert_none_equal, "autoconv.constant(1), 2")
assert_non_negative = _make_assertion("assert_non_negative", debugging.assert_non_negative, "autoconv.constant(1)")
assert_positive = _make_assertion("assert_positive", debugging.assert_positive, "autoconv.constant(1)")
assert_negative = _make_assertion("assert_negative", debugging.assert_negative, "autoconv.constant(-1)")
assert_near = _make_assertion("assert_near", debugging.assert_near, "autoconv.constant(1.0), 1.0")
assert_non_positive = _make_assertion("assert_non_positive", debugging.assert_non_positive, "autoconv.constant(-1)")
assert_rank_in = _make_assertion(
    "assert_rank_in", debugging.assert_rank_in, "autoconv.compat.v1.placeholder(autoconv.int32), [0, 1]"
)
