"""Elements in groups by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.data.elements import spec_leaves
from autoconv.data.functions import ElementFunction
from autoconv.data.nodes import Bindings, Bound, Element, Node, number
from autoconv.graph.dtypes import int64
from autoconv.operators.calls.call import call
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply

_KEY = TensorSpec([], int64)


class GroupByWindow(Node):
    """The elements of reduce(key, group) for groups of consecutive elements of equal key.

    A group is reduced when it is as long as its window; those that are left at the end follow by their keys. `nested`
    makes the spec of a dataset from the spec of its elements.
    """

    name = "group_by_window"

    def __init__(
        self, source: Node, key: Callable[..., Any], reduce: Callable[..., Any], size: Any,
        size_of: Callable[[Any], Any] | None, nested: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        if (size is None) == (size_of is None):
            raise ValueError("group_by_window takes either `window_size` or `window_size_func`")
        self.key = ElementFunction(_integer(key), source.spec, "group_by_window")
        self.reduce = ElementFunction(reduce, (_KEY, nested(source.spec)), "group_by_window")
        if not isinstance(self.reduce.spec, type(nested(source.spec))):
            raise TypeError(f"the `reduce_func` of group_by_window has to return a dataset, found {self.reduce.spec}")
        fixed = None if size is None else number(size)
        self.size_of = ElementFunction(_integer(size_of or (lambda key: fixed)), _KEY, "group_by_window")
        functions = (self.key, self.reduce, self.size_of)
        super().__init__(self.reduce.spec.element_spec, [source], [x for each in functions for x in each.values])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        key_of, reduce, size_of = (each.runner(bindings) for each in (self.key, self.reduce, self.size_of))
        groups: dict[int, list[Element]] = {}
        for element in self.inputs[0].iterate(bindings):
            key = int(np.asarray(key_of(element)[0]))
            group = groups.setdefault(key, [])
            size = int(np.asarray(size_of([np.int64(key)])[0]))
            if size < 1:
                raise ValueError(f"the window of key {key} has to be a positive number, found {size}")
            group.append(element)
            if len(group) >= size:
                yield from self._reduced(reduce, key, groups.pop(key))
        for key in sorted(groups):
            yield from self._reduced(reduce, key, groups[key])

    def _reduced(self, reduce: Callable[..., Any], key: int, group: list[Element]) -> Iterator[Element]:
        found: Iterator[Element] = reduce([np.int64(key), Bound(_Group(self.inputs[0].spec, group))])[0].iterate()
        return found


def _integer(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *element: apply("cast", convert_to_tensor(call(function)(*element)), dtype=int64)


class _Group(Node):
    """Elements that are computed already."""

    name = "group_by_window"

    def __init__(self, spec: Any, elements: list[Element]) -> None:
        super().__init__(spec)
        self.elements = elements
        assert all(len(element) == len(spec_leaves(spec)) for element in elements)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        return iter(self.elements)

    def count(self, bindings: Bindings) -> int:
        return len(self.elements)
