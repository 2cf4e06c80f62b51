"""The Python array API standard (2023.12) over tensors: NumPy 2's functions of those names, from the table."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DTYPES, DType, as_dtype
from autoconv.numpy.operands import cast, named, numpy_dtype, numpy_dtype_of, tensor
from autoconv.runtime.convert import as_tensor
from autoconv.runtime.dispatch import apply
from autoconv.runtime.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensor import EagerTensor, Tensor

_NAMED = {
    "unique_all": namedtuple("unique_all_result", "values indices inverse_indices counts"),
    "unique_counts": namedtuple("unique_counts_result", "values counts"),
    "unique_inverse": namedtuple("unique_inverse_result", "values inverse_indices"),
}


def standard_functions(prefix: str, names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The functions of those names; an AttributeError for one that this NumPy does not have is left for its use."""
    return {name: OWN.get(prefix + name) or _of_numpy(prefix + name) for name in names}


def _of_numpy(name: str) -> Callable[..., Any]:
    function = named(name)
    compute = FUNCTIONS[function]
    result = _NAMED.get(name)

    @functools.wraps(compute)
    def run(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device", None)
        found = compute(*args, **kwargs)
        return found if result is None else result(*found)

    run.__name__ = run.__qualname__ = name.rpartition(".")[2]
    run.__doc__ = f"The standard's `{name}`, as NumPy's function of that name computes it."
    return run


# ---- those that NumPy has under another signature, or that are not about elements


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Where the elements in order are; equal ones stay in theirs."""
    if not descending:
        return FUNCTIONS[np.argsort](x, axis=axis)
    flipped = FUNCTIONS[np.flip](x, axis=axis)
    found = FUNCTIONS[np.flip](FUNCTIONS[np.argsort](flipped, axis=axis), axis=axis)
    last = tensor(x).type.shape[axis] - 1  # type: ignore[index,operator]
    return apply("subtract", tensor(last), found)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis."""
    found = FUNCTIONS[np.sort](x, axis=axis)
    return FUNCTIONS[np.flip](found, axis=axis) if descending else found


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of numbers, nested lists, arrays or anything with `__dlpack__`: Python's are float64, int64, bool."""
    if as_tensor(obj) is None and not isinstance(obj, (np.ndarray, np.generic)) and hasattr(obj, "__dlpack__"):
        obj = np.from_dlpack(obj)
    if isinstance(obj, np.ndarray):
        obj = obj.copy()
    return tensor(obj, None if dtype is None else numpy_dtype(dtype))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of what another library's array holds: a copy, unless `copy` is False."""
    array = np.from_dlpack(x)
    return EagerTensor(array if copy is False else array.copy())


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The elements as another dtype."""
    if tensor(x).dtype.is_complex and not as_dtype(dtype).is_complex:
        raise TypeError("a complex array is not converted to a real one: take its real part")
    return cast(tensor(x), dtype)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype, or that of an array, goes to another one by the standard's promotion."""
    found = from_.numpy if isinstance(from_, DType) else numpy_dtype_of(from_)
    return bool(np.can_cast(found, as_dtype(to).numpy))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """What the arrays, dtypes and Python numbers promote to."""
    kinds = [x.numpy if isinstance(x, DType) else x for x in arrays_and_dtypes]
    numbers = [x for x in kinds if type(x) in (bool, int, float, complex)]
    others = [
        x if isinstance(x, np.dtype) else numpy_dtype_of(x) for x in kinds if type(x) not in (bool, int, float, complex)
    ]
    return as_dtype(np.result_type(*others, *numbers))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: a name such as "real floating", a dtype, or a tuple of these."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = tuple(k.numpy if isinstance(k, DType) else k for k in kinds)
    return bool(np.isdtype(as_dtype(dtype).numpy, wanted))


def finfo(type: Any, /) -> Any:
    """The limits of a floating dtype, or of that of an array."""
    return np.finfo(_dtype_of(type))


def iinfo(type: Any, /) -> Any:
    """The limits of an integer dtype, or of that of an array."""
    return np.iinfo(_dtype_of(type))


def _dtype_of(x: Any) -> Any:
    return as_dtype(x).numpy if isinstance(x, _DTYPES) else numpy_dtype_of(x)


_DTYPES = (DType, np.dtype, type)


class Info:
    """What `__array_namespace_info__` gives: devices, dtypes, and what this namespace can do."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        names = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: DTYPES[name] for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        known = {name: dtype for name, dtype in DTYPES.items() if name not in ("string", "bfloat16", "float16")}
        return {name: dtype for name, dtype in known.items() if kind is None or isdtype(dtype, kind)}


OWN: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (argsort, sort, asarray, from_dlpack, astype, can_cast, result_type, isdtype, finfo, iinfo)
}

__all__ = ["Info", "standard_functions"]
