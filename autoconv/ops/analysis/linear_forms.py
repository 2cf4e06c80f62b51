"""Linear forms of integers: a constant plus multiples of values that are not decomposed further (atoms).

    row = k + 1 + turn      {k: 1, turn: 1} + 1

A capture of a region has the form of the outer value. The forms hold wherever the program raises no error, since
checked arithmetic does not wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import parameter_sources
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.value_range import INT64_RANGE, Range

Atom = Hashable
_DEEPEST = 32  # nodes between a value and its atoms
_COPIES = frozenset({"identity", "python_cast", "python_int"})  # of integers: they keep the number


@dataclass(frozen=True, slots=True)
class LinearForm:
    """`constant` + the sum of coefficient · atom."""

    constant: int = 0
    terms: Mapping[Atom, int] = field(default_factory=dict)

    def plus(self, other: LinearForm, factor: int = 1) -> LinearForm:
        """Return this form plus `factor` times the other."""
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * coefficient
        constant = self.constant + factor * other.constant
        return LinearForm(constant, {atom: count for atom, count in terms.items() if count})

    def times(self, factor: int) -> LinearForm:
        return LinearForm().plus(self, factor)

    def range(self, ranges: Mapping[Atom, Range]) -> Range:
        """Return the interval of the form, given those of its atoms."""
        low = high = self.constant
        for atom, coefficient in self.terms.items():
            ends = sorted(coefficient * end for end in ranges.get(atom, INT64_RANGE))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def is_never_zero(self, ranges: Mapping[Atom, Range]) -> bool:
        """Return whether the form differs from zero for all numbers in the atoms' ranges.

        It does if its interval excludes zero, or if a divisor of all coefficients does not divide the constant.
        """
        low, high = self.range(ranges)
        divisor = math.gcd(*self.terms.values())
        return low > 0 or high < 0 or (divisor > 1 and self.constant % divisor != 0)


def of_atom(atom: Atom) -> LinearForm:
    return LinearForm(0, {atom: 1})


class LinearForms:
    """The linear forms of the integers without dimensions in a graph and its regions."""

    def __init__(self, graph: Graph) -> None:
        self._captured: dict[Value, Value] = {}  # by parameter of a region: the outer value that it always holds
        self._forms: dict[Value, LinearForm] = {}
        self._collect_captures(graph, set())

    def _collect_captures(self, graph: Graph, seen: set[Graph]) -> None:
        for node in graph.nodes:
            if is_recursive(node):
                continue
            for region in node.regions:
                if region in seen:  # of several nodes
                    for parameter in region.parameters:
                        self._captured.pop(parameter, None)
                    continue
                seen.add(region)
                sources: dict[Value, set[Value]] = {}
                for parameter, source in parameter_sources(node, region):
                    sources.setdefault(parameter, set()).update({source} - {parameter})
                for parameter, found in sources.items():
                    if len(found) == 1:
                        self._captured[parameter] = found.pop()
                self._collect_captures(region, seen)

    def outer(self, value: Value) -> Value:
        """Return the outermost value that a parameter captures; the value itself if it captures none."""
        while value in self._captured:
            value = self._captured[value]
        return value

    def of(self, value: Value, depth: int = 0) -> LinearForm:
        """Return the linear form of an integer; a form of one atom if it is computed in another way."""
        value = self.outer(value)
        if value not in self._forms:
            self._forms[value] = (self._computed(value.node, depth) if value.node else None) or of_atom(value)
        return self._forms[value]

    def _computed(self, node: Node, depth: int) -> LinearForm | None:
        constant = _constant(node)
        if constant is not None:
            return LinearForm(constant)
        if depth > _DEEPEST or not all(_is_number(value) for value in (*node.inputs, *node.results)):
            return None
        name = node.op.name
        if name in _COPIES:
            return self.of(node.inputs[0], depth + 1)
        if name == "range_item":
            position, start, step = (self.of(node.inputs[i], depth + 1) for i in (0, 1, 3))
            return None if step.terms else start.plus(position, step.constant)
        if name not in ("python_add", "python_subtract", "python_multiply", "python_negative"):
            return None
        forms = [self.of(value, depth + 1) for value in node.inputs]
        if name == "python_negative":
            return forms[0].times(-1)
        x, y = forms
        if name != "python_multiply":
            return x.plus(y, 1 if name == "python_add" else -1)
        if x.terms and y.terms:
            return None
        return y.times(x.constant) if y.terms else x.times(y.constant)


def _constant(node: Node) -> int | None:
    """Return the value of a constant integer without dimensions; None for other nodes."""
    array = np.asarray(node.attributes["value"]) if node.op.name == "constant" else np.zeros(1)
    return int(array) if array.shape == () and array.dtype.kind == "i" else None


def _is_number(value: Value) -> bool:
    """Return whether a value is an integer of 64 bits without dimensions."""
    return isinstance(value.type, TensorType) and value.type.shape == () and value.type.dtype is int64


__all__ = ["Atom", "LinearForm", "LinearForms", "of_atom"]
