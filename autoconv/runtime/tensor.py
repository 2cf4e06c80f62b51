"""Tensors: eager ones hold an array, symbolic ones stand for a value of a graph being recorded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import InaccessibleTensorError, ItemAssignmentError, OperatorNotAllowedInGraphError
from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType
from autoconv.runtime import taping
from autoconv.runtime.asked import check_asked, is_asked_as_array
from autoconv.runtime.html import tensor_html
from autoconv.runtime.interchange import Interchange
from autoconv.runtime.numpy_protocol import array_function, array_ufunc
from autoconv.runtime.recording import COMPILE, current_region, defined_at, is_in_scope, out_of_scope
from autoconv.runtime.shape import TensorShape, as_shape
from autoconv.runtime.tensor_methods import TensorMethods, refuse_to_iterate

_ARRAY_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Tensor(TensorMethods):
    """An array of one dtype that cannot be changed. `Tensor` is the class of eager and symbolic tensors alike.

    `_origin` is set on what assigning to a variable answers, and on parts of variables: it has their ways to assign.
    """

    __slots__ = ("__weakref__", "_origin")
    _origin: Any
    __array_priority__ = 100.0
    __array_ufunc__ = array_ufunc
    __array_function__ = array_function

    def __hash__(self) -> int:
        error = TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        error._autoconv_about_program = True  # type: ignore[attr-defined]
        raise error

    @property
    def type(self) -> TensorType:
        raise NotImplementedError

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.type.shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def ndim(self) -> int | None:
        return self.type.rank

    @property
    def weak(self) -> bool:
        """Whether this is a Python number that became state: it takes the dtype of what it meets."""
        return self.type.weak

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """`autoconv.xp`, the array API standard; raises ValueError for a version that it does not have."""
        if api_version not in (None, *_ARRAY_API_VERSIONS):
            newest = _ARRAY_API_VERSIONS[-1]
            raise ValueError(f"the array API of {api_version} is not here: autoconv.xp is that of {newest}")
        return _namespace()

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The tensor itself: all tensors are in the memory of the CPU."""
        if str(device).lower().rpartition("/")[2] not in ("", "cpu", "cpu:0", "device:cpu:0"):
            raise ValueError(f"there is no device {device!r} here: tensors are on 'cpu'")
        return self

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ItemAssignmentError(f"{type(self).__name__!r} object does not support item assignment")

    def ref(self) -> TensorReference:
        """A hashable reference to this tensor, for use as a key."""
        return TensorReference(self)


