"""NumPy's arrays while they are traced as what they are: memory that is changed in place and looked at through views.

A `SymbolicArray` stands for a value of an ArrayType. What reads its elements gets a tensor of what they are then; what
is computed of them is a new array. Views are views: the names that hold them see what is written through each other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import AutoconvError, StagingError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType
from autoconv.ops.arrays import entries_of
from autoconv.ops.index_spec import INPUT, Spec, parse_index
from autoconv.runtime import dispatch
from autoconv.runtime.array_views import same_memory
from autoconv.runtime.convert import as_tensor, is_tensor, to_array
from autoconv.runtime.objects import SymbolicObject
from autoconv.runtime.recording import Region, current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.tensor import EagerTensor, SymbolicTensor, Tensor
from autoconv.runtime.tensor_methods import TensorMethods

_BINARY = {
    "iadd": ("add", np.add), "isub": ("subtract", np.subtract), "imul": ("multiply", np.multiply),
    "itruediv": ("divide", np.true_divide), "ifloordiv": ("floor_divide", np.floor_divide),
    "imod": ("modulo", np.remainder), "ipow": ("power", np.power), "iand": ("bitwise_and", np.bitwise_and),
    "ior": ("bitwise_or", np.bitwise_or), "ixor": ("bitwise_xor", np.bitwise_xor),
    "ilshift": ("left_shift", np.left_shift), "irshift": ("right_shift", np.right_shift),
    "imatmul": ("matmul", np.matmul),
}  # fmt: skip


class SymbolicArray(TensorMethods):
    """An array of a graph that is being recorded. `_taken` says by what index, and of which array, it is a view."""

    __slots__ = ("__weakref__", "_taken", "_value")
    __array_priority__ = 200.0
    __hash__ = None  # type: ignore[assignment]
    weak = False

    def __init__(self, value: Value, taken: Any = None) -> None:
        self._value = value
        self._taken = taken

    # ---- what the recording knows it by

    @property
    def value_in_graph(self) -> Value:
        return self._value

    def __autoconv_graph_value__(self) -> Value:
        return self._value

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        return as_array

    def __autoconv_tensor__(self) -> SymbolicTensor:
        return self.load()

    def __autoconv_fresh__(self, op: str, operands: Sequence[Any]) -> Any:
        """What an operator gives: something new."""
        _check_broadcast(op, operands)
        found = dispatch.binary(op, *operands)
        return found if found is NotImplemented else fresh(found)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return fresh(getattr(function, method)(*map(_loaded, inputs), **kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return fresh(function(*map(_loaded, args), **{key: _loaded(value) for key, value in kwargs.items()}))

    def __autoconv_box__(self) -> SymbolicObject:
        return SymbolicObject(_record("array_object", [self._value]).results[0])

    # ---- what NumPy says of it

    @property
    def type(self) -> ArrayType:
        return self._value.type  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.type.dtype.numpy

    @property
    def ndim(self) -> int:
        return self.type.rank

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.size_of(axis) for axis in range(self.ndim))

    @property
    def size(self) -> Any:
        total: Any = 1
        for size in self.shape:
            total = total * size
        return total

    @property
    def itemsize(self) -> int:
        return self.type.dtype.size

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    def size_of(self, axis: int) -> Any:
        """Of a dimension: a number that the graph knows where it is not known while tracing."""
        known = self.type.shape[axis]
        if known is not None:
            return known
        return SymbolicTensor(_record("array_size", [self._value], axis=axis).results[0])

    def __len__(self) -> int:
        if not self.ndim:
            raise _of_program(TypeError("len() of unsized object"))
        known = self.type.shape[0]
        if known is None:
            raise StagingError("the length of an array is known only when the graph runs", current_place())
        return known

    def __iter__(self) -> Iterator[Any]:
        """Its rows; loops over it are staged before this."""
        if not self.ndim:
            raise _of_program(TypeError("iteration over a 0-d array"))
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        _refuse("asked for its truth by Python itself")

    def __index__(self) -> int:
        _refuse("used as an index by Python itself")

    __int__ = __float__ = __complex__ = __index__  # type: ignore[assignment]

    def __contains__(self, item: Any) -> bool:
        _refuse("searched by Python itself")

    def __str__(self) -> str:
        _refuse("turned into text")

    def __format__(self, spec: str) -> str:
        _refuse("turned into text")

    def __repr__(self) -> str:
        return f"<autoconv array {self._value.full_name!r}>"

    # ---- elements

    def load(self) -> SymbolicTensor:
        """What the elements are now."""
        return SymbolicTensor(_record("array_load", [self._value]).results[0])

    def store(self, value: Any) -> None:
        """`self[...] = value`."""
        tensor = _as_value(value, self.type)
        shape, place = tensor.type.shape, self.type.shape
        if shape is not None and len(shape) > len(place):
            while len(shape) > len(place) and shape[0] == 1:
                shape = shape[1:]
            tensor = dispatch.apply("reshape", tensor, shape=shape)
        if shape is None or not _may_fit(place, shape):
            known, wanted = _shown(tensor.type.shape), _shown(place)
            words = f"could not broadcast input array from shape {known} into shape {wanted}"
            raise _of_program(ValueError(words))
        _record("array_store", [self._value, _value_of(tensor)])

    def __getitem__(self, index: Any) -> Any:
        spec, operands = self._parsed(index)
        if any(entry[0] in ("array", "mask") for entry in spec):
            return fresh(dispatch.apply("get_item", self.load(), *operands, spec=spec))
        view = self._view(spec, operands)
        covered = sum(entry[0] == "int" for entry in spec)
        return view.load() if covered == len(spec) == self.ndim else view

    def __setitem__(self, index: Any, value: Any) -> None:
        spec, operands = self._parsed(index)
        if type(value) is SymbolicArray and value._taken is not None and self._is_taken(value._taken, spec, operands):
            return  # x[i] += y has changed it already
        if not any(entry[0] in ("array", "mask") for entry in spec):
            self._view(spec, operands).store(value)
            return
        tensor = _as_value(value, self.type)
        if spec == (("mask",),) and tensor.type.shape == () and _is_static(operands[0], self.type.shape):
            self.store(dispatch.apply("select", operands[0], _cast(tensor, self.type.dtype), self.load()))
            return
        _record("array_set", [self._value, _value_of(tensor), *map(_value_of, operands)], spec=spec)

    def _parsed(self, index: Any) -> tuple[Spec, list[Any]]:
        spec, operands = parse_index(_indices(index), is_tensor)
        covered = 0
        given = iter(operands)
        for entry in spec:
            own = [next(given) for _ in range(1 if entry[0] in ("array", "mask") else entry.count(INPUT))]
            covered += np.ndim(own[0]) if entry[0] == "mask" and isinstance(own[0], np.ndarray) else (
                own[0].type.rank or 0 if entry[0] == "mask" else entry[0] in ("int", "slice", "array")
            )  # fmt: skip
        if covered > self.ndim:
            words = f"array is {self.ndim}-dimensional, but {covered} were indexed"
            raise _of_program(IndexError(f"too many indices for array: {words}"))
        return spec, operands

    def _view(self, spec: Spec, operands: Sequence[Any]) -> SymbolicArray:
        if not any(entry[0] in ("array", "mask") for entry in spec):
            self._check_static(spec)
        values = [_value_of(operand) for operand in operands]
        node = _record("array_view", [self._value, *values], spec=spec)
        return SymbolicArray(node.results[0], (self, spec, tuple(values)))

    def _check_static(self, spec: Spec) -> None:
        axis = 0
        for kind, static in entries_of(self.ndim, spec):
            size = None if kind == "newaxis" else self.type.shape[axis]
            if kind == "int" and size is not None and static[0] != INPUT and not -size <= static[0] < size:
                words = f"index {static[0]} is out of bounds for axis {axis} with size {size}"
                raise _of_program(IndexError(words))
            if kind == "slice" and static[2] == 0:
                raise _of_program(ValueError("slice step cannot be zero"))
            axis += kind != "newaxis"

    def _is_taken(self, taken: tuple[Any, Spec, tuple[Value, ...]], spec: Spec, operands: Sequence[Any]) -> bool:
        base, own_spec, values = taken
        if base is not self or own_spec != spec or len(values) != len(operands):
            return False
        return all(value is _value_of(operand) for value, operand in zip(values, operands, strict=True))

    # ---- computing with it

    def changed(self, name: str, other: Any) -> SymbolicArray:
        """`self += other` and the like: in place, cast back as NumPy's casting "same_kind" allows."""
        op, function = _BINARY[name]
        _check_broadcast(op, (self.load(), _loaded(other)), self.type.shape)
        found = dispatch.binary(op, self.load(), _loaded(other))
        if found is NotImplemented:
            return NotImplemented
        dtype, shape = found.type.dtype, found.type.shape
        if not np.can_cast(dtype.numpy, self.dtype, "same_kind"):
            try:
                function(np.zeros(1, self.dtype), np.zeros(1, _sample_dtype(other)), out=np.zeros(1, self.dtype))
            except TypeError as error:
                raise _of_program(error) from None
        if shape is None or not _is_place(self.type.shape, shape):
            words = f"{_shown(self.type.shape)} doesn't match the broadcast shape {_shown(shape)}"
            raise _of_program(ValueError(f"non-broadcastable output operand with shape {words}"))
        self.store(_cast(found, self.type.dtype))
        return self

    def __neg__(self) -> Any:
        return fresh(dispatch.apply("negative", self.load()))

    def __pos__(self) -> Any:
        return fresh(self.load())

    def __abs__(self) -> Any:
        return fresh(dispatch.apply("abs", self.load()))

    def __invert__(self) -> Any:
        return fresh(dispatch.apply("invert", self.load()))

    def __round__(self, digits: int | None = None) -> Any:
        return fresh(dispatch.round_to(self.load(), digits or 0))

    def __getattr__(self, name: str) -> Any:
        return _methods(self, name)


