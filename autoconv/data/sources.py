"""Sources of datasets: tensors, their rows, ranges, generators, arrays on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.data.elements import (
    component_leaf_counts,
    components,
    composite_arrays,
    is_memory_mapped,
    map_specs,
    rebuild,
    spec_of_leaves,
)
from autoconv.data.functions import function_name
from autoconv.data.nodes import INFINITE, Bindings, BoundDataset, Element, Node, integer_tensor
from autoconv.data.optional import expand_optional_specs
from autoconv.errors import AutoconvError, DtypeError, InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, flatten, pack
from autoconv.runtime.support.type_spec import TypeSpec, is_composite_spec
from autoconv.runtime.tensors.conversion import convert_to_tensor, to_array
from autoconv.runtime.tensors.tensor import EagerTensor


class Tensors(Node):
    """A dataset whose only element is the structure `tensors`."""

    name = "from_tensors"

    def __init__(self, tensors: Any) -> None:
        self.leaves, template = components(tensors)
        super().__init__(spec_of_leaves(template, self.leaves), values=_values_read(self.leaves))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        yield [_bind_leaf(leaf, bindings) for leaf in self.leaves]

    def count(self, bindings: Bindings) -> int:
        return 1


class Slices(Node):
    """The rows of tensors that have equally many rows."""

    name = "from_tensor_slices"

    def __init__(self, tensors: Any) -> None:
        self.leaves, template = components(tensors)
        if not self.leaves:
            raise ValueError("from_tensor_slices takes tensors, or a structure of them; found an empty structure")
        _check_lengths(self.leaves)
        super().__init__(map_specs(row_spec, spec_of_leaves(template, self.leaves)), values=self.leaves)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        arrays = [bindings.resolve(leaf) for leaf in self.leaves]
        are_memory_mapped = [is_memory_mapped(array) for array in arrays]
        lengths = sorted({len(array) for array in arrays})
        if len(lengths) > 1:
            raise InvalidArgumentError(f"from_tensor_slices takes tensors of equal length, found {lengths} rows")
        for position in range(len(arrays[0])):
            yield [
                _get_row(array, position, is_copied) for array, is_copied in zip(arrays, are_memory_mapped, strict=True)
            ]

    def count(self, bindings: Bindings) -> int:
        return len(bindings.resolve(self.leaves[0]))


class CompositeSlices(Node):
    """The rows of tensors and composite tensors that have equally many rows."""

    name = "from_tensor_slices"

    def __init__(self, tensors: object) -> None:
        self.leaves, template = components(tensors)
        self.tensors_spec = spec_of_leaves(template, self.leaves)
        super().__init__(map_specs(row_spec, self.tensors_spec), values=self.leaves)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        columns = row_columns(self.tensors_spec, [bindings.resolve(leaf) for leaf in self.leaves])
        if len({len(column) for column in columns}) > 1:
            lengths = [*map(len, columns)]
            raise InvalidArgumentError(f"from_tensor_slices takes tensors of equal length, found {lengths} rows")
        for rows in zip(*columns, strict=True):
            yield [leaf for row in rows for leaf in row]


def row_spec(spec: Any) -> Any:
    """Return the spec of a row of a component."""
    if is_composite_spec(spec):
        return spec._unbatch()
    shape = spec.type.shape
    return TensorSpec(None if shape is None else shape[1:], spec.dtype)


def row_columns(spec: object, leaves: Sequence[Any]) -> list[list[list[Any]]]:
    """Return for each component of an element its rows, each a list of leaves; a row of a None is an empty list."""
    start = 0
    columns: list[list[list[Any]] | None] = []
    for component, count in component_leaf_counts(spec):
        component_leaves, start = leaves[start : start + count], start + count
        if count == 0:
            columns.append(None)
        elif is_composite_spec(component):
            columns.append([composite_arrays(row) for row in component._rows(rebuild(component, component_leaves))])
        else:
            (rows,) = component_leaves
            columns.append([[_get_row(rows, position, is_copied=False)] for position in range(len(rows))])
    length = next(len(column) for column in columns if column is not None)
    return [[[]] * length if column is None else column for column in columns]


class Range(Node):
    """Python's range, of int64 by default."""

    name = "range"

    def __init__(self, bounds: Sequence[Any], dtype: DType = int64) -> None:
        if not 1 <= len(bounds) <= 3:
            raise ValueError(f"Dataset.range takes one to three integers, as Python's range; found {len(bounds)}")
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.bounds = [integer_tensor(bound) for bound in (start, stop, step)]
        if isinstance(step, (int, np.integer)) and step == 0:
            raise ValueError("the step of Dataset.range must not be zero")
        self.dtype = dtype
        super().__init__(TensorSpec((), dtype), values=self.bounds)

    def _range(self, bindings: Bindings) -> range:
        """Return Python's range with the values that the bounds have in this run."""
        start, stop, step = map(bindings.number, self.bounds)
        if step == 0:
            raise InvalidArgumentError("the step of Dataset.range must not be zero")
        return range(start, stop, step)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        scalar_class = self.dtype.numpy.type
        for value in self._range(bindings):
            yield [scalar_class(value)]

    def count(self, bindings: Bindings) -> int:
        return len(self._range(bindings))


