"""Batches of elements and their rows: batch, padded_batch, ragged_batch, sparse_batch, unbatch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged.tensor import RaggedTensorSpec
from autoconv.api.sparse.tensor import SparseTensorSpec
from autoconv.data.elements import component_leaf_counts, composite_arrays, map_specs, rebuild, spec_leaves
from autoconv.data.nodes import INFINITE, UNKNOWN, Bindings, Element, Node, check_positive
from autoconv.data.sources import row_columns, row_spec
from autoconv.errors import DataLossError, InvalidArgumentError, Place
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.support.shape import TensorShape, TensorSpec, as_shape
from autoconv.runtime.support.structure import Template, count_leaves, flat_leaves, flatten, pack
from autoconv.runtime.support.type_spec import TypeSpec, is_composite_spec
from autoconv.runtime.tensors.static_values import static_value


class Batch(Node):
    """Stack `size` consecutive elements; the last batch may be smaller unless `drop_remainder`."""

    name = "batch"

    def __init__(self, source: Node, size: Any, drop_remainder: bool = False) -> None:
        self.size, self.drop_remainder = check_positive("batch_size", size), bool(drop_remainder)
        for leaf in spec_leaves(source.spec):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(
                    f"{self.name} takes elements made of tensors, found {leaf}. Datasets inside of elements are "
                    "batched by flat_map(lambda dataset: dataset.batch(size))."
                )
        self.stacked_spec = self._stacked_spec(source.spec)
        known_size = static_value(self.size)
        # The size of every batch; None if it is not known, or the last batch may be smaller.
        self.static_size = int(known_size) if self.drop_remainder and known_size is not None else None
        super().__init__(self._batched_spec(), [source], [self.size])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        size = bindings.number(self.size)
        if size < 1:
            raise InvalidArgumentError(f"batch_size has to be positive, found {size}")
        elements: list[Element] = []
        for element in self.inputs[0].iterate(bindings):
            elements.append(element)
            if len(elements) == size:
                yield self._join_elements(elements, bindings)
                elements = []
        if elements and not self.drop_remainder:
            yield self._join_elements(elements, bindings)

    def count(self, bindings: Bindings) -> int:
        element_count, size = self.inputs[0].count(bindings), bindings.number(self.size)
        if element_count < 0:
            return element_count
        return element_count // size if self.drop_remainder else -(-element_count // size)

    def _batched_spec(self) -> Any:
        """Return the spec of a batch."""
        return map_specs(lambda leaf: _add_batch_dimension(leaf, self.static_size), self.stacked_spec)

    def _stacked_spec(self, spec: Any) -> Any:
        """Return the spec of the form in which elements are stacked; subclasses may make some components ragged."""
        return spec

    def _join_elements(self, elements: list[Element], bindings: Bindings) -> Element:
        """Return the leaves of the batch of these elements, which are lists of leaves."""
        leaf_columns, result, start = list(zip(*elements, strict=True)), [], 0
        components, stacked_specs = component_leaf_counts(self.inputs[0].spec), flat_leaves(self.stacked_spec)
        for component_index, ((spec, count), stacked_spec) in enumerate(zip(components, stacked_specs, strict=True)):
            columns, start = leaf_columns[start : start + count], start + count
            if is_composite_spec(stacked_spec):
                rows = [rebuild(spec, leaves) for leaves in zip(*columns, strict=True)]
                result += composite_arrays(stacked_spec._stack_values(rows))
            else:
                (column,) = columns
                result.append(_stack(column, component_index, self.place))
        return result


class RaggedBatch(Batch):
    """A Batch whose components become ragged tensors if their specs have unknown sizes, which may then differ."""

    name = "ragged_batch"

    def __init__(
        self, source: Node, size: TensorLike, drop_remainder: bool = False, splits_dtype: DTypeLike = int64
    ) -> None:
        self._splits_dtype = splits_dtype
        super().__init__(source, size, drop_remainder)

    def _stacked_spec(self, spec: Any) -> Any:
        return map_specs(lambda leaf: _as_ragged_spec(leaf, self._splits_dtype), spec)


def _as_ragged_spec(leaf: TypeSpec, splits_dtype: DTypeLike) -> Any:
    """Return the spec of a component as a ragged one if it has unknown sizes, else unchanged."""
    if not isinstance(leaf, TensorSpec) or not leaf.shape.rank or leaf.shape.is_fully_defined():
        return leaf
    last_unknown_axis = max(axis for axis, size in enumerate(leaf.shape) if size is None)
    return RaggedTensorSpec(leaf.shape, leaf.dtype, last_unknown_axis, splits_dtype)


class SparseBatch(Batch):
    """A Batch as a sparse tensor, of elements that are single tensors of any sizes up to those of `row_shape`."""

    name = "dense_to_sparse_batch"

    def __init__(self, source: Node, size: TensorLike, row_shape: ShapeLike) -> None:
        self.row_shape = TensorShape(as_shape(row_shape))
        super().__init__(source, size)

    def _batched_spec(self) -> Any:
        return SparseTensorSpec([self.static_size, *self.row_shape], self.stacked_spec.dtype)

    def _join_elements(self, elements: list[Element], bindings: Bindings) -> Element:
        """Return the leaves of the sparse batch: its indices, values and shape. Each element is one row."""
        shapes = [np.shape(element[0]) for element in elements]
        sizes = [
            max(row_sizes) if size is None else size
            for size, *row_sizes in zip(self.row_shape, *shapes, strict=True)
        ]
        indices = [
            np.column_stack([np.full(array.size, row), *map(np.ravel, np.indices(array.shape))])
            for row, array in enumerate(np.asarray(element[0]) for element in elements)
        ]
        values = np.concatenate([np.ravel(np.asarray(element[0])) for element in elements])
        return [np.concatenate(indices).astype(np.int64), values, np.array([len(elements), *sizes], np.int64)]


class PaddedBatch(Batch):
    """A Batch of elements that are first padded to a common shape.

    `shapes` and `values` are the arguments `padded_shapes` and `padding_values`, one for each component, or None.
    """

    name = "padded_batch"

    def __init__(self, source: Node, size: Any, shapes: Any, values: Any, drop_remainder: bool) -> None:
        specs, template = flatten(source.spec)
        if any(map(is_composite_spec, specs)):
            raise TypeError(f"padded_batch takes elements made of tensors, found {source.spec}")
        requested_shapes = (
            [leaf.shape for leaf in specs]
            if shapes is None
            else _entries_by_component(shapes, template, "padded_shapes")
        )
        self.padded_shapes = [_padded_shape(shape, leaf) for shape, leaf in zip(requested_shapes, specs, strict=True)]
        padding_values = (
            [None] * len(specs) if values is None else _entries_by_component(values, template, "padding_values")
        )
        self.padding_values = [_padding_value(value, leaf) for value, leaf in zip(padding_values, specs, strict=True)]
        super().__init__(source, size, drop_remainder)

    def _batched_spec(self) -> Any:
        leaves, template = flatten(self.stacked_spec)
        specs = [TensorSpec(shape, leaf.dtype) for shape, leaf in zip(self.padded_shapes, leaves, strict=True)]
        return pack(template, [_add_batch_dimension(leaf, self.static_size) for leaf in specs])

    def _join_elements(self, elements: list[Element], bindings: Bindings) -> Element:
        """Return the leaves of the batch of the padded elements."""
        components = zip(*elements, self.padded_shapes, self.padding_values, strict=True)
        return [_pad(column, shape, value, self.place) for *column, shape, value in components]


class Unbatch(Node):
    """The rows of each element, one after the other."""

    name = "unbatch"

    def __init__(self, source: Node) -> None:
        for leaf in _specs_of_tensors(source.spec):
            if leaf.shape.rank == 0:
                raise ValueError(f"unbatch takes elements that have rows, found {leaf}")
        super().__init__(map_specs(row_spec, source.spec), [source])
        self.has_composites = any(map(is_composite_spec, flat_leaves(source.spec)))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        for element in self.inputs[0].iterate(bindings):
            if self.has_composites:
                for component_rows in zip(*row_columns(self.inputs[0].spec, element), strict=True):
                    yield [leaf for leaves in component_rows for leaf in leaves]
                continue
            lengths = {len(leaf) for leaf in element}
            if len(lengths) > 1:
                raise InvalidArgumentError(f"unbatch takes components of equal length, found {sorted(lengths)} rows")
            for position in range(min(lengths)):  # slices, as an index would give a scalar or an object for some leaves
                yield [np.asarray(leaf)[position : position + 1].reshape(np.shape(leaf)[1:]) for leaf in element]

    def count(self, bindings: Bindings) -> int:
        element_count = self.inputs[0].count(bindings)
        row_counts = {leaf.shape[0] for leaf in _specs_of_tensors(self.inputs[0].spec)}
        row_count = row_counts.pop() if len(row_counts) == 1 else None
        if element_count == INFINITE:
            return INFINITE
        return element_count * row_count if element_count >= 0 and row_count else UNKNOWN


def _specs_of_tensors(spec: object) -> list[Any]:
    """Return the specs of the components that have leaves: all except those that are None."""
    return [leaf for leaf, count in component_leaf_counts(spec) if count]


def _stack(column: Sequence[Any], component_index: int, place: Place | None) -> np.ndarray:
    """Return one component of several elements stacked; raise InvalidArgumentError for different shapes."""
    first_shape = np.shape(column[0])
    for position, array in enumerate(column):
        if np.shape(array) != first_shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component_index}. First element had shape "
                f"{list(first_shape)} and element {position} had shape {list(np.shape(array))}. Use "
                "padded_batch, or map the elements to one shape first.",
                place,
            )
    return np.stack([np.asarray(array) for array in column])


def _pad(column: Sequence[Any], shape: TensorShape, value: Any, place: Place | None) -> np.ndarray:
    """Pad one component of several elements by `value` to `shape` and stack them.

    An open size of `shape` becomes the largest size that an element has there.
    """
    ranks = {np.ndim(array) for array in column}
    has_other_rank = shape.rank is not None and ranks != {shape.rank}
    if len(ranks) > 1 or has_other_rank:
        raise InvalidArgumentError(
            f"padded_batch pads elements to the shape {shape}, but found elements of the ranks {sorted(ranks)}",
            place,
        )
    max_sizes = [max(sizes) for sizes in zip(*(np.shape(array) for array in column), strict=True)]
    static_sizes = shape.as_list() if shape.rank is not None else [None] * len(max_sizes)
    padded_sizes = [
        size if static_size is None else static_size for static_size, size in zip(static_sizes, max_sizes, strict=True)
    ]
    if any(size > limit for size, limit in zip(max_sizes, padded_sizes, strict=True)):
        raise DataLossError(
            f"Attempted to pad to a smaller size than the input element: the shape {max_sizes} does not fit into "
            f"{padded_sizes}.",
            place,
        )
    result: np.ndarray = np.full((len(column), *padded_sizes), value, np.asarray(column[0]).dtype)
    for position, array in enumerate(column):
        region: tuple[Any, ...] = (position, *(slice(0, size) for size in np.shape(array)))
        result[region] = array
    return result


def _entries_by_component(values: Any, template: Template | None, parameter_name: str) -> list[Any]:
    """Return the entries of `values`, which has the structure of the elements: one for each component, in order.

    A single padding value applies to all. `parameter_name` is "padded_shapes" or "padding_values".
    """
    if template is None:
        return [values]
    if parameter_name == "padded_shapes" and isinstance(values, (list, TensorShape)):
        raise TypeError(f"{parameter_name} has to have the structure of the elements, found {values!r}")
    if template.keys is not None and isinstance(values, dict):
        values_of_children = [values[key] for key in template.keys]
    elif isinstance(values, tuple) and len(values) == len(template.children):
        values_of_children = list(values)
    elif parameter_name == "padding_values" and not isinstance(values, (tuple, dict)):
        return [values] * count_leaves(template)
    else:
        raise TypeError(f"{parameter_name} has to have the structure of the elements, found {values!r}")
    return [
        component_value
        for value, child in zip(values_of_children, template.children, strict=True)
        for component_value in _entries_by_component(value, child, parameter_name)
    ]


def _padded_shape(shape: Any, leaf: TensorSpec) -> TensorShape:
    """Return the requested shape, where -1 is an open size too; raise ValueError for another rank than the leaf's."""
    sizes = np.asarray(shape).tolist() if hasattr(shape, "numpy") else shape  # a tensor of sizes becomes a list
    if isinstance(sizes, (list, tuple)):
        sizes = [None if size == -1 else size for size in sizes]
    result = TensorShape(as_shape(sizes))
    if result.rank is not None and leaf.shape.rank is not None and result.rank != leaf.shape.rank:
        raise ValueError(
            f"The padded shape {result} is not compatible with the corresponding input component shape {leaf.shape}."
        )
    return result


def _padding_value(value: Any, leaf: TensorSpec) -> Any:
    """Return the value to pad with, by default zero, False or an empty text; raise TypeError if it does not fit."""
    if value is None:
        zero = False if leaf.dtype.is_bool else 0
        return b"" if leaf.dtype.is_string else zero
    item = np.asarray(value).item() if not isinstance(value, (str, bytes)) else value
    if leaf.dtype.is_string != isinstance(item, (str, bytes)):
        raise TypeError(f"the padding of {leaf.dtype.name} elements cannot be {item!r}")
    return item.encode() if isinstance(item, str) else item


def _add_batch_dimension(leaf: Any, size: int | None) -> Any:
    """Return the spec of `size` stacked components; None means that their number is unknown."""
    if is_composite_spec(leaf):
        return leaf._batch(size)
    shape = leaf.type.shape
    return TensorSpec(None if shape is None else (size, *shape), leaf.dtype)
