"""Dependence tests for accesses to arrays, which find loops with independent iterations, and disjoint views.

    for j in range(k + 1, n): a[i, j] = a[i, j] - a[i, k] * a[k, j]      where k < i

No iteration reads an element that another one writes, since column k is not among the columns j, and row k is not row
i. LLVM then vectorises the loop without a comparison of addresses at run time. Indices are compared as linear forms, by
the interval test and the GCD test (Banerjee, Dependence Analysis for Supercomputing, 1988), in one dimension at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, product
from typing import Any, NamedTuple

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.linear_form import INT64_RANGE, Atom, LinearForm, Range, of_atom
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType
from autoconv.ops.analysis.alias import DISJOINT, Overlaps
from autoconv.ops.analysis.induction import counter_of
from autoconv.ops.analysis.linear_forms import LinearForms
from autoconv.ops.analysis.value_range import SIZE_RANGE
from autoconv.ops.index_spec import At, Entry, NewAxis, Slice
from autoconv.ops.numpy.arrays import basic_entries

_MAX_ACCESSES = 24  # most accesses in a loop, since all pairs of them are compared
_UNKNOWN_DIMENSION = -1  # stands for a dimension of a view that is not a whole dimension of the base


class _ViewEntry(NamedTuple):
    """An entry of a view's index, its parts with operands in place, and the dimension of the source."""

    entry: Entry
    parts: tuple[object, ...]
    axis: int


