"""Updates of parts of a variable, and the helper types of variables."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import add, mul, pow, sub, truediv
from typing import Any, ClassVar

import numpy as np

from autoconv.graph.dtypes import int32
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item, set_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value


class VariableSynchronization(enum.Enum):
    """Time at which the copies of a variable in the replicas of a strategy are synchronised.

    >>> autoconv.Variable(1.0, synchronization=autoconv.VariableSynchronization.ON_READ).synchronization.name
    'ON_READ'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """Aggregation of the values that the replicas of a strategy assign to a variable.

    >>> autoconv.Variable(1.0, aggregation=autoconv.VariableAggregation.SUM).aggregation.name
    'SUM'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __str__(self) -> str:
        return f"VariableAggregationV2.{self.name}"  # the name of the class in TensorFlow

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


@dataclass(frozen=True, eq=False, repr=False)
class IndexedSlices:
    """Rows `values` at the positions `indices` of a tensor of shape `dense_shape`.

    >>> slices = autoconv.IndexedSlices(autoconv.constant([[1.0, 2.0]]), autoconv.constant([1]), [2, 2])
    >>> autoconv.convert_to_tensor(slices).numpy()
    array([[0., 0.],
           [1., 2.]], dtype=float32)
    """

    values: Any
    indices: Any
    dense_shape: Any = None
    __autoconv_widened__: ClassVar[tuple[str, ...]] = ("indices",)  # int64 where paths have different dtypes
    whole: ClassVar[Any] = None  # set on an instance: the tensor with these rows, if it was computed already

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def shape(self) -> Any:
        """The static shape of the dense tensor; without `dense_shape`, one of unknown rank."""
        static_shape = None if self.dense_shape is None else static_value(self.dense_shape)
        return TensorShape(None if static_shape is None else np.asarray(static_shape).tolist())

    def __str__(self) -> str:
        shape_text = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape_text})"

    def __autoconv_tensor__(self) -> Any:
        """Return the whole tensor: rows of equal position are summed, all others are zero.

        Raises ValueError without a `dense_shape`.
        """
        if self.dense_shape is None:
            raise ValueError(
                "IndexedSlices without a dense_shape cannot become a tensor: give it the shape of the whole as "
                "dense_shape=…"
            )
        if self.whole is not None:
            return self.whole
        constant = static_value(convert_to_tensor(self.dense_shape))
        rows = apply("expand_dims", self.indices, axis=-1)
        return apply("scatter_nd", rows, self.values, shape=tuple(np.asarray(constant).tolist()))

    def with_values(self, values: Any) -> IndexedSlices:
        """Return other values for the same rows."""
        return IndexedSlices(values, self.indices, self.dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self.values)

    def _operator_on_whole(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:  # type: ignore[misc]
        return lambda self, other: operator(convert_to_tensor(self), other)

    __add__, __sub__, __mul__, __truediv__, __pow__ = map(_operator_on_whole, (add, sub, mul, truediv, pow))
    __radd__, __rmul__ = map(_operator_on_whole, (add, mul))
    __rsub__ = _operator_on_whole(lambda whole, other: other - whole)
    del _operator_on_whole


class VariableUpdates:
    """Assignment to rows and elements; each method returns the whole new value.

    `scatter_…(IndexedSlices)` is by row, `scatter_nd_…(indices, updates)` by coordinates.
    """

    def assign(self, value: object) -> Any:
        raise NotImplementedError

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter_rows("update", sparse_delta)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter_rows("add", sparse_delta)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter_rows("sub", sparse_delta)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter_rows("min", sparse_delta)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scatter_rows("max", sparse_delta)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scale_rows("multiply", sparse_delta)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        return self._scale_rows("divide", sparse_delta)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Apply scatter_update within each batch: `indices` [batch, …] are rows of the batch's own part."""
        _check_slices(sparse_delta)
        indices = convert_to_tensor(sparse_delta.indices)
        batch_indices = np.indices(tuple(map(int, indices.shape)), indices.dtype.numpy)[:-1]  # type: ignore[call-overload, arg-type]
        return self._scatter("update", apply("stack", *batch_indices, indices, axis=-1), sparse_delta.values)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        return self._scatter("update", indices, updates)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        return self._scatter("add", indices, updates)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        return self._scatter("sub", indices, updates)

    def scatter_nd_min(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        return self._scatter("min", indices, updates)

    def scatter_nd_max(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Any:
        return self._scatter("max", indices, updates)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Any:
        """Return the rows at these positions."""
        return apply("gather", self, convert_to_tensor(indices), axis=0, name=name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Any:
        """Return the elements, or parts, at these coordinates."""
        return apply("gather_nd", self, convert_to_tensor(indices), name=name)

    def _scatter_rows(self, operation: str, delta: IndexedSlices) -> Any:
        _check_slices(delta)
        rows = apply("expand_dims", convert_to_tensor(delta.indices), axis=-1)
        return self._scatter(operation, rows, delta.values)

    def _scatter(self, operation: str, indices: TensorLike, updates: TensorLike) -> Any:
        values = convert_to_tensor(updates, getattr(self, "dtype", None))
        return self.assign(apply(f"tensor_scatter_nd_{operation}", self, convert_to_tensor(indices), values))

    def _scale_rows(self, op: str, delta: IndexedSlices) -> Any:
        """Multiply or divide rows by values."""
        _check_slices(delta)
        indices = convert_to_tensor(delta.indices, int32 if isinstance(delta.indices, (list, tuple, int)) else None)
        rows = apply("gather", self, indices, axis=0)
        values = convert_to_tensor(delta.values, getattr(self, "dtype", None))
        return self._scatter("update", apply("expand_dims", indices, axis=-1), apply(op, rows, values))


class VariablePart:
    """`variable[index]`, for assignment; each method returns the whole new value."""

    __slots__ = ("_index", "_variable")

    def __init__(self, variable: Any, index: object) -> None:
        self._variable = variable
        self._index = index

    def assign(self, value: object, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Set the part, to which `value` broadcasts."""
        return self._assign(convert_to_tensor(value, self._variable.dtype), read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update_part("add", delta, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update_part("subtract", delta, read_value)

    def _update_part(self, op: str, delta: TensorLike, read_value: bool) -> Any:
        before = get_item(self._variable.value(), self._index)
        return self._assign(apply(op, before, convert_to_tensor(delta, self._variable.dtype)), read_value)

    def _assign(self, value: object, read_value: bool) -> Any:
        new_value = set_item(self._variable.value(), self._index, value)
        return self._variable.assign(new_value, read_value=read_value)


def _check_slices(delta: TensorLike) -> None:
    """Raise TypeError for an update that is not IndexedSlices."""
    if not isinstance(delta, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {delta!r}")


class _Creators(threading.local):
    """The creators of variables that are in effect in this thread, innermost last."""

    creators: tuple[Callable[..., Any], ...] = ()


_STATE = _Creators()


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Create variables inside the block by `variable_creator(next_creator, **arguments)`.

    Of nested scopes the innermost creator is called first.

    >>> def named(next_creator, **options):
    ...     options["name"] = "weight"
    ...     return next_creator(**options)
    >>> with autoconv.variable_creator_scope(named):
    ...     v = autoconv.Variable(1.0)
    >>> v.name
    'weight:0'
    """
    outer_creators = _STATE.creators
    _STATE.creators = (*outer_creators, variable_creator)
    try:
        yield
    finally:
        _STATE.creators = outer_creators


def create_variable(make_variable: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call `make_variable(**arguments)` through the creators in scope."""
    creator = make_variable
    for scope_creator in _STATE.creators:  # the innermost one comes last, and is called first
        creator = _chained_creator(scope_creator, creator)
    creators, _STATE.creators = _STATE.creators, ()  # variables that a creator makes for itself use no creators
    try:
        return creator(**arguments)
    finally:
        _STATE.creators = creators


def creators_in_scope() -> tuple[Callable[..., Any], ...]:
    """Return the creators of the enclosing blocks, the outermost first."""
    return _STATE.creators


def is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    """Return whether a variable is trainable: by default it is, unless it is synchronized when it is read."""
    return synchronization is not VariableSynchronization.ON_READ if trainable is None else bool(trainable)


def _chained_creator(creator: Callable[..., Any], next_creator: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a variable's arguments that calls `creator`, which may call `next_creator`."""
    return lambda **arguments: creator(next_creator, **arguments)
