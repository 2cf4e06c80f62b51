"""Array creation functions of the Python array API standard: from shapes, ranges, values and foreign arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.numpy.operands import holds_tensors, numpy_dtype, tensor
from autoconv.numpy.standard import check_device, numpy_implementation
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


def arange(
    start: Any, /, stop: Any = None, step: TensorLike = 1, *, dtype: DTypeLike | None = None, device: Any = None
) -> Tensor:
    """Numbers from `start` (0 if `stop` is omitted) to `stop`, exclusive.

    >>> autoconv.xp.arange(2, 10, 3).numpy()
    array([2, 5, 8])
    """
    check_device(device)
    bounds = (0, start) if stop is None else (start, stop)
    return numpy_implementation("arange")(*bounds, step, dtype=dtype)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from numbers, nested lists, arrays, buffers or any object with `__dlpack__`.

    Python's numbers become bool, int64, float64 or complex128. NumPy arrays are copied unless `copy` is False, which
    raises ValueError if a copy is unavoidable.

    >>> autoconv.xp.asarray([1, 2, 3]).numpy()
    array([1, 2, 3])
    """
    check_device(device)
    obj_tensor = as_tensor(obj)
    if obj_tensor is not None or holds_tensors(obj):
        needs_no_copy = obj_tensor is not None and not obj_tensor.weak and (dtype is None or obj_tensor.dtype == dtype)
        _check_copy(needs_no_copy, copy)
        if copy and needs_no_copy:
            return apply("numpy_copy", obj_tensor, method="copy", copy_id=0)
        return tensor(obj, _numpy_dtype(dtype))
    if not isinstance(obj, (np.ndarray, np.generic)) and hasattr(obj, "__dlpack__"):
        obj = np.from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)) or hasattr(obj, "__array__"):
        obj = np.asarray(obj)
    _check_copy(isinstance(obj, np.ndarray) and (dtype is None or obj.dtype == _numpy_dtype(dtype)), copy)
    if isinstance(obj, np.ndarray) and copy is not False:
        obj = obj.copy()
    if not isinstance(obj, (np.ndarray, np.generic)):
        obj = _array_of_numbers(obj, _numpy_dtype(dtype))
    return tensor(obj, _numpy_dtype(dtype))


def _array_of_numbers(obj: Any, dtype: Any) -> np.ndarray:
    """Return `np.asarray(obj, dtype)`; raise TypeError for an object that is not made of numbers."""
    result = np.asarray(obj, dtype)
    if result.dtype == object:
        if _has_numbers(obj):
            raise OverflowError("a Python integer is too large for int64")
        raise TypeError(f"{with_article(type(obj))} is not made of numbers")
    return result


def _has_numbers(obj: object) -> bool:
    """Return whether all elements of the object are Python numbers."""
    return all(isinstance(x, (bool, int, float, complex)) for x in np.asarray(obj, object).ravel())


def _numpy_dtype(dtype: DTypeLike) -> Any:
    return None if dtype is None else numpy_dtype(dtype)


def _check_copy(needs_no_copy: bool, copy: bool | None) -> None:
    """Raise ValueError if a copy is needed and `copy` forbids it."""
    if copy is False and not needs_no_copy:
        raise ValueError("copy=False, but a copy is needed: the object is not an array of the requested dtype")


def empty(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """A tensor with unspecified elements (at present zeros).

    >>> autoconv.xp.empty((2, 3)).shape
    TensorShape([2, 3])
    """
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x: TensorLike, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """A tensor with unspecified elements (at present zeros), of the shape of `x`.

    >>> autoconv.xp.empty_like([1, 2]).shape
    TensorShape([2])
    """
    return zeros_like(x, dtype=dtype, device=device)


def eye(
    n_rows: Any, n_cols: Any = None, /, *, k: Any = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """A matrix with ones on the k-th diagonal and zeros elsewhere.

    >>> autoconv.xp.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]])
    """
    check_device(device)
    return numpy_implementation("eye")(n_rows, n_cols, k, float if dtype is None else dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor with the contents of another library's array: a copy, unless `copy` is False.

    >>> autoconv.xp.from_dlpack(np.arange(3)).numpy()
    array([0, 1, 2])
    """
    check_device(device)
    if as_tensor(x) is not None:
        return asarray(x, copy=copy)
    array = np.from_dlpack(x)
    return EagerTensor(array if copy is False else array.copy())


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of the shape with all elements equal to `fill_value`.

    >>> autoconv.xp.full((2,), 7).numpy()
    array([7, 7])
    """
    check_device(device)
    return numpy_implementation("full")(shape, fill_value, dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of the shape (and dtype, if none is given) of `x` with all elements equal to `fill_value`.

    >>> autoconv.xp.full_like([1, 2], 7).numpy()
    array([7, 7])
    """
    check_device(device)
    return numpy_implementation("full_like")(x, fill_value, dtype)


def linspace(
    start: Any, stop: Any, /, num: Any, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`.

    >>> autoconv.xp.linspace(0.0, 1.0, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device)
    return numpy_implementation("linspace")(start, stop, num, endpoint, dtype=dtype)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of the points of a grid, one array for each of the vectors.

    >>> [part.numpy().tolist() for part in autoconv.xp.meshgrid([1, 2], [3, 4, 5])]
    [[[1, 2], [1, 2], [1, 2]], [[3, 3], [4, 4], [5, 5]]]
    """
    return numpy_implementation("meshgrid")(*arrays, indexing=indexing)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones; float64 if no dtype is given.

    >>> autoconv.xp.ones((2,)).numpy()
    array([1., 1.])
    """
    check_device(device)
    return numpy_implementation("ones")(shape, dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones of the shape (and dtype, if none is given) of `x`.

    >>> autoconv.xp.ones_like([1, 2]).numpy()
    array([1, 1])
    """
    check_device(device)
    return numpy_implementation("ones_like")(x, dtype)


def tril(x: TensorLike, /, *, k: IntLike = 0) -> Tensor:
    """The elements on the k-th diagonal and below, zeros elsewhere, for each matrix of a stack.

    >>> autoconv.xp.tril([[1, 2], [3, 4]]).numpy()
    array([[1, 0],
           [3, 4]])
    """
    return numpy_implementation("tril")(x, k)


def triu(x: TensorLike, /, *, k: IntLike = 0) -> Tensor:
    """The elements on the k-th diagonal and above, zeros elsewhere, for each matrix of a stack.

    >>> autoconv.xp.triu([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [0, 4]])
    """
    return numpy_implementation("triu")(x, k)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros; float64 if no dtype is given.

    >>> autoconv.xp.zeros((2,)).numpy()
    array([0., 0.])
    """
    check_device(device)
    return numpy_implementation("zeros")(shape, dtype)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros of the shape (and dtype, if none is given) of `x`.

    >>> autoconv.xp.zeros_like([1, 2]).numpy()
    array([0, 0])
    """
    check_device(device)
    return numpy_implementation("zeros_like")(x, dtype)


__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip
