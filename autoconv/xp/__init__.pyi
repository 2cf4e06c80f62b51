"""Types of the array API's names, which `__init__.py` makes in loops: type checkers read this file in its place."""

from typing import Any

from autoconv.graph.dtypes import DType
from autoconv.graph.dtypes import (
    complex64 as complex64,
)
from autoconv.graph.dtypes import (
    complex128 as complex128,
)
from autoconv.graph.dtypes import (
    float32 as float32,
)
from autoconv.graph.dtypes import (
    float64 as float64,
)
from autoconv.graph.dtypes import (
    int8 as int8,
)
from autoconv.graph.dtypes import (
    int16 as int16,
)
from autoconv.graph.dtypes import (
    int32 as int32,
)
from autoconv.graph.dtypes import (
    int64 as int64,
)
from autoconv.graph.dtypes import (
    uint8 as uint8,
)
from autoconv.graph.dtypes import (
    uint16 as uint16,
)
from autoconv.graph.dtypes import (
    uint32 as uint32,
)
from autoconv.graph.dtypes import (
    uint64 as uint64,
)
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.xp import fft as fft
from autoconv.xp import linalg as linalg
from autoconv.xp.creation import (
    arange as arange,
)
from autoconv.xp.creation import (
    asarray as asarray,
)
from autoconv.xp.creation import (
    empty as empty,
)
from autoconv.xp.creation import (
    empty_like as empty_like,
)
from autoconv.xp.creation import (
    eye as eye,
)
from autoconv.xp.creation import (
    from_dlpack as from_dlpack,
)
from autoconv.xp.creation import (
    full as full,
)
from autoconv.xp.creation import (
    full_like as full_like,
)
from autoconv.xp.creation import (
    linspace as linspace,
)
from autoconv.xp.creation import (
    meshgrid as meshgrid,
)
from autoconv.xp.creation import (
    ones as ones,
)
from autoconv.xp.creation import (
    ones_like as ones_like,
)
from autoconv.xp.creation import (
    tril as tril,
)
from autoconv.xp.creation import (
    triu as triu,
)
from autoconv.xp.creation import (
    zeros as zeros,
)
from autoconv.xp.creation import (
    zeros_like as zeros_like,
)
from autoconv.xp.dtypes import (
    astype as astype,
)
from autoconv.xp.dtypes import (
    broadcast_arrays as broadcast_arrays,
)
from autoconv.xp.dtypes import (
    broadcast_to as broadcast_to,
)
from autoconv.xp.dtypes import (
    can_cast as can_cast,
)
from autoconv.xp.dtypes import (
    finfo as finfo,
)
from autoconv.xp.dtypes import (
    iinfo as iinfo,
)
from autoconv.xp.dtypes import (
    isdtype as isdtype,
)
from autoconv.xp.dtypes import (
    result_type as result_type,
)
from autoconv.xp.elements import clip as clip
from autoconv.xp.manipulation import (
    argmax as argmax,
)
from autoconv.xp.manipulation import (
    argmin as argmin,
)
from autoconv.xp.manipulation import (
    argsort as argsort,
)
from autoconv.xp.manipulation import (
    concat as concat,
)
from autoconv.xp.manipulation import (
    count_nonzero as count_nonzero,
)
from autoconv.xp.manipulation import (
    cumulative_prod as cumulative_prod,
)
from autoconv.xp.manipulation import (
    cumulative_sum as cumulative_sum,
)
from autoconv.xp.manipulation import (
    diff as diff,
)
from autoconv.xp.manipulation import (
    expand_dims as expand_dims,
)
from autoconv.xp.manipulation import (
    flip as flip,
)
from autoconv.xp.manipulation import (
    moveaxis as moveaxis,
)
from autoconv.xp.manipulation import (
    nonzero as nonzero,
)
from autoconv.xp.manipulation import (
    permute_dims as permute_dims,
)
from autoconv.xp.manipulation import (
    repeat as repeat,
)
from autoconv.xp.manipulation import (
    reshape as reshape,
)
from autoconv.xp.manipulation import (
    roll as roll,
)
from autoconv.xp.manipulation import (
    searchsorted as searchsorted,
)
from autoconv.xp.manipulation import (
    sort as sort,
)
from autoconv.xp.manipulation import (
    squeeze as squeeze,
)
from autoconv.xp.manipulation import (
    stack as stack,
)
from autoconv.xp.manipulation import (
    take as take,
)
from autoconv.xp.manipulation import (
    take_along_axis as take_along_axis,
)
from autoconv.xp.manipulation import (
    tile as tile,
)
from autoconv.xp.manipulation import (
    unique_all as unique_all,
)
from autoconv.xp.manipulation import (
    unique_counts as unique_counts,
)
from autoconv.xp.manipulation import (
    unique_inverse as unique_inverse,
)
from autoconv.xp.manipulation import (
    unique_values as unique_values,
)
from autoconv.xp.manipulation import (
    unstack as unstack,
)
from autoconv.xp.manipulation import (
    where as where,
)
from autoconv.xp.reductions import (
    all as all,
)
from autoconv.xp.reductions import (
    any as any,
)
from autoconv.xp.reductions import (
    matmul as matmul,
)
from autoconv.xp.reductions import (
    matrix_transpose as matrix_transpose,
)
from autoconv.xp.reductions import (
    max as max,
)
from autoconv.xp.reductions import (
    mean as mean,
)
from autoconv.xp.reductions import (
    min as min,
)
from autoconv.xp.reductions import (
    prod as prod,
)
from autoconv.xp.reductions import (
    std as std,
)
from autoconv.xp.reductions import (
    sum as sum,
)
from autoconv.xp.reductions import (
    tensordot as tensordot,
)
from autoconv.xp.reductions import (
    var as var,
)
from autoconv.xp.reductions import (
    vecdot as vecdot,
)