def methods_by(methods: Callable[[SymbolicArray, str], Any]) -> None:
    """Has `methods(array, name)` answer attributes and methods of arrays."""
    global _methods
    _methods = methods


def _no_methods(array: SymbolicArray, name: str) -> Any:
    raise AttributeError(name)


_methods: Callable[[SymbolicArray, str], Any] = _no_methods

for _name in _BINARY:
    setattr(SymbolicArray, f"__{_name}__", lambda self, other, _name=_name: self.changed(_name, other))


def refuse_attribute(name: str) -> NoReturn:
    """What NumPy says of assigning to an attribute of an array, where it is not one that changes what the array is."""
    if name in ("shape", "strides", "dtype", "flat", "data", "real", "imag"):
        raise StagingError(f"the attribute {name!r} of an array is assigned", current_place())
    if hasattr(np.ndarray, name):
        raise _of_program(AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable"))
    raise _of_program(AttributeError(f"'numpy.ndarray' object has no attribute {name!r}"))


def as_array(value: Any) -> Any:
    """A graph value as traced code meets it; what a graph gave when it ran as it is."""
    return SymbolicArray(value) if isinstance(value, Value) else value


def is_array(value: Any) -> bool:
    return type(value) is SymbolicArray


def is_one_array(a: SymbolicArray, b: SymbolicArray) -> bool:
    """Whether two names hold the same array; raises StagingError where only the running graph knows."""
    if a.value_in_graph is b.value_in_graph:
        return True
    region = current_region()
    assert region is not None
    if all(_is_made_once(array.value_in_graph, region) for array in (a, b)):
        return False
    raise StagingError("two arrays are compared by identity", current_place())


def _is_made_once(value: Value, region: Region) -> bool:
    """Whether it is an argument that shares nothing with others, or was made by the program just there."""
    if value.node is None:
        return value.graph is region.trace.root.graph and region.trace.memory == "apart"
    return value.node.op.name in ("array_new", "array_of", "array_view", "array_strided")


def fresh(value: Any) -> Any:
    """What was computed, tensors with dimensions as new arrays; in tuples and lists too."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(fresh, value))
    if not isinstance(value, Tensor) or value.type.weak or value.type.shape == ():
        return value
    region = current_region()
    if region is None or not region.trace.memory:
        return value
    if value.type.shape is None:
        raise StagingError("how many dimensions an array has is known only when the graph runs", current_place())
    return SymbolicArray(_record("array_of", [_value_of(value)]).results[0])


def new_array(shape: Any, dtype: DType, fill: Any = None) -> SymbolicArray:
    """An array of the traced code's own; `fill` is a number, or None for whatever there is."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    known: list[Any] = []
    operands = []
    for size in sizes:
        tensor = as_tensor(size)
        if isinstance(tensor, SymbolicTensor):
            known.append(INPUT)
            operands.append(_value_of(tensor))
        else:
            known.append(operator.index(size))
    if any(size != INPUT and size < 0 for size in known):
        raise _of_program(ValueError("negative dimensions are not allowed"))
    node = _record("array_new", operands, shape=tuple(known), dtype=dtype, fill=fill)
    return SymbolicArray(node.results[0])


def strided(array: SymbolicArray, like: Callable[[np.ndarray], Any]) -> Any:
    """The view of the array that `like` makes of an array; NotImplemented where that is a copy, or not known."""
    found = same_memory(array.type, like)
    if found is NotImplemented:
        return NotImplemented
    return [
        SymbolicArray(
            _record("array_strided", [array._value], offset=offset, shape=shape, strides=strides).results[0]
        )
        for offset, shape, strides in found
    ]


def _record(op: str, inputs: Sequence[Value], **attributes: Any) -> Any:
    region = current_region()
    if region is None:
        raise StagingError("an array of a graph is used after the graph was recorded", current_place())
    return region.record(op, list(inputs), attributes)


def _value_of(value: Any) -> Value:
    region = current_region()
    assert isinstance(region, Region)
    if type(value) is SymbolicArray:
        value = value.load()
    return region.lift(dispatch.graph_value(region, value))


def _loaded(value: Any) -> Any:
    return value.load() if type(value) is SymbolicArray else value


def _indices(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(_loaded, index))
    return _loaded(index)


def _as_value(value: Any, type_: ArrayType) -> Tensor:
    """What is assigned to elements of an array, as NumPy converts it."""
    tensor = as_tensor(value)
    dtype = type_.dtype
    if tensor is not None:
        return tensor if not tensor.weak else _converted(tensor, dtype)
    if isinstance(value, (bool, int, float, complex)):
        try:
            held = np.zeros((), dtype.numpy)
            with np.errstate(all="ignore"):
                held[()] = value
        except (OverflowError, TypeError, ValueError) as error:
            raise _of_program(error) from None
        return EagerTensor(held)
    if isinstance(value, (list, tuple)):
        value = _nested(value)
        if isinstance(value, Tensor):
            return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return EagerTensor(to_array(value))
    raise StagingError(f"a {value.__class__.__name__} is assigned to elements of an array", current_place())


def element_of(value: Any, dtype: DType) -> Tensor:
    """A number as an element of an array of that dtype."""
    tensor = as_tensor(value)
    if tensor is None:
        return EagerTensor(np.asarray(value).astype(dtype.numpy))
    return _converted(tensor, dtype) if tensor.weak else _cast(tensor, dtype)  # type: ignore[no-any-return]


def _converted(number: Tensor, dtype: DType) -> Tensor:
    """A Python number as an element of that dtype: ints that do not fit raise, as do nan and inf as ints."""
    if dtype.is_bool:
        return dispatch.apply("python_bool", number)  # type: ignore[no-any-return]
    if number.type.dtype.is_floating and dtype.is_integer:
        number = dispatch.apply("python_int", number)
    return dispatch.apply("python_cast", number, dtype=dtype)  # type: ignore[no-any-return]


def _nested(value: Any) -> Any:
    """A list, or one of lists, as NumPy makes an array of it."""
    if all(as_tensor(item) is None for item in value) and not any(isinstance(item, (list, tuple)) for item in value):
        return np.asarray(value)
    items = [_nested(item) if isinstance(item, (list, tuple)) else item for item in value]
    if not any(isinstance(as_tensor(item), SymbolicTensor) for item in items):
        return np.asarray([item.numpy() if isinstance(item, EagerTensor) else item for item in items])
    return stacked(items)


def stacked(items: Sequence[Any]) -> Any:
    """Numbers and arrays as one array's elements, of the dtype that NumPy finds for them."""
    known = [as_tensor(item) for item in items]
    tensors = [EagerTensor(np.asarray(i)) if t is None else t for i, t in zip(items, known, strict=True)]
    dtype = as_dtype(np.result_type(*(tensor.type.dtype.numpy for tensor in tensors)))
    return dispatch.apply("stack", *(_cast(tensor, dtype) for tensor in tensors), axis=0)


def _cast(tensor: Any, dtype: DType) -> Any:
    if tensor.type.weak:
        return dispatch.apply("python_cast", tensor, dtype=dtype)
    return tensor if tensor.type.dtype is dtype else dispatch.apply("cast", tensor, dtype=dtype)


def _sample_dtype(other: Any) -> Any:
    tensor = as_tensor(other)
    return tensor.type.dtype.numpy if tensor is not None else np.asarray(other).dtype


def _is_static(mask: Any, shape: Sequence[int | None]) -> bool:
    tensor = as_tensor(mask)
    own = np.shape(mask) if tensor is None else tensor.type.shape
    return None not in shape and tuple(own or ()) == tuple(shape)


def _may_fit(place: Sequence[int | None], shape: Sequence[Any]) -> bool:
    pairs = zip(reversed(shape), reversed(place), strict=False)
    return len(shape) <= len(place) and all(a == b or a == 1 or a is None or b is None for a, b in pairs)


def _check_broadcast(op: str, operands: Sequence[Any], into: Any = None) -> None:
    """Raises ValueError, in NumPy's words, for shapes that are known not to go together; `into` is that of the result
    where there is an array for it."""
    shapes: list[Any] = []
    for operand in operands:
        tensor = as_tensor(operand)
        shapes.append(np.shape(operand) if tensor is None else tensor.type.shape)
    if op == "matmul" or any(shape is None for shape in shapes):
        return
    pairs = zip(reversed(shapes[0]), reversed(shapes[1]), strict=False)
    if any(isinstance(a, int) and isinstance(b, int) and a != b and 1 not in (a, b) for a, b in pairs):
        words = " ".join(_shown(shape) for shape in (*shapes, *([] if into is None else [into])))
        raise _of_program(ValueError(f"operands could not be broadcast together with shapes {words} "))


def _is_place(place: Sequence[int | None], shape: Sequence[Any]) -> bool:
    """Whether a result of that shape may fill the place, dimension by dimension."""
    return len(place) == len(shape) and all(a == b or a is None or b is None for a, b in zip(shape, place, strict=True))


def _shown(shape: Any) -> str:
    """As NumPy writes shapes in what it says of them."""
    sizes = ["?" if size is None else str(size) for size in shape or ()]
    return f"({','.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _of_program(error: Exception) -> Exception:
    """The error as one that the program raises, not the tracing of it."""
    if not isinstance(error, AutoconvError):
        error._autoconv_run_time = True  # type: ignore[attr-defined]
    return error


def _refuse(how: str) -> NoReturn:
    raise StagingError(f"an array that only the running graph knows is {how}", current_place())


__all__ = ["SymbolicArray", "as_array", "fresh", "is_array", "new_array", "stacked", "strided"]