class Counter(Node):
    """start, start + step, … endlessly."""

    name = "counter"

    def __init__(self, start: Any, step: Any, dtype: Any) -> None:
        self.start, self.step, self.dtype = integer_tensor(start), integer_tensor(step), as_dtype(dtype)
        super().__init__(TensorSpec((), self.dtype), values=[self.start, self.step])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        value, step = bindings.number(self.start), bindings.number(self.step)
        scalar_class = self.dtype.numpy.type
        while True:
            yield [scalar_class(value)]
            value += step

    def count(self, bindings: Bindings) -> int:
        return INFINITE


class FromGenerator(Node):
    """The values that a user's generator function yields, checked against its signature."""

    name = "from_generator"

    def __init__(self, generator: Callable[..., Any], spec: Any, args: Sequence[Any]) -> None:
        self.generator = generator
        self.args = [EagerTensor(arg) if is_memory_mapped(arg) else convert_to_tensor(arg) for arg in args]
        spec = expand_optional_specs(spec)
        self.specs, self.template = flatten(spec)
        for leaf in self.specs:
            if not isinstance(leaf, TensorSpec) and not is_composite_spec(leaf):
                raise TypeError(
                    f"output_signature has to be made of autoconv.TensorSpec objects, found {leaf!r}. Write for "
                    "example output_signature=autoconv.TensorSpec(shape=(), dtype=autoconv.int32)."
                )
        super().__init__(spec, values=self.args)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        iterable = self.generator(*[EagerTensor(bindings.resolve(arg)).numpy() for arg in self.args])
        try:
            values = iter(iterable)
        except TypeError:
            raise TypeError(
                f"`generator` has to give something to iterate over; {function_name(self.generator)} gave {iterable!r}"
            ) from None
        try:
            for value in _raise_op_errors(values):
                yield self._element_leaves(value)
        finally:
            close = getattr(values, "close", None)
            if close is not None:
                close()

    def _element_leaves(self, value: Any) -> Element:
        """Return the leaves of a value that the generator yielded; raise TypeError for another structure."""
        leaves = _leaves_in_structure(value, self.template)
        if leaves is None:
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected structure was "
                f"{pack(self.template, self.specs)}, but the yielded element was {value!r}."
            )
        components_and_specs = zip(leaves, self.specs, strict=True)
        return [leaf for component, spec in components_and_specs for leaf in self._leaves_of_component(component, spec)]

    def _leaves_of_component(self, value: object, spec: TypeSpec) -> list[Any]:
        """Return the leaves of one component of an element; raise TypeError unless it fits the spec."""
        if isinstance(spec, TensorSpec):
            return [self._convert_array(value, spec)]
        if not spec.is_compatible_with(value):
            raise TypeError(
                f"`generator` yielded an element {value!r} that is not compatible with the expected {spec}."
            )
        return composite_arrays(value)

    def _convert_array(self, value: Any, spec: TensorSpec) -> np.ndarray:
        """Convert a yielded value to an array of that spec; raise DtypeError, or TypeError for another shape."""
        try:
            array = to_array(
                value.numpy() if isinstance(value, EagerTensor) else value, None if _has_dtype(value) else spec.dtype
            )
        except (TypeError, ValueError) as error:
            raise DtypeError(
                "`generator` yielded an element that could not be converted to the expected type. The expected type "
                f"was {spec.dtype.name}, but the yielded element was {value!r}: {error}"
            ) from None
        if as_dtype(array.dtype) is not spec.dtype:
            if spec.dtype.is_string or array.dtype == object:
                raise DtypeError(
                    f"`generator` yielded an element of type {as_dtype(array.dtype).name} where an element of type "
                    f"{spec.dtype.name} was expected."
                )
            array = array.astype(spec.dtype.numpy)
        if not spec.shape.is_compatible_with(array.shape):
            raise DtypeError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape {spec.shape} was "
                "expected."
            )
        # An array of the generator is copied: the generator may change it and yield it again.
        return array.copy() if isinstance(value, np.ndarray) and np.may_share_memory(array, value) else array


def _raise_op_errors(values: Iterator[Any]) -> Iterator[Any]:
    """Yield the values; as in TensorFlow, a TypeError becomes a DtypeError and a ValueError an InvalidArgumentError."""
    try:
        yield from values
    except AutoconvError:
        raise
    except TypeError as error:
        raise DtypeError(f"TypeError: {error}") from error
    except ValueError as error:
        raise InvalidArgumentError(f"{type(error).__name__}: {error}") from error


class Empty(Node):
    """A source without elements."""

    name = "empty"

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        yield from ()

    def count(self, bindings: Bindings) -> int:
        return 0