class EagerTensor(Interchange, Tensor):
    """A tensor whose array is there."""

    __slots__ = ("_array", "_weak")

    def __init__(self, array: Any, weak: bool = False) -> None:
        self._array = np.asarray(array)
        self._weak = weak

    @property
    def type(self) -> TensorType:
        return TensorType(as_dtype(self._array.dtype), self._array.shape, self._weak)

    @property
    def dtype(self) -> DType:
        return as_dtype(self._array.dtype)

    def __getattr__(self, name: str) -> Any:
        return _of_origin(self, name)

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError when the shape is not one that the tensor has."""
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"the shape {self.shape} is not compatible with {TensorShape(as_shape(shape))}")

    def numpy(self) -> Any:
        """The array, read-only; a NumPy scalar (bytes for strings) for a tensor without dimensions."""
        taping.note_leaving(self)
        if self._array.ndim == 0:
            return self._array[()]
        view = self._array.view()
        view.flags.writeable = False
        return view

    @property
    def device(self) -> str:
        return "/device:CPU:0"

    backing_device = device

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order."""
        return np.transpose(self)  # type: ignore[return-value]

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two dimensions exchanged."""
        return np.swapaxes(self, -1, -2)  # type: ignore[return-value]

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._array.size

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        taping.note_leaving(self)
        return float(self._array)

    def __complex__(self) -> complex:
        return complex(self._array)

    def __index__(self) -> int:
        return self._array.__index__()

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if taping.active():
            return (self[row] for row in range(len(self._array)))
        return (EagerTensor(row) for row in self._array)

    def __contains__(self, item: Any) -> bool:
        return any(bool(np.all(row._array == np.asarray(item))) for row in self)  # type: ignore[attr-defined]

    def __format__(self, spec: str) -> str:
        return format(self._array.item(), spec) if spec and not self._array.ndim else str(self)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return EagerTensor, (self._array, self._weak)

    def _text(self) -> str:
        if self._array.ndim:
            return str(self._array)
        value = self._array[()]
        return repr(value) if isinstance(value, bytes) else str(value)

    def __str__(self) -> str:
        if not isinstance(self._array, np.ndarray):  # donated
            return repr(self)
        text = self._text()
        newline = "\n" if self._array.ndim > 1 else ""
        return f"autoconv.Tensor({newline}{text}, shape={self.shape}, dtype={self.dtype.name})"

    def _repr_html_(self) -> str:
        return tensor_html(self._array, self.dtype.name)

    def __repr__(self) -> str:
        if not isinstance(self._array, np.ndarray):
            return f"<autoconv.Tensor: {self._array}>"
        newline = "\n" if self._array.ndim else ""
        text = repr(self._array) if self._array.ndim else self._text()
        return f"<autoconv.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={newline}{text}>"


class SymbolicTensor(Tensor):
    """A tensor of a graph that is being recorded: it has a type and a name, and a value only when the graph runs."""

    __slots__ = ("_value",)

    def __init__(self, value: Value) -> None:
        self._value = value

    @property
    def value_in_graph(self) -> Value:
        return self._value

    @property
    def type(self) -> TensorType:
        assert isinstance(self._value.type, TensorType)
        return self._value.type

    @property
    def dtype(self) -> DType:
        """A Python number that became state shows as what it would leave the function as; a program with NumPy's
        arrays gets NumPy's dtype."""
        type_ = self.type
        if type_.weak:
            check_asked(self.type, "dtype", sys._getframe(1))
            return standalone_dtype(type_)
        return type_.dtype.numpy if is_asked_as_array(sys._getframe(1)) else type_.dtype  # type: ignore[return-value]

    @property
    def shape(self) -> TensorShape:
        """A program with NumPy's arrays gets a tuple, in which an unknown size is a number of the graph."""
        dims = self.type.shape
        if self.weak:
            check_asked(self.type, "shape", sys._getframe(1))
        elif dims is not None and is_asked_as_array(sys._getframe(1)):
            return tuple(d if isinstance(d, int) else size_of(self, axis) for axis, d in enumerate(dims))  # type: ignore[return-value]
        return TensorShape(dims)

    @property
    def ndim(self) -> int | None:
        if self.weak:
            check_asked(self.type, "ndim", sys._getframe(1))
        return self.type.rank

    @property
    def name(self) -> str:
        return self._value.full_name

    @property
    def graph(self) -> Any:
        return self._value.graph

    @property
    def op(self) -> Any:
        return self._value.node

    @property
    def device(self) -> str:
        return self._value.node.device if self._value.node is not None else ""

    def set_shape(self, shape: Any) -> None:
        """Declares what is known about the shape; raises ValueError when it contradicts what is known already."""
        wanted = as_shape(shape)
        if not self.shape.is_compatible_with(wanted):
            raise ValueError(f"the shape {self.shape} is not compatible with {TensorShape(wanted)}")
        known = self.type.shape
        if known is None or wanted is None:
            merged = wanted if known is None else known
        else:
            merged = tuple(b if a is None else a for a, b in zip(known, wanted, strict=True))
        self._value.type = self.type.with_shape(merged)

    def _changed_in_place(self, other: Any) -> Any:
        """`x += y`: for an array under `compile` that changes it for all who hold it; else the name is rebound."""
        region = current_region()
        is_number = self.weak or (region is not None and region.trace.memory and self.type.shape == ())
        if region is not None and region.trace.arrays and not is_number and region.trace.outside_effect is not None:
            region.trace.outside_effect(self, "an array is changed in place")
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _changed_in_place
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __imatmul__ = _changed_in_place

    def __getitem__(self, index: Any) -> Any:
        region = current_region()
        if self.weak and region is not None and region.contract == COMPILE:
            error = TypeError(f"{type(self.type.dtype.numpy.type(1).item()).__name__!r} object is not subscriptable")
            error._autoconv_run_time = True  # type: ignore[attr-defined]
            raise error
        found = super().__getitem__(index)
        by_ellipsis = index is Ellipsis or (type(index) is tuple and any(part is Ellipsis for part in index))
        if by_ellipsis and found.type.shape == () and region is not None and region.trace.arrays:
            return region.trace.without_dimensions(found)  # a view, and no element
        return found

    def _shown(self) -> None:
        """Text of a tensor under `compile` would be text of a number or array, which is not known yet."""
        region = current_region()
        if region is not None and region.trace.outside_effect is not None:
            region.trace.outside_effect(self, "text is made of a value")

    def _check_scope(self) -> None:
        """Raises InaccessibleTensorError, which names the line that made the tensor, where its trace is over."""
        if not is_in_scope(self._value):
            raise InaccessibleTensorError(out_of_scope(self._value))

    def _refuse(self, what: str) -> NoReturn:
        self._check_scope()
        raise OperatorNotAllowedInGraphError(
            f"{what} is not allowed. You can attempt the following resolutions to the problem: run eagerly, decorate "
            "this function with @autoconv.function or @autoconv.compile so that it is converted, or use graph ops "
            "such as autoconv.cond and autoconv.while_loop. If the function is decorated already, its source code "
            "may not be reachable."
        )

    def __bool__(self) -> bool:
        self._refuse("Using a symbolic `autoconv.Tensor` as a Python `bool`")

    def __iter__(self) -> Iterator[Tensor]:
        """In converted code a tensor of known length unpacks into its rows; loops over it are staged before this."""
        self._check_scope()
        region = current_region()
        shape = self.type.shape
        if region is not None and region.contract == COMPILE and self.weak:
            refuse_to_iterate(self.type.dtype.numpy.type(1).item(), sys._getframe(1))
        if region is not None and region.trace.converts and shape and shape[0] is None:
            raise OperatorNotAllowedInGraphError(
                f"Iterating over a symbolic `autoconv.Tensor` is not allowed here: the length of {self.name} is known "
                "only when the graph runs. Loop over it with a for statement in converted code, take its parts by "
                "index (x[0], x[1:]), or give it a known length (autoconv.ensure_shape, or an input_signature)."
            )
        if region is None or not region.trace.converts or not shape or not isinstance(shape[0], int):
            self._refuse("Iterating over a symbolic `autoconv.Tensor`")
        return (self[row] for row in range(shape[0]))

    def __contains__(self, item: Any) -> bool:
        self._refuse("Using `in` on a symbolic `autoconv.Tensor`")

    def __index__(self) -> int:
        return self._concrete("an index")

    def __int__(self) -> int:
        return self._concrete("an int")

    def __float__(self) -> float:
        return self._concrete("a float")

    def __complex__(self) -> complex:
        return self._concrete("a complex number")

    def _concrete(self, what: str) -> Any:
        self._check_scope()
        region = current_region()
        static = region.trace.concretise if region is not None else None
        if static is not None:
            return static(self, what)
        raise OperatorNotAllowedInGraphError(
            f"Python needs {what} here, and the symbolic tensor {self.name} has a value only when the graph runs. "
            "Use ops on tensors instead: autoconv.gather for an index, autoconv.cast for int() and float(), "
            "autoconv.py_function for what only Python can do."
        )

    def __len__(self) -> int:
        shape = self.type.shape
        region = current_region()
        if shape and isinstance(shape[0], int) and region is not None and region.trace.converts:
            return shape[0]
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._check_scope()
        raise NotImplementedError(
            f"Cannot convert a symbolic autoconv.Tensor ({self.name}) to a numpy array. This error may indicate "
            "that you're trying to pass a Tensor to a NumPy call, which is not supported. Use the op of that meaning "
            "(autoconv.sin for numpy.sin), or autoconv.numpy_function to run NumPy code when the graph runs."
        )

    def __getattr__(self, name: str) -> Any:
        region = current_region()
        if region is not None and region.trace.attribute is not None and not name.startswith("__"):
            found = region.trace.attribute(self, name)
            if found is not NotImplemented:
                return found
        if name.startswith(ASSIGNING):
            return _of_origin(self, name)
        if name in _BY_NUMPY and not self.weak:
            return _BY_NUMPY[name](self)
        unknown = ": its value is known only when the graph runs; compute with the tensor itself"
        remedy = unknown if name == "numpy" else ""
        if remedy and not is_in_scope(self._value):
            remedy += defined_at(self._value).rstrip()
        raise AttributeError(f"'SymbolicTensor' object has no attribute '{name}'{remedy}", name=name, obj=self)

    def _shape_text(self) -> str:
        return "" if self.type.shape is None else f" shape={self.shape}"

    def __str__(self) -> str:
        self._shown()
        shape = self._shape_text().strip()
        return f'Tensor("{self.name}", {shape + ", " if shape else ""}dtype={self.dtype.name})'

    def __repr__(self) -> str:
        self._shown()
        shape = self._shape_text() or " shape=<unknown>"
        return f"<autoconv.Tensor '{self.name}'{shape} dtype={self.dtype.name}>"