class LoopDependence:
    """Dependence tests on the arrays in memory of a graph and its regions."""

    def __init__(self, graph: Graph, ranges: Mapping[Any, Range], overlaps: Overlaps) -> None:
        self.forms = LinearForms(graph)
        self.ranges: dict[Atom, Range] = dict(ranges)
        self._overlaps = overlaps
        self._unknown_numbers = count()

    def has_independent_iterations(self, loop: Node) -> bool:
        """Return whether no iteration of a counting loop reads or writes an element that another one writes.

        Only loads and stores of single elements are examined; the result is False for a loop with inner loops.
        """
        body = loop.regions[1]
        if counter_of(loop) is None or any(
            node.op.traits.control and not node.op.traits.selects for node in body.walk()
        ):
            return False
        stored_arrays = [node.inputs[0] for node in body.walk() if node.op.name == "array_store"]
        loaded_arrays = [node.inputs[0] for node in body.walk() if node.op.name == "array_load"]
        if not stored_arrays or len(stored_arrays) + len(loaded_arrays) > _MAX_ACCESSES:
            return False
        iterations = _IterationPair(self, loop)
        if any(iterations.may_vary(self._base(view)) for view in (*stored_arrays, *loaded_arrays)):
            return False
        return all(
            self._overlaps.between(target, other) == DISJOINT or self._are_separate(target, other, iterations)
            for i, target in enumerate(stored_arrays)
            for other in (*stored_arrays[i:], *loaded_arrays)
        )

    def reads_previous_element(self, loop: Node) -> bool:
        """Return whether each iteration of a counting loop reads an element that the iteration before it writes."""
        counter, body = counter_of(loop), loop.regions[1]
        if counter is None:
            return False
        stored_arrays = [node.inputs[0] for node in body.walk() if node.op.name == "array_store"]
        loaded_arrays = [node.inputs[0] for node in body.walk() if node.op.name == "array_load"]
        if len(stored_arrays) + len(loaded_arrays) > _MAX_ACCESSES:
            return False
        parameter = body.parameters[counter.position]
        return any(
            self._base(target) is self._base(other) and self._is_at_previous_position(target, other, parameter)
            for target, other in product(stored_arrays, loaded_arrays)
        )

    def _is_at_previous_position(self, target: Value, other: Value, counter: Atom) -> bool:
        """Return whether the position of `other` is that of `target` in the iteration before."""
        pairs = list(zip(self._position_forms(target), self._position_forms(other), strict=True))
        if not pairs or any(len(forms) != 1 for pair in pairs for forms in pair):
            return False
        steps = [first.terms.get(counter, 0) for (first,), _ in pairs]
        return any(steps) and all(
            first.minus(second) == LinearForm(step)
            for ((first,), (second,)), step in zip(pairs, steps, strict=True)
        )

    def are_disjoint(self, first: Value, second: Value) -> bool:
        """Return whether two views that exist in the same iteration have no common elements."""
        return self._are_separate(first, second, iterations=None)

    def unknown_offset(self) -> LinearForm:
        """Return the form of an unknown number that is not negative."""
        atom = next(self._unknown_numbers)
        self.ranges[atom] = SIZE_RANGE
        return of_atom(atom)

    def _are_separate(self, first: Value, second: Value, iterations: _IterationPair | None) -> bool:
        """Return whether a dimension of the common base separates two views.

        If `iterations` is None, both views exist in the same iteration.
        """
        base = self._base(first)
        if base is not self._base(second) or not _is_injective(base):
            return False
        return any(
            self._are_never_equal(x, y, iterations)
            for first_forms, second_forms in zip(self._position_forms(first), self._position_forms(second), strict=True)
            for x, y in product(first_forms, second_forms)
        )

    def _are_never_equal(self, x: LinearForm, y: LinearForm, iterations: _IterationPair | None) -> bool:
        """Return whether position x in one iteration of the pair is sure to differ from position y in the other one.

        If `iterations` is None, both are positions in the same iteration.
        """
        if iterations is None:
            return x.minus(y).is_never_zero(self.ranges)
        return iterations.are_equal_and_vary(x, y) or any(
            first.minus(second).is_never_zero(self.ranges)
            for first, second in product(iterations.iteration_forms(0, x), iterations.iteration_forms(1, y))
        )

    # ---- views

    def _base(self, view: Value) -> Value:
        """Return the array that a view is taken of, directly or through other views; of other values, the value."""
        source = self._source(view)
        return self.forms.outermost(view) if source is None else self._base(source)

    def _source(self, view: Value) -> Value | None:
        """Return the source of a value that is a view by an index; None for other values."""
        node = self.forms.outermost(view).node
        return node.inputs[0] if node is not None and node.op.name == "array_view" else None

    def _position_forms(self, view: Value) -> list[list[LinearForm]]:
        """Return for each dimension of the base the forms that describe the positions of the view's elements.

        Each form alone describes every position. It has an unknown offset, which varies with the element, if there are
        several positions. The list of a dimension is empty if its positions are unknown.
        """
        source = self._source(view)
        if source is None:
            return [[self.unknown_offset()] for _ in _shape(view)]
        result, dimensions = self._position_forms(source), self._base_dimensions(source)
        for entry, parts, axis in self._entries(view, source):
            if not isinstance(entry, NewAxis) and dimensions[axis] != _UNKNOWN_DIMENSION:
                result[dimensions[axis]] = self._entry_forms(entry, parts, _shape(source)[axis])
        return result

    def _base_dimensions(self, view: Value) -> list[int]:
        """Return for each dimension of a view the dimension of the base that it equals, or `_UNKNOWN_DIMENSION`."""
        source = self._source(view)
        if source is None:
            return list(range(len(_shape(view))))
        source_dimensions = self._base_dimensions(source)
        return [
            source_dimensions[axis] if entry == Slice() else _UNKNOWN_DIMENSION
            for entry, _, axis in self._entries(view, source)
            if not isinstance(entry, At)
        ]

    def _entries(self, view: Value, source: Value) -> list[_ViewEntry]:
        """Return the entries of the index by which a view is taken of its source."""
        node = self.forms.outermost(view).node
        assert node is not None
        operands = iter(node.inputs[1:])
        entries = basic_entries(len(_shape(source)), node.attributes["spec"])
        return [_ViewEntry(entry, entry.with_operands(operands), axis) for entry, axis in entries]

    def _entry_forms(self, entry: Entry, positions: Sequence[object], size: object) -> list[LinearForm]:
        """Return forms, each of which describes every position that an entry selects; none if unknown.

        `positions` has the position of an `At`, or start, stop and step of a slice.
        """
        if isinstance(entry, At):
            form = self._index_form(positions[0], size)
            return [] if form is None else [form]
        start, stop, step = positions
        goes_forwards = step is None or (isinstance(step, int) and step > 0)
        if not isinstance(entry, Slice) or not goes_forwards:
            return []
        first = self._index_form(0 if start is None else start, size)
        end = self._index_form(size if stop is None else stop, size)
        forms = [] if first is None else [first.plus(self.unknown_offset())]
        if end is not None:
            forms.append(end.minus(LinearForm(1)).minus(self.unknown_offset()))
        return forms

    def _index_form(self, index: object, size: object) -> LinearForm | None:
        """Return the linear form of a position; None if the position may be negative, and so count from the end."""
        if isinstance(index, int):
            if index < 0 and isinstance(size, int):
                index += size
            return LinearForm(index) if index >= 0 else None
        if not isinstance(index, Value):
            return None
        form = self.forms.of(index)
        lower_bounds = (self.ranges.get(index, INT64_RANGE)[0], form.range(self.ranges)[0])
        return form if max(lower_bounds) >= 0 else None