def signature_of(output_signature: Any, output_types: Any, output_shapes: Any) -> Any:
    """Return the specs of a generator's elements, given either as a signature or as types and shapes."""
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError("from_generator takes output_signature, or output_types and output_shapes, not both")
        return output_signature
    if output_types is None:
        raise TypeError(
            "from_generator needs the specs of what the generator yields: give it output_signature, for example "
            "autoconv.TensorSpec(shape=(), dtype=autoconv.int32)"
        )
    types, template = flatten(output_types)
    if output_shapes is None:
        shapes: list[Any] = [None] * len(types)
    else:
        shapes = [output_shapes] if template is None else _shape_leaves(output_shapes, template)
    return pack(template, [TensorSpec(shape, as_dtype(dtype)) for dtype, shape in zip(types, shapes, strict=True)])


def load_arrays(path: Any, mmap_mode: str | None = "r") -> Any:
    """Return the array of a .npy file (memory-mapped, not read), or the arrays of a .npz by name."""
    result = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)  # type: ignore[arg-type]
    if isinstance(result, np.lib.npyio.NpzFile):
        with result:
            return {name: result[name] for name in result.files}
    return result


def _shape_leaves(shapes: Any, template: Template) -> list[Any]:
    """Return the entry of `shapes` for each leaf of `template`, the structure of the dtypes."""
    result: list[Any] = []

    def add_shapes(shape: Any, node: Template | None) -> None:
        if node is None:
            result.append(shape)
        elif node.keys is not None:
            for key, child in zip(node.keys, node.children, strict=True):
                add_shapes(shape[key] if isinstance(shape, dict) else getattr(shape, key), child)
        else:
            if len(shape) != len(node.children):
                raise ValueError(f"output_shapes has another structure than output_types: {shapes}")
            for child_shape, child in zip(shape, node.children, strict=True):
                add_shapes(child_shape, child)

    add_shapes(shapes, template)
    return result


def _leaves_in_structure(value: Any, template: Template | None) -> list[Any] | None:
    """Return the leaves of a value, or None unless it has the template's structure, where lists match tuples."""
    if template is None:
        return [value]
    if template.keys is not None:
        if isinstance(value, dict):
            if set(value) != set(template.keys):
                return None
            children = [value[key] for key in template.keys]
        elif type(value) is template.kind:
            children = [getattr(value, key) for key in template.keys]
        else:
            return None
    elif isinstance(value, (list, tuple)) and len(value) == len(template.children):
        children = list(value)
    else:
        return None
    result: list[Any] = []
    for child, child_template in zip(children, template.children, strict=True):
        child_leaves = _leaves_in_structure(child, child_template)
        if child_leaves is None:
            return None
        result += child_leaves
    return result


def _has_dtype(value: Any) -> bool:
    """Return whether a generator's value is an array, a NumPy scalar or a tensor: its numbers are cast to the spec."""
    return isinstance(value, (np.ndarray, np.generic, EagerTensor))


def _values_read(leaves: Sequence[Any]) -> list[Any]:
    """Return the values that `Tensors` reads: the leaves that are tensors, and what nested datasets read."""
    return [value for leaf in leaves for value in (leaf.node.graph_operands if hasattr(leaf, "node") else (leaf,))]


def _bind_leaf(leaf: Any, bindings: Bindings) -> Any:
    """Return the run-time value of a leaf: an array, or a nested dataset with the bindings."""
    node = getattr(leaf, "node", None)
    return BoundDataset(node, bindings) if isinstance(node, Node) else bindings.resolve(leaf)


def _check_lengths(leaves: Sequence[Any]) -> None:
    """Raise ValueError for scalars and for tensors with different known lengths, TypeError for other leaves."""
    first_length: int | None = None
    for position, leaf in enumerate(leaves):
        if not hasattr(leaf, "dtype"):
            raise TypeError(f"from_tensor_slices takes tensors, found {leaf!r}")
        shape = leaf.type.shape
        if shape == ():
            raise ValueError(
                f"from_tensor_slices takes the rows of tensors, and component {position} is a scalar: {leaf!r}. "
                "Dataset.from_tensors makes one element of it."
            )
        length = shape[0] if shape else None
        if isinstance(length, int):
            if first_length is not None and first_length != length:
                raise ValueError(
                    f"Dimensions {first_length} and {length} are not compatible: from_tensor_slices takes tensors of "
                    f"equal length, and component {position} has {length} rows where those before it have "
                    f"{first_length}."
                )
            first_length = length


def _get_row(array: Any, position: int, is_copied: bool) -> Any:
    """Return a row of an array as a leaf: an array, a NumPy scalar or, for strings, an array of one object."""
    row = array[position]
    if is_copied:
        return np.array(row)  # copied, since the file may be removed later
    return row if isinstance(row, (np.ndarray, np.generic)) else object_scalar(row)


def object_scalar(item: Any) -> np.ndarray:
    """Return a string, or another object, as an array without dimensions."""
    result = np.empty((), object)
    result[()] = item
    return result