__array_api_version__: str
bool: DType
e: float
inf: float
nan: float
newaxis: None
pi: float

def __array_namespace_info__() -> Any: ...
def abs(x: Any, /) -> Tensor: ...
def acos(x: Any, /) -> Tensor: ...
def acosh(x: Any, /) -> Tensor: ...
def asin(x: Any, /) -> Tensor: ...
def asinh(x: Any, /) -> Tensor: ...
def atan(x: Any, /) -> Tensor: ...
def atanh(x: Any, /) -> Tensor: ...
def bitwise_invert(x: Any, /) -> Tensor: ...
def ceil(x: Any, /) -> Tensor: ...
def conj(x: Any, /) -> Tensor: ...
def cos(x: Any, /) -> Tensor: ...
def cosh(x: Any, /) -> Tensor: ...
def exp(x: Any, /) -> Tensor: ...
def expm1(x: Any, /) -> Tensor: ...
def floor(x: Any, /) -> Tensor: ...
def imag(x: Any, /) -> Tensor: ...
def isfinite(x: Any, /) -> Tensor: ...
def isinf(x: Any, /) -> Tensor: ...
def isnan(x: Any, /) -> Tensor: ...
def log(x: Any, /) -> Tensor: ...
def log10(x: Any, /) -> Tensor: ...
def log1p(x: Any, /) -> Tensor: ...
def log2(x: Any, /) -> Tensor: ...
def logical_not(x: Any, /) -> Tensor: ...
def negative(x: Any, /) -> Tensor: ...
def positive(x: Any, /) -> Tensor: ...
def real(x: Any, /) -> Tensor: ...
def reciprocal(x: Any, /) -> Tensor: ...
def round(x: Any, /) -> Tensor: ...
def sign(x: Any, /) -> Tensor: ...
def signbit(x: Any, /) -> Tensor: ...
def sin(x: Any, /) -> Tensor: ...
def sinh(x: Any, /) -> Tensor: ...
def sqrt(x: Any, /) -> Tensor: ...
def square(x: Any, /) -> Tensor: ...
def tan(x: Any, /) -> Tensor: ...
def tanh(x: Any, /) -> Tensor: ...
def trunc(x: Any, /) -> Tensor: ...
def add(x1: Any, x2: Any, /) -> Tensor: ...
def atan2(x1: Any, x2: Any, /) -> Tensor: ...
def bitwise_and(x1: Any, x2: Any, /) -> Tensor: ...
def bitwise_left_shift(x1: Any, x2: Any, /) -> Tensor: ...
def bitwise_or(x1: Any, x2: Any, /) -> Tensor: ...
def bitwise_right_shift(x1: Any, x2: Any, /) -> Tensor: ...
def bitwise_xor(x1: Any, x2: Any, /) -> Tensor: ...
def copysign(x1: Any, x2: Any, /) -> Tensor: ...
def divide(x1: Any, x2: Any, /) -> Tensor: ...
def equal(x1: Any, x2: Any, /) -> Tensor: ...
def floor_divide(x1: Any, x2: Any, /) -> Tensor: ...
def greater(x1: Any, x2: Any, /) -> Tensor: ...
def greater_equal(x1: Any, x2: Any, /) -> Tensor: ...
def hypot(x1: Any, x2: Any, /) -> Tensor: ...
def less(x1: Any, x2: Any, /) -> Tensor: ...
def less_equal(x1: Any, x2: Any, /) -> Tensor: ...
def logaddexp(x1: Any, x2: Any, /) -> Tensor: ...
def logical_and(x1: Any, x2: Any, /) -> Tensor: ...
def logical_or(x1: Any, x2: Any, /) -> Tensor: ...
def logical_xor(x1: Any, x2: Any, /) -> Tensor: ...
def maximum(x1: Any, x2: Any, /) -> Tensor: ...
def minimum(x1: Any, x2: Any, /) -> Tensor: ...
def multiply(x1: Any, x2: Any, /) -> Tensor: ...
def nextafter(x1: Any, x2: Any, /) -> Tensor: ...
def not_equal(x1: Any, x2: Any, /) -> Tensor: ...
def pow(x1: Any, x2: Any, /) -> Tensor: ...
def remainder(x1: Any, x2: Any, /) -> Tensor: ...
def subtract(x1: Any, x2: Any, /) -> Tensor: ...