class _IterationPair:
    """Two iterations of a counting loop that differ, numbered 0 and 1."""

    def __init__(self, dependence: LoopDependence, loop: Node) -> None:
        counter, body = counter_of(loop), loop.regions[1]
        assert counter is not None
        self._dependence = dependence
        self._counter = body.parameters[counter.position]
        self._varying_atoms: set[Atom] = set(body.parameters[: state_size(loop)])
        self._varying_atoms.update(value for node in body.walk() for value in node.results)
        self._varying_atoms.discard(self._counter)
        if counter.limit is not None:
            self._limit = LinearForm(counter.limit)
        else:
            self._limit = self._limit_form(loop.inputs[state_size(loop) + counter.capture])

    def _limit_form(self, limit: Value) -> LinearForm:
        """Return the linear form of a loop's limit, for a loop whose body runs: a range then has a positive length."""
        forms = self._dependence.forms
        node = forms.outermost(limit).node
        if node is not None and node.op.name == "range_length":
            start, stop, step = node.inputs
            if forms.of(step) == LinearForm(1):
                return forms.of(stop).minus(forms.of(start))
        return forms.of(limit)

    def may_vary(self, base: Value) -> bool:
        """Return whether the array may be a different one in each iteration."""
        return base in self._varying_atoms

    def are_equal_and_vary(self, x: LinearForm, y: LinearForm) -> bool:
        """Return whether x and y are equal in each iteration, and differ between any two iterations."""
        varies_by_counter = x.terms.get(self._counter, 0) != 0 and self._varying_atoms.isdisjoint(x.terms)
        return varies_by_counter and x.minus(y) == LinearForm()

    def iteration_forms(self, iteration_number: int, form: LinearForm) -> list[LinearForm]:
        """Return forms of a number in iteration 0 or 1: by the counter, and by its distance from the limit."""
        ranges = self._dependence.ranges
        terms: dict[Atom, int] = {}
        for atom, coefficient in form.terms.items():
            is_varying = atom is self._counter or atom in self._varying_atoms
            atom_of_iteration = (iteration_number, atom) if is_varying else atom
            if is_varying:
                ranges[atom_of_iteration] = ranges.get(atom, INT64_RANGE)
            terms[atom_of_iteration] = coefficient
        by_counter = LinearForm(form.constant, terms)
        factor = form.terms.get(self._counter, 0)
        if not factor or self._varying_atoms & {*self._limit.terms}:
            return [by_counter]
        other_terms = dict(terms)
        del other_terms[(iteration_number, self._counter)]
        form_without_counter = LinearForm(form.constant, other_terms)
        counter_from_limit = self._limit.minus(LinearForm(1)).minus(self._dependence.unknown_offset())
        return [by_counter, form_without_counter.plus(counter_from_limit, factor=factor)]


def _shape(view: Value) -> tuple[object, ...]:
    """Return the shape of an array in memory."""
    assert isinstance(view.type, ArrayType)
    return view.type.shape


def _is_injective(base: Value) -> bool:
    """Return whether different positions of an array are known to have different addresses."""
    type_ = base.type
    if not isinstance(type_, ArrayType):
        return False
    if type_.is_dense:
        return True
    covered_bytes = type_.dtype.size
    for size, stride in sorted(zip(type_.shape, type_.strides, strict=True), key=lambda pair: abs(pair[1] or 0)):
        if not isinstance(size, int) or stride is None or (size > 1 and abs(stride) < covered_bytes):
            return False
        covered_bytes += abs(stride) * (size - 1) if size else 0
    return True
