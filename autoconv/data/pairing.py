"""enumerate and zip of datasets in a graph, with Python's semantics.

Positions are weak numbers. The other operands of zip may be any iterables that are indexed by position.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.data.combining import Zip
from autoconv.data.elements import element_type, rebuild
from autoconv.data.nodes import BoundDataset, Node
from autoconv.data.transforms import Enumerate, Take
from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.types import IterableType
from autoconv.operators.control.iterables import as_staged
from autoconv.operators.support.dataset_protocol import Stream
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import flatten, plain_class
from autoconv.runtime.tensors.dispatch import apply


class Pairs:
    """Python's enumerate or zip of datasets, for a loop in a graph.

    The node `source` computes the elements; `adapt` converts each to the tuples that Python's function gives.
    """

    __autoconv_builtins__: dict[Any, Callable[..., Any]]

    def __init__(self, source: Node, adapt: Callable[[Any], Any]) -> None:
        self.source = source
        self.adapt = adapt

    def __autoconv_stream__(self) -> Stream:
        region = current_region()
        assert region is not None
        type_ = IterableType(element_type(self.source.spec))
        if self.source.graph_operands:
            iterable = apply("iterable_make", *self.source.graph_operands, source=self.source, type=type_)
        else:
            iterable = region.trace.capture(BoundDataset(self.source), type_, "dataset")
        return Stream(apply("iterator_make", iterable), lambda leaves: self.adapt(rebuild(self.source.spec, leaves)))


def enumerate_dataset(iterable: Any, start: Any = 0) -> Pairs:
    """Return enumerate(dataset, start) for a loop."""
    pairs = _as_pairs(iterable)

    def adapt(element: Any) -> Any:
        return _weak_position(element[0]), pairs.adapt(element[1])

    return Pairs(Enumerate(pairs.source, start), adapt)


def zip_datasets(*iterables: Any, strict: bool = False) -> Pairs:
    """Return zip() of datasets and of iterables that are indexed by position, for a loop."""
    pairs = {i: _as_pairs(iterable) for i, iterable in enumerate(iterables) if _is_dataset(iterable)}
    operands = {i: _staged_operand(iterable) for i, iterable in enumerate(iterables) if i not in pairs}
    if strict and operands:
        raise StagingError(
            "zip(strict=True) does not take a dataset with another iterable", current_place(), "strict=False"
        )
    _, template = flatten((None,) * len(pairs))  # of a tuple with an item for each dataset
    source: Node = Zip([pair.source for pair in pairs.values()], template, strict)
    for operand in operands.values():  # the shortest operand ends the loop
        source = Take(source, _nonnegative_count(operand.length()))

    def adapt(element: Any) -> Any:
        position, elements = _weak_position(element[0]), iter(element[1])
        return tuple(
            pairs[i].adapt(next(elements)) if i in pairs else operands[i].item(position) for i in range(len(iterables))
        )

    return Pairs(Enumerate(source), adapt)


PAIRING: dict[Any, Callable[..., Any]] = {builtins.enumerate: enumerate_dataset, builtins.zip: zip_datasets}
Pairs.__autoconv_builtins__ = PAIRING


def _as_pairs(iterable: Any) -> Pairs:
    """Return a dataset, or the result of an enumerate or zip, as Pairs."""
    return iterable if isinstance(iterable, Pairs) else Pairs(iterable.node, lambda element: element)


def _is_dataset(iterable: Any) -> bool:
    """Return whether the object is a dataset, or the enumerate or zip of one."""
    return isinstance(iterable, Pairs) or isinstance(getattr(iterable, "node", None), Node)


def _staged_operand(iterable: Any) -> Any:
    """Return an operand of zip that is no dataset as an iterable of the graph; raise StagingError without positions."""
    staged_operand = as_staged(iterable)
    if staged_operand is None:
        raise StagingError(
            f"{with_article(plain_class(iterable))} cannot be zipped with a dataset", current_place(),
            "a tensor, a list of numbers, or a dataset in its place",
        )  # fmt: skip
    return staged_operand


def _nonnegative_count(length: Any) -> Any:
    """Return a length that is at least zero: an int, or a tensor."""
    return int(length) if isinstance(length, (int, np.integer)) else apply("maximum", length, 0)


def _weak_position(position: Any) -> Any:
    """Convert a position to a weak number, which in arithmetic takes the dtype of the other operand."""
    return apply("python_cast", position, dtype=int64, weak=True)
