"""Control flow over arrays whose sizes are values, and the bounds of the integers that sizes are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.stablehlo.bounded_terms import (
    Interval,
    bounded,
    fits,
    interval_of,
    interval_of_choice,
    interval_of_operation,
    length_of,
    lengths_of,
    storage_of,
)  # fmt: skip
from autoconv.backends.stablehlo.writer import Writer
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node
from autoconv.lazy_dataclass import dataclass


@dataclass
class _Form:
    """The shape of the storage that the arms of a branch, or the turns of a loop, give, and the axes with lengths."""

    shape: tuple[int, ...]
    axes: frozenset[int]


class _WiderState(Exception):
    """A turn of a loop gives an array a size that is not the one before the loop."""

    def __init__(self, position: int, axes: frozenset[int]) -> None:
        self.position = position
        self.axes = axes


class BoundedControl(Writer):
    """Branches and loops whose values are pairs of storage and lengths, and integers with bounds."""

    # ---- bounds of integers

    def binary(self, name: str, x: Any, y: Any) -> Term:
        result = super().binary(name, x, y)
        return self._with_interval(result, interval_of_operation(name, x, y)) if result.dtype.is_integer else result

    def select(self, condition: Term, x: Any, y: Any) -> Term:
        result = super().select(condition, x, y)
        if condition.constant_value is not None or not result.dtype.is_integer:
            return result
        return self._with_interval(result, interval_of_choice(x, y))

    def cast(self, x: Term, dtype: DType) -> Term:
        """Convert; an integer keeps its interval, and a vector of sizes its elements."""
        result = super().cast(x, dtype)
        if result is not x and dtype.is_integer and x.dtype.is_integer:
            self._with_interval(result, interval_of(x))
            if x.elements is not None:
                result.elements = tuple(self.cast(element, dtype) for element in x.elements)
        return result

    def _with_interval(self, result: Term, interval: Interval) -> Term:
        """Record the bounds of an integer, and return it."""
        if result.constant_value is None and fits(interval, result.dtype):
            result.interval = interval
        return result

    def compare(self, test: str, x: Any, y: Any) -> Term:
        """Compare; a comparison that the bounds of its operands decide is a constant."""
        is_true = _decide(test, interval_of(x), interval_of(y))
        if is_true is not None and all(not isinstance(z, Term) or (not z.shape and z.dtype.is_integer) for z in (x, y)):
            return self._constant_condition(is_true)
        return super().compare(test, x, y)

    def check_sizes(self, node: Node, vector: Term | None) -> Term | None:
        """Return the vector of sizes, in which negative ones fail and become 0."""
        if vector is None or vector.elements is None or self.has_open_sizes:
            return super().check_sizes(node, vector)
        sizes = []
        for element in vector.elements:
            is_negative = element < 0
            self.fail_if(is_negative)
            sizes.append(self.reshape(self.select(is_negative, 0, element), (1,)))
        return self.concatenate(sizes, 0)

    def limit_size(self, size: Term, limit: int) -> Term:
        low, high = interval_of(size)
        if size.constant_value is not None or (low is not None and low >= 0 and high is not None):
            return size
        self.fail_if((size < 0) | (size > limit))
        return self.binary("minimum", self.binary("maximum", size, 0), limit)

    # ---- branches

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        """Choose among arms; arrays with lengths have one form in all of them."""
        forms = [_joined_form(values) for values in zip(*(values for _, values in arms), strict=True)]
        flat_arms = []
        for lines, values in arms:
            with self._reopen(lines):
                flat_arms.append((lines, self._flatten(values, forms)))
        return self._unflatten(super().branch(index, flat_arms), forms)

    @contextmanager
    def _reopen(self, lines: list[str]) -> Iterator[None]:
        """Write further operations at the end of a region."""
        with self.region() as more_lines:
            yield
        lines += more_lines

    def _flatten(self, values: Sequence[Term], forms: Sequence[_Form | None]) -> list[Term]:
        """Return the storage of each value in its form, and its lengths."""
        result = []
        for x, form in zip(values, forms, strict=True):
            if form is None:
                result.append(x)
                continue
            storage = storage_of(x)
            for axis, size in enumerate(form.shape):
                storage = self._resize(storage, axis, size)
            result.append(storage)
            for axis in sorted(form.axes):
                length = length_of(x, axis)
                result.append(self.constant(x.shape[axis], int64) if length is None else length)
        return result

    def _unflatten(self, terms: Sequence[Term], forms: Sequence[_Form | None]) -> list[Term]:
        """Return the values of these storages and lengths; further terms are kept."""
        remaining_terms = list(terms)
        result = []
        for form in forms:
            storage = remaining_terms.pop(0)
            lengths = {}
            for axis in sorted(form.axes) if form is not None else ():
                lengths[axis] = remaining_terms.pop(0)
                lengths[axis].interval = (0, storage.shape[axis])
            result.append(bounded(storage, lengths))
        return [*result, *remaining_terms]

    def _resize(self, storage: Term, axis: int, size: int) -> Term:
        """Cut the storage to a capacity, or add zeros."""
        if size <= storage.shape[axis]:
            return super().static_slice(storage, axis, 0, size)
        high = [size - storage.shape[axis] if i == axis else 0 for i in range(storage.rank)]
        return super().pad(storage, self.constant(0, storage.dtype), [0] * storage.rank, high)

    # ---- loops

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a loop; if a turn changes a size of the state, write it again with this size as a length."""
        forms = [
            None if static_shape(storage_of(x).shape) is None else _Form(storage_of(x).shape, frozenset(lengths_of(x)))
            for x in state
        ]  # fmt: skip
        while True:
            word_before = self.error_word
            try:
                return self._loop_of_forms(test, body, state, word, forms)
            except _WiderState as wider:
                form = forms[wider.position]
                assert form is not None
                forms[wider.position] = _Form(form.shape, form.axes | wider.axes)
                self.error_word = word_before

    def _loop_of_forms(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term, forms: Sequence[_Form | None],
    ) -> list[Term]:
        """Write a loop whose state is flattened by the forms; a next state of another form is refused."""

        def run_test(terms: list[Term], word: Term) -> Term:
            return test(self._unflatten(terms, forms), word)

        def run_body(terms: list[Term], word: Term) -> list[Term]:
            next_state = body(self._unflatten(terms, forms), word)
            for position, (x, form) in enumerate(zip(next_state, forms, strict=True)):
                if form is not None:
                    _check_form(position, x, form)
            return self._flatten(next_state, forms)

        return self._unflatten(super().loop(run_test, run_body, self._flatten(state, forms), word), forms)


