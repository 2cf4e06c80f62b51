"""Element types of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

_Result = TypeVar("_Result")


class _CachedProperty(Generic[_Result]):
    """A cached property without the lock of `functools.cached_property`.

    Up to Python 3.11 that class has a lock, which a forked process may inherit in the locked state.
    """

    def __init__(self, compute: Callable[[Any], _Result]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> _Result:
        if instance is None:
            return self  # type: ignore[return-value]
        result = instance.__dict__[self._compute.__name__] = self._compute(instance)
        return result


class DType:
    """An element type: its name, its number in TensorFlow's protocol buffers (`enum`), its NumPy dtype, and predicates.

    There is one instance per type, so `is` and `==` agree; a DType also equals everything that `as_dtype` maps to it.

    >>> autoconv.float32.size, autoconv.float32.is_floating, autoconv.float32 == np.float32
    (4, True, True)
    """

    __slots__ = ("__dict__", "enum", "name")

    def __init__(self, name: str, enum: int) -> None:
        self.name = name
        self.enum = enum

    @_CachedProperty
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype; elements of strings are `bytes` objects."""
        if self.name in ("string", "resource", "variant"):
            return np.dtype(object)
        if self.name == "bfloat16" or self.name.startswith("float8"):
            return np.dtype(getattr(_ml_dtypes(self.name), self.name))
        if self.is_quantized:
            return np.dtype([(self.name, self.name[1:])])
        return np.dtype(self.name)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type; of a quantized type, the dtype."""
        if self.is_quantized:
            return self.numpy
        return object if self.is_string else self.numpy.type

    @property
    def as_datatype_enum(self) -> int:
        """The number of the type in TensorFlow's protocol buffers."""
        return self.enum

    @_CachedProperty
    def is_bool(self) -> bool:
        return self.name == "bool"

    @_CachedProperty
    def is_integer(self) -> bool:
        return self.name.startswith(("int", "uint"))

    @_CachedProperty
    def is_unsigned(self) -> bool:
        return self.name.startswith("uint")

    @_CachedProperty
    def is_floating(self) -> bool:
        return self.name.startswith(("float", "bfloat"))

    @_CachedProperty
    def is_complex(self) -> bool:
        return self.name.startswith("complex")

    @_CachedProperty
    def is_string(self) -> bool:
        return self.name == "string"

    @_CachedProperty
    def is_quantized(self) -> bool:
        return self.name.startswith(("qint", "quint"))

    @property
    def is_numpy_compatible(self) -> bool:
        """True if NumPy's arrays can hold the elements."""
        return self.name not in ("resource", "variant")

    def is_compatible_with(self, other: object) -> bool:
        """Return whether a tensor of the other type can be used where this one is required."""
        return as_dtype(other) is self

    @_CachedProperty
    def is_numeric(self) -> bool:
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def is_differentiable(self) -> bool:
        return self.is_floating or self.is_complex

    @property
    def size(self) -> int:
        """Bytes per element."""
        return self.numpy.itemsize

    @property
    def min(self) -> Any:
        return self._limits.min

    @property
    def max(self) -> Any:
        return self._limits.max

    @property
    def limits(self) -> tuple[Any, Any]:
        """0 and the brightest value of an image of this type.

        >>> autoconv.uint8.limits, autoconv.float32.limits
        ((0, 255), (0, 1))
        """
        if self.is_integer:
            return 0, self.max
        if self in (float32, float64, bool_):
            return 0, True if self.is_bool else 1
        raise ValueError(f"{self} does not have defined limits.")

    @property
    def _limits(self) -> Any:
        if self.name.startswith(("bfloat", "float8")):
            return _ml_dtypes(self.name).finfo(self.numpy)
        return np.iinfo(self.numpy) if self.is_integer else np.finfo(self.numpy)

    @property
    def real_dtype(self) -> DType:
        """float32 for complex64, float64 for complex128, itself otherwise."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def base_dtype(self) -> DType:
        return self

    def __repr__(self) -> str:
        return f"autoconv.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, DType) or other is None or type(other) is int:  # `as_dtype` takes numbers of dtypes
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def as_dtype(value: object) -> DType:
    """Convert `value` to a DType: a DType, a name, a NumPy dtype or scalar type, or a Python number type.

    An int is the number of a dtype in TensorFlow's protocol buffers. Raises TypeError for anything else.

    >>> autoconv.as_dtype("float32"), autoconv.as_dtype(np.int64)
    (autoconv.float32, autoconv.int64)
    """
    if isinstance(value, DType):
        return value
    result = _DTYPE_BY_OBJECT.get(value) if isinstance(value, (str, type, np.dtype)) else None
    if result is not None:
        return result
    if value is None:
        raise TypeError("Cannot convert None to a dtype.")
    if isinstance(value, (int, float, np.integer)) and not isinstance(value, bool):
        dtype_of_number = next((dtype for dtype in DTYPES.values() if dtype.enum == value), None)
        if dtype_of_number is not None:
            return dtype_of_number
    try:
        dtype = np.dtype(value)  # type: ignore[call-overload]
    except Exception:  # NumPy raises SyntaxError for some texts, and errors of an object's own attribute `dtype`
        raise TypeError(f"Cannot convert {value!r} to a dtype.") from None
    if dtype.kind in "OSU":
        return string
    try:
        dtype_by_name = DTYPES[dtype.name]
        if dtype.isnative and dtype.isbuiltin == 1:
            _DTYPE_BY_OBJECT[dtype] = dtype_by_name
        return dtype_by_name
    except KeyError:
        raise TypeError(f"NumPy's {dtype} has no dtype here; there are {', '.join(DTYPES)}.") from None


def _ml_dtypes(name: str) -> Any:
    try:
        import ml_dtypes  # heavy and optional
    except ImportError:
        raise ImportError(f"{name} needs the package ml_dtypes: pip install 'autoconv[bfloat16]'") from None
    return ml_dtypes


float32 = DType("float32", 1)
float64 = DType("float64", 2)
int32 = DType("int32", 3)
uint8 = DType("uint8", 4)
int16 = DType("int16", 5)
int8 = DType("int8", 6)
string = DType("string", 7)
complex64 = DType("complex64", 8)
int64 = DType("int64", 9)
bool_ = DType("bool", 10)
bfloat16 = DType("bfloat16", 14)
uint16 = DType("uint16", 17)
complex128 = DType("complex128", 18)
float16 = DType("float16", 19)
uint32 = DType("uint32", 22)
uint64 = DType("uint64", 23)
# Keras' quantized layers store and multiply elements of these dtypes; ml_dtypes implements them in NumPy.
float8_e5m2 = DType("float8_e5m2", 24)
float8_e4m3fn = DType("float8_e4m3fn", 25)
# The dtypes of handles of variables, and of TensorFlow's variants; no tensor of numbers has them.
resource = DType("resource", 20)
variant = DType("variant", 21)
# Quantized integers: names that libraries compare with; no tensor has them.
qint8 = DType("qint8", 11)
quint8 = DType("quint8", 12)
qint32 = DType("qint32", 13)
qint16 = DType("qint16", 15)
quint16 = DType("quint16", 16)

DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        float16, float32, float64, bfloat16, float8_e4m3fn, float8_e5m2, complex64, complex128, string,
    )
}  # fmt: skip

_DTYPE_BY_OBJECT: dict[Any, DType] = {
    **DTYPES,
    **{dtype.name: dtype for dtype in (resource, variant, qint8, quint8, qint16, quint16, qint32)},
    "half": float16,
    "float": float32,
    "double": float64,
    bool: bool_,
    int: int32,
    float: float32,
    complex: complex128,
    str: string,
    bytes: string,
}
