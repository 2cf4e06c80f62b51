"""Iterables whose length or items are known only at run time."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.types import number_type
from autoconv.operators.control.variants import only_value, raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.signature_check import call_for_program
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.arrays.flat_elements import FlatElements
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import items_of
from autoconv.runtime.objects.number_methods import refuse_number
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object
from autoconv.runtime.recording.journal import attribute_location
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor, constant_table, weak_constant
from autoconv.runtime.tensors.static_values import constant_of
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_INTEGER = number_type(int64)
_SAMPLE_RANGE = range(0)  # has the attributes of every range


class StagedIterable:
    """An iterable whose items are read by position: it has `length()` items, and `item(i)` is the item i, from 0.

    Both may be symbolic. `is_live` is true if the body of a loop over it may change its items.
    """

    is_live = False
    kind: type | None = None  # its class in Python

    def length(self) -> Any:
        """Return the number of items."""
        raise NotImplementedError

    def item(self, position: int) -> Any:
        """Return the item at that position, which the caller has checked."""
        raise NotImplementedError

    def __autoconv_box__(self) -> SymbolicObject:
        """Return the graph object for it; raise StagingError if the graph has none of that kind."""
        raise StagingError(
            f"{self} is stored in a value known only at run time", current_place(), "a list of its items"
        )

    def __str__(self) -> str:
        return f"{with_article(type(self).__name__.removeprefix('Staged').lower())} of tensors"

    def __iter__(self) -> Any:
        raise StagingError(
            f"{self} has a length known only at run time",
            current_place(),
            "a for statement over it, in converted code",
        )

    def __length_hint__(self) -> int:
        message = f"the number of items of {self} is known only at run time"
        raise StagingError(message, current_place(), "len of what it goes over")


class StagedRange(StagedIterable):
    """range() with a tensor among its arguments; methods other than iteration are those of a graph object."""

    kind = range
    __autoconv_staged__ = True
    __hash__ = object.__hash__

    def __init__(self, *bounds: Any) -> None:
        bounds = tuple(map(_as_bound, bounds))
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]  # the step is 1 unless given
        self.start, self.stop, self.step = start, stop, step
        self.creating_region = current_region()
        if isinstance(step, int) and not step:
            raise _zero_step_error()
        if isinstance(step, SymbolicTensor):
            raise_if(step == 0, _zero_step_error())

    def length(self) -> Any:
        """Return the number of items, computed so that it overflows no later than Python's range would."""
        has_unit_step = isinstance(self.step, int) and self.step == 1
        if has_unit_step and isinstance(self.start, int) and self.start == 0:
            return self.stop
        region = current_region()
        if region is not None and region.trace.memory:
            # The difference of the bounds may overflow, and the bail-out would need an undo log of the writes to
            # arrays. This op never overflows.
            return dispatch.apply("range_length", *map(_as_int, (self.start, self.stop, self.step)))
        if has_unit_step:
            return self.stop - self.start
        if isinstance(self.step, int):
            sign = 1 if self.step > 0 else -1
            return (self.stop - self.start + self.step - sign) // self.step  # the quotient, rounded up
        distance, step = self.stop - self.start, self.step
        count_upwards = (distance + step - 1) // step
        count_downwards = (distance + step + 1) // step
        return dispatch.apply("select", step > 0, count_upwards, count_downwards)

    def item(self, position: int) -> Any:
        """Return the item at that position, `start + position * step`."""
        region = current_region()
        if region is not None and region.trace.memory and isinstance(position, SymbolicTensor):
            # The op carries the bounds of the item, so native code can omit range checks.
            return dispatch.apply("range_item", position, *map(_as_int, (self.start, self.stop, self.step)))
        offset = position if isinstance(self.step, int) and self.step == 1 else position * self.step
        return offset if isinstance(self.start, int) and self.start == 0 else self.start + offset

    def __autoconv_leaves_as_object__(self, region: Region) -> bool:
        """Return whether the bounds may be local to the region, so that the range leaves it as a graph object."""
        return self.creating_region is not None and self.creating_region.is_inside(region)

    def __autoconv_box__(self) -> SymbolicObject:
        """Return the range as a graph object."""
        result: SymbolicObject = apply_object("range", self.start, self.stop, self.step)
        return result

    def __eq__(self, other: object) -> Any:
        return self is other or apply_object("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self is not other and apply_object("ne", self, other)

    def __getitem__(self, index: object) -> Any:
        """Return an item, or for a slice a range of the graph."""
        result = apply_object("getitem", self, index)
        return result if isinstance(index, slice) else unbox(result, _INTEGER)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        getattr(_SAMPLE_RANGE, name)  # raises Python's own error
        return getattr(self.__autoconv_box__(), name)


def _as_bound(bound: object) -> Any:
    """Convert a bound of range(): under `compile` to a Python integer.

    Raises the TypeError of range() for a bound that is no integer.
    """
    region = current_region()
    if not isinstance(bound, SymbolicTensor):
        call_for_program(operator.index, bound)  # raises TypeError for no integer
        return bound
    dtype = bound.dtype
    if region is None or not region.contract.python_numbers:
        return bound
    if bound.type.shape != ():
        raise StagingError("an argument of range is an array", current_place(), "its one item: range(x[0])")
    if not (dtype.is_integer or (dtype.is_bool and bound.weak)):
        refuse_number(bound, "{!r} object cannot be interpreted as an integer")
        if region.trace.uses_arrays:
            name = dtype.numpy.type.__name__
            raise mark_program_error(TypeError(f"'numpy.{name}' object cannot be interpreted as an integer"))
        return bound
    return bound if bound.weak and dtype.is_integer else dispatch.apply("python_int", bound)


def _zero_step_error() -> ValueError:
    return mark_program_error(ValueError("range() arg 3 must not be zero"))


def _as_int(bound: Any) -> Any:
    """Return a bound of a range as a weak int64 of the graph."""
    tensor = as_tensor(bound)
    if not isinstance(tensor, SymbolicTensor):
        region = current_region()
        assert region is not None
        return weak_constant(region, int(bound))
    return tensor if tensor.weak and tensor.type.dtype is int64 else dispatch.apply("python_int", tensor)


class StagedTensor(StagedIterable):
    """The rows of a tensor."""

    def __init__(self, tensor: Any) -> None:
        refuse_number(tensor, "{!r} object is not iterable")
        if tensor.type.shape == ():
            raise TypeError("Cannot iterate over a scalar tensor. To count up to it, loop over autoconv.range(x).")
        self.tensor = tensor

    def length(self) -> Any:
        return leading_dimension(self.tensor)

    def item(self, position: int) -> Any:
        return binary_dispatch.get_item(self.tensor, position)


class StagedCount(StagedTensor):
    """The numbers of `autoconv.range`, each computed when the loop reaches it: the loop needs no memory for all."""

    def __init__(self, tensor: TensorLike, bounds: Sequence[Tensor]) -> None:
        super().__init__(tensor)
        self.bounds = bounds

    def length(self) -> Any:
        return dispatch.apply("range_length", *self._integer_bounds())

    def item(self, position: int) -> Any:
        """Return the number at that position, computed from the bounds."""
        if not isinstance(position, Tensor):
            return super().item(position)
        result = dispatch.apply("range_item", position, *self._integer_bounds())
        return dispatch.apply("cast", result, dtype=self.tensor.type.dtype)

    def _integer_bounds(self) -> list[Tensor]:
        return [dispatch.apply("python_cast", bound, dtype=int64, weak=True) for bound in self.bounds]


def _bounds_of_count(tensor: Any) -> list[Tensor] | None:
    """Return start, limit and delta of a tensor that is an integer range of run-time length; None for others.

    A symbolic delta, which may be 0, is left to the op, which raises for it.
    """
    node = tensor.value_in_graph.node if isinstance(tensor, SymbolicTensor) and not tensor.weak else None
    if node is None or node.op.name != "range" or tensor.type.shape != (None,):
        return None
    dtype, delta = tensor.type.dtype, constant_of(node.inputs[2])
    fits_int64 = dtype.is_integer and not (dtype.size == 8 and dtype.is_unsigned)
    if not fits_int64 or not delta:  # None: the delta is symbolic
        return None
    return [SymbolicTensor(value) for value in node.inputs]


class StagedArray(StagedIterable):
    """The rows of a memory array: views of it, or element values read when they are reached."""

    def __init__(self, array: SymbolicArray) -> None:
        if not array.ndim:
            raise TypeError("iteration over a 0-d array")
        self.array = array

    def length(self) -> Any:
        return self.array.size_of(0)

    def item(self, position: int) -> Any:
        return self.array[position]


class StagedNumbers(StagedIterable):
    """A Python sequence of numbers: its items stay Python numbers."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items
        self.table = None if isinstance(items, range) else np.array(items)

    def length(self) -> Any:
        return len(self.items)

    def item(self, position: int) -> Any:
        """Return the number at that position: a Python number, or for a symbolic position a weak number."""
        if not isinstance(position, Tensor):
            return self.items[position]
        if isinstance(self.items, range):
            return StagedRange(self.items.start, self.items.stop, self.items.step).item(position)
        result = dispatch.apply("gather", constant_table(self.table), position, axis=0)
        return dispatch.apply("python_cast", result, dtype=result.type.dtype, weak=True)


class StagedList(StagedIterable):
    """The items of a list of run-time length from index `start` on, each read at the time of its access."""

    is_live = True

    def __init__(self, items: Any, start: int = 0) -> None:
        self.list = items
        self.start = start

    def length(self) -> Any:
        return items_of(self.list).length() - self.start

    def item(self, position: int) -> Any:
        return items_of(self.list).item(position + self.start)


class StagedSequence(StagedIterable):
    """A Python list or tuple of tensors of one type, for a loop that also iterates over staged iterables."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.stack_in_region: tuple[Any, Any] = None, None  # the region that stacked the items, and their stack

    def length(self) -> Any:
        return len(self.items)

    def item(self, position: int) -> Any:
        """Return the item at that position; a symbolic one reads a stack of all items."""
        if not isinstance(position, Tensor):
            return self.items[position]
        region, stacked_items = self.stack_in_region
        if stacked_items is None or region is not current_region():  # a stack of another recording is invalid
            stacked_items = dispatch.apply("stack", *self.items, axis=0)
            self.stack_in_region = current_region(), stacked_items
        return binary_dispatch.get_item(stacked_items, position)


def as_staged(iterable: object) -> StagedIterable | None:
    """Return an iterable with items by position; None for one over which Python has to iterate."""
    if isinstance(iterable, StagedIterable):
        return iterable
    if items_of(iterable) is not None:
        return StagedList(iterable)
    if isinstance(iterable, Variant):
        return as_staged(only_value(iterable, "iteration"))
    if type(iterable) is FlatElements:
        iterable = iterable.row()
    if type(iterable) is SymbolicArray:
        return StagedArray(iterable)
    tensor = as_tensor(iterable)
    if tensor is not None:
        bounds = _bounds_of_count(tensor)
        return StagedTensor(tensor) if bounds is None else StagedCount(tensor, bounds)
    if isinstance(iterable, range):
        return StagedNumbers(iterable)
    if isinstance(iterable, (list, tuple)) and iterable:
        classes = {type(item) for item in iterable}
        if len(classes) == 1 and classes <= {int, float, bool}:
            return StagedNumbers(list(iterable))
        tensors: list[Any] = list(iterable)
        if classes <= {SymbolicTensor, EagerTensor} and len({tensor.type for tensor in tensors}) == 1:
            return StagedSequence(list(iterable))
    return None


def require_staged(iterable: object) -> StagedIterable:
    """Return `as_staged(iterable)`, with an iterator begun; raise StagingError where Python has to iterate over it."""
    result = as_staged(iterable)
    if result is None:
        raise StagingError(
            f"{with_article(type(iterable))} cannot be combined with a tensor in one loop",
            current_place(),
            "a tensor, or a list of numbers, in its place",
        )
    if isinstance(result, StagedIterator):
        result.begin()
    return result


def needs_graph_loop(staged: StagedIterable) -> bool:
    """Return whether a loop over the iterable is a loop of the graph: False for plain Python sequences."""
    return not isinstance(staged, (StagedNumbers, StagedSequence))


def leading_dimension(tensor: Any) -> Any:
    """Return len(tensor): an int where it is known, else a weak scalar."""
    shape = tensor.type.shape
    if shape and isinstance(shape[0], int):
        return shape[0]
    size = dispatch.apply("dimension", tensor, axis=0)
    return dispatch.apply("python_cast", size, dtype=int64, weak=True)


class StagedIterator(StagedIterable):
    """A Python iterator, which is consumed once, by a loop in the region that created it.

    `checks_end` is true if an exception may be raised after a loop over it.
    """

    checks_end = False

    def __init__(self) -> None:
        self._creating_region = current_region()
        self._is_begun = False

    def begin(self) -> None:
        """Mark the iterator as consumed by a loop that starts now.

        Raises StagingError the second time, since Python would continue where the first loop stopped, and where a
        tensor decides whether this is the first time.
        """
        region, function_name = current_region(), type(self).__name__.removeprefix("Staged").lower()
        if region is None:
            return
        if self._is_begun or self._creating_region is None or region is not self._creating_region.merged_region:
            subject = "a second loop" if self._is_begun else "code under a condition on a tensor"
            raise StagingError(
                f"{subject} iterates over an iterator that was created before it ({function_name})", current_place(),
                f"{function_name}(…) in the for statement itself",
            )  # fmt: skip
        if region.journal is not None:
            region.journal.record(attribute_location(self, "_is_begun", self._creating_region))
        self._is_begun = True

    def end(self, is_exhausted: Any) -> None:
        """Finish a loop over it; `is_exhausted` (may be symbolic): whether the loop was exhausted, not left early."""