def namespace_by(find: Callable[[], Any]) -> None:
    """Has `find()` give what `__array_namespace__` is."""
    global _namespace
    _namespace = find


_namespace: Callable[[], Any]


def measure_by(measure: Callable[[Any, int], Any]) -> None:
    """Has `measure(tensor, axis)` give sizes that only the running graph knows."""
    global size_of
    size_of = measure


size_of: Callable[[Any, int], Any]


# Attributes of the array API standard, by NumPy's functions of that meaning.
_BY_NUMPY: dict[str, Callable[[Any], Any]] = {
    "T": np.transpose, "mT": lambda x: np.swapaxes(x, -1, -2), "size": np.size,
}  # fmt: skip


# How the names of methods begin that variables have, and parts of variables.
ASSIGNING = ("assign", "scatter_")


def _of_origin(tensor: Tensor, name: str) -> Any:
    """A method of the variable that a tensor is a part of, or the value after an assignment of."""
    remedy = ""
    if name.startswith(ASSIGNING):
        try:
            origin = object.__getattribute__(tensor, "_origin")
        except AttributeError:
            pass
        else:
            return getattr(origin, name)
        if isinstance(tensor, SymbolicTensor):
            remedy = ": variables are assigned; where a tensor chooses between variables, assign in each branch"
    raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}{remedy}", name=name, obj=tensor)


class TensorReference:
    """Compares and hashes by the identity of the tensor it refers to."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorReference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)


def standalone_dtype(type_: TensorType) -> DType:
    """What a weak value becomes where it meets no typed one: int32 and float32 under `function`, else 64 bits."""
    region = current_region()
    wide = region is not None and region.contract == COMPILE
    if type_.dtype.is_integer:
        return int64 if wide else int32
    if type_.dtype.is_floating:
        return float64 if wide else float32
    return type_.dtype
