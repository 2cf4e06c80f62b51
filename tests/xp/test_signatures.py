"""Every name of the Python array API standard (2024.12) exists, with its parameters."""

import inspect

import pytest

import autoconv as ac
from tests.xp.table import FAMILIES

xp = ac.xp
UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan "
    "log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan "
    "tanh trunc nonzero unique_all unique_counts unique_inverse unique_values matrix_transpose linalg.matrix_transpose "
    "linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.slogdet linalg.svdvals"
)
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
    "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
    "minimum multiply nextafter not_equal pow remainder subtract matmul linalg.matmul linalg.outer linalg.solve"
)
SIGNATURES = {
    **dict.fromkeys(UNARY.split(), "x, /"),
    **dict.fromkeys(BINARY.split(), "x1, x2, /"),
    "clip": "x, /, min=None, max=None",
    "arange": "start, /, stop=None, step=1, *, dtype=None, device=None",
    "asarray": "obj, /, *, dtype=None, device=None, copy=None",
    **dict.fromkeys(("empty", "ones", "zeros"), "shape, *, dtype=None, device=None"),
    **dict.fromkeys(("empty_like", "ones_like", "zeros_like"), "x, /, *, dtype=None, device=None"),
    "eye": "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "full": "shape, fill_value, *, dtype=None, device=None",
    "full_like": "x, /, fill_value, *, dtype=None, device=None",
    "linspace": "start, stop, /, num, *, dtype=None, device=None, endpoint=True",
    "meshgrid": "*arrays, indexing='xy'",
    **dict.fromkeys(("tril", "triu"), "x, /, *, k=0"),
    "astype": "x, dtype, /, *, copy=True, device=None",
    "broadcast_arrays": "*arrays",
    "broadcast_to": "x, /, shape",
    "can_cast": "from_, to, /",
    **dict.fromkeys(("finfo", "iinfo"), "type, /"),
    "isdtype": "dtype, kind",
    "result_type": "*arrays_and_dtypes",
    **dict.fromkeys(("tensordot", "linalg.tensordot"), "x1, x2, /, *, axes=2"),
    **dict.fromkeys(("vecdot", "linalg.vecdot", "linalg.cross"), "x1, x2, /, *, axis=-1"),
    **dict.fromkeys(("concat", "stack"), "arrays, /, *, axis=0"),
    "expand_dims": "x, /, axis=0",
    "flip": "x, /, *, axis=None",
    "moveaxis": "x, source, destination, /",
    "permute_dims": "x, /, axes",
    "repeat": "x, repeats, /, *, axis=None",
    "reshape": "x, /, shape, *, copy=None",
    "roll": "x, /, shift, *, axis=None",
    "squeeze": "x, /, axis",
    "tile": "x, repetitions, /",
    "unstack": "x, /, *, axis=0",
    **dict.fromkeys(
        ("argmax", "argmin", "count_nonzero", "all", "any", "max", "mean", "min"), "x, /, *, axis=None, keepdims=False"
    ),
    **dict.fromkeys(("sum", "prod"), "x, /, *, axis=None, dtype=None, keepdims=False"),
    **dict.fromkeys(("std", "var"), "x, /, *, axis=None, correction=0.0, keepdims=False"),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), "x, /, *, axis=None, dtype=None, include_initial=False"),
    **dict.fromkeys(("sort", "argsort"), "x, /, *, axis=-1, descending=False, stable=True"),
    "diff": "x, /, *, axis=-1, n=1, prepend=None, append=None",
    "searchsorted": "x1, x2, /, *, side='left', sorter=None",
    "take": "x, indices, /, *, axis=None",
    "take_along_axis": "x, indices, /, *, axis=-1",
    "where": "condition, x1, x2, /",
    "linalg.cholesky": "x, /, *, upper=False",
    "linalg.diagonal": "x, /, *, offset=0",
    "linalg.matrix_norm": "x, /, *, keepdims=False, ord='fro'",
    "linalg.matrix_power": "x, n, /",
    **dict.fromkeys(("linalg.matrix_rank", "linalg.pinv"), "x, /, *, rtol=None"),
    "linalg.qr": "x, /, *, mode='reduced'",
    "linalg.svd": "x, /, *, full_matrices=True",
    "linalg.trace": "x, /, *, offset=0, dtype=None",
    "linalg.vector_norm": "x, /, *, axis=None, keepdims=False, ord=2",
    **dict.fromkeys(
        (f"fft.{n}" for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
        "x, /, *, n=None, axis=-1, norm='backward'",
    ),
    **dict.fromkeys(
        (f"fft.{n}" for n in ("fftn", "ifftn", "rfftn", "irfftn")), "x, /, *, s=None, axes=None, norm='backward'"
    ),
    **dict.fromkeys(("fft.fftfreq", "fft.rfftfreq"), "n, /, *, d=1.0, dtype=None, device=None"),
    **dict.fromkeys(("fft.fftshift", "fft.ifftshift"), "x, /, *, axes=None"),
}
OTHER_NAMES = {
    "__array_api_version__", "__array_namespace_info__", "bool", "complex128", "complex64", "e", "fft", "float32",
    "float64", "inf", "int16", "int32", "int64", "int8", "linalg", "nan", "newaxis", "pi", "uint16", "uint32",
    "uint64", "uint8",
}  # fmt: skip
METHODS = (
    "abs add and array_namespace bool complex dlpack dlpack_device eq float floordiv ge getitem gt index int invert le "
    "lshift lt matmul mod mul ne neg or pos pow rshift setitem sub truediv xor radd rsub rmul rtruediv rfloordiv rmod "
    "rpow rmatmul rand ror rxor rlshift rrshift"
)


def _find(name):
    found = xp
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters(name):
    found = inspect.signature(_find(name))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    shown = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    assert shown == f"({SIGNATURES[name]})"
    assert inspect.getdoc(_find(name))


def test_every_name_exists():
    functions = {name for name in SIGNATURES if "." not in name}
    assert set(xp.__all__) == functions | OTHER_NAMES
    for part in ("linalg", "fft"):
        assert set(_find(part).__all__) == {n.partition(".")[2] for n in SIGNATURES if n.startswith(f"{part}.")}


def test_every_function_is_in_the_table_of_properties():
    tried = {name for family in FAMILIES.values() for name in family}
    elsewhere = {"empty", "empty_like", "from_dlpack", "can_cast", "finfo", "iinfo", "isdtype", "result_type"}
    assert set(SIGNATURES) == tried | elsewhere and not tried & elsewhere


def test_arrays_have_the_attributes_of_the_standard():
    x = xp.ones((2, 3))
    assert all(hasattr(x, f"__{name}__") for name in METHODS.split())
    assert (x.dtype, x.ndim, x.shape, x.size, x.T.shape, x.mT.shape) == (xp.float64, 2, (2, 3), 6, (3, 2), (3, 2))