def _check_form(position: int, x: Term, form: _Form) -> None:
    """Raise _WiderState for an array with a size that differs from those of the form and is smaller."""
    sizes = storage_of(x).shape
    if len(sizes) != len(form.shape) or None in sizes:
        return  # refused later
    differing = {axis for axis, size in enumerate(x.shape) if size != form.shape[axis] and axis not in form.axes}
    if differing:
        raise _WiderState(position, frozenset(differing))
    if any(size > form.shape[axis] for axis, size in enumerate(sizes) if axis not in lengths_of(x)):
        raise GraphUnfit("while", "a variable of the loop changes its shape")


def _joined_form(values: Sequence[Term]) -> _Form | None:
    """Return the form of a value that each arm gives; None if all arms give arrays of one known shape."""
    shapes = [storage_of(x).shape for x in values]
    if len({x.shape for x in values}) == 1 and not any(lengths_of(x) for x in values):
        return None
    if len({len(shape) for shape in shapes}) > 1 or any(None in shape for shape in shapes):
        return None  # refused later
    axes = {
        axis for axis in range(len(shapes[0]))
        if any(length_of(x, axis) is not None for x in values) or len({x.shape[axis] for x in values}) > 1
    }  # fmt: skip
    return _Form(tuple(max(sizes) for sizes in zip(*shapes, strict=True)), frozenset(axes))


def _decide(test: str, x: Interval, y: Interval) -> bool | None:
    """Return the result of a comparison that the bounds of its operands decide, else None."""
    match test:
        case "lt" | "ge":
            is_less = _is_less(x, y)
            return is_less if test == "lt" or is_less is None else not is_less
        case "gt" | "le":
            is_greater = _is_less(y, x)
            return is_greater if test == "gt" or is_greater is None else not is_greater
    return None


def _is_less(x: Interval, y: Interval) -> bool | None:
    """Return whether each number of an interval is below each of another; None if only some are."""
    (x_low, x_high), (y_low, y_high) = x, y
    if x_high is not None and y_low is not None and x_high < y_low:
        return True
    if x_low is not None and y_high is not None and x_low >= y_high:
        return False
    return None
