"""The array API namespace: its names, and its functions against NumPy, at once and as part of a graph."""

import inspect

import numpy as np
import pytest

import autoconv as ac

xp = ac.xp

REAL = np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.25]])
ONE = np.array([3.0, 1.0, 2.0])
UNIT = np.array([0.5, -0.25, 0.75])
FLAGS = np.array([True, False, True])
WHOLE = np.array([5, 3, 12])
SQUARE = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
Z = np.array([1 + 2j, 0.5 - 1j, -2.0, 0.25j])

# name: arguments, and options where there are any
CALLS = {
    **dict.fromkeys(
        (
            "abs",
            "ceil",
            "conj",
            "cos",
            "cosh",
            "exp",
            "expm1",
            "floor",
            "isfinite",
            "isinf",
            "isnan",
            "log",
            "log10",
            "log1p",
            "log2",
            "negative",
            "positive",
            "real",
            "round",
            "sign",
            "signbit",
            "sin",
            "sinh",
            "sqrt",
            "square",
            "tan",
            "tanh",
            "trunc",
            "asinh",
            "atan",
            "argmax",
            "argmin",
            "max",
            "mean",
            "min",
            "prod",
            "std",
            "sum",
            "var",
            "all",
            "any",
            "sort",
            "argsort",
            "unique_values",
            "unique_counts",
            "unique_inverse",
            "nonzero",
            "empty_like",
            "ones_like",
            "zeros_like",
            "flip",
            "cumulative_sum",
            "acosh",
        ),
        (ONE,),
    ),
    **dict.fromkeys(("acos", "asin", "atanh"), (UNIT,)),
    **{
        name: (ONE, np.array([2.0, 4.0, 0.5]))
        for name in (
            "add",
            "atan2",
            "divide",
            "equal",
            "floor_divide",
            "greater",
            "greater_equal",
            "hypot",
            "less",
            "less_equal",
            "logaddexp",
            "maximum",
            "minimum",
            "multiply",
            "not_equal",
            "pow",
            "remainder",
            "subtract",
            "copysign",
            "vecdot",
        )
    },
    **{name: (WHOLE, np.array([1, 2, 3])) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{name: (WHOLE, np.array([1, 2, 3])) for name in ("bitwise_left_shift", "bitwise_right_shift")},
    "bitwise_invert": (WHOLE,),
    "imag": (Z,),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), (FLAGS, ~FLAGS)),
    "logical_not": (FLAGS,),
    "clip": (ONE, 1.5, 2.5),
    "arange": (0, 7, 2),
    "empty": ((0, 3),),
    "eye": (3,),
    "full": ((2, 3), 1.5),
    "full_like": (ONE, 7),
    "linspace": (0.0, 1.0, 5),
    "meshgrid": (ONE, UNIT),
    "ones": ((2,),),
    "zeros": ((2, 3),),
    "tril": (SQUARE,),
    "triu": (SQUARE,),
    "broadcast_arrays": (ONE, REAL),
    "broadcast_to": (ONE, (2, 3)),
    "matmul": (REAL, ONE),
    "matrix_transpose": (REAL,),
    "tensordot": (REAL, SQUARE, {"axes": 1}),
    "concat": ([ONE, UNIT],),
    "expand_dims": (ONE, {"axis": 0}),
    "moveaxis": (REAL, 0, 1),
    "permute_dims": (REAL, (1, 0)),
    "repeat": (ONE, 2),
    "reshape": (REAL, (3, 2)),
    "roll": (ONE, 1),
    "squeeze": (REAL[:, :1], {"axis": 1}),
    "stack": ([ONE, UNIT],),
    "tile": (ONE, (2, 1)),
    "unstack": (REAL,),
    "searchsorted": (np.sort(ONE), UNIT),
    "take": (ONE, np.array([2, 0]), {"axis": 0}),
    "where": (FLAGS, ONE, UNIT),
}
EXTENSIONS = {
    **{f"linalg.{name}": (SQUARE,) for name in (
        "cholesky", "det", "diagonal", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "matrix_transpose", "pinv",
        "slogdet", "svdvals", "trace",
    )},
    "linalg.cross": (ONE, UNIT), "linalg.matmul": (SQUARE, ONE), "linalg.matrix_power": (SQUARE, 2),
    "linalg.outer": (ONE, UNIT), "linalg.solve": (SQUARE, SQUARE), "linalg.tensordot": (ONE, ONE, {"axes": 1}),
    "linalg.vecdot": (ONE, UNIT), "linalg.vector_norm": (REAL,),
    **{f"fft.{name}": (Z,) for name in (
        "fft", "ifft", "fftn", "ifftn", "fftshift", "ifftshift", "hfft", "irfft", "irfftn",
    )},
    **{f"fft.{name}": (ONE,) for name in ("rfft", "ihfft", "rfftn")},
    "fft.fftfreq": (5,), "fft.rfftfreq": (5,),
}  # fmt: skip
CALLS.update(EXTENSIONS)


def find(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def check(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
        return
    assert isinstance(found, ac.Tensor)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-14)


def given(name, convert):
    arguments = list(CALLS[name])
    options = arguments.pop() if isinstance(arguments[-1], dict) else {}
    tensors = [
        [convert(x) for x in a] if isinstance(a, list) else convert(a) if isinstance(a, np.ndarray) else a
        for a in arguments
    ]
    return tensors, options


@pytest.mark.parametrize("name", CALLS)
def test_at_once(name):
    plain, options = given(name, lambda x: x)
    tensors, _ = given(name, xp.asarray)
    check(find(xp, name)(*tensors, **options), find(np, name)(*plain, **options))


def test_in_a_graph():
    names = [name for name in CALLS if name not in ("unique_values", "unique_counts", "unique_inverse", "nonzero")]

    @ac.function(autograph=False)
    def every():
        found = []
        for name in names:
            tensors, options = given(name, lambda x: ac.identity(ac.constant(x)))
            found.append(find(xp, name)(*tensors, **options))
        return found

    for name, found in zip(names, every(), strict=True):
        plain, options = given(name, lambda x: x)
        check(found, find(np, name)(*plain, **options))


def test_every_name_is_there_and_tested():
    tested = set(CALLS) | {
        "asarray", "astype", "can_cast", "finfo", "from_dlpack", "iinfo", "isdtype", "result_type", "unique_all",
        "linalg.eigh", "linalg.qr", "linalg.svd",
    }  # fmt: skip
    functions = {name for name in xp.__all__ if inspect.isfunction(getattr(xp, name)) and not name.startswith("_")}
    functions |= {f"{part}.{name}" for part in ("linalg", "fft") for name in find(xp, part).__all__}
    assert functions == tested


def test_dtypes_and_information():
    assert xp.asarray([1, 2]).dtype == xp.int64 and xp.asarray(1.5).dtype == xp.float64
    assert xp.asarray([True]).dtype == xp.bool and xp.zeros(2, dtype=xp.float32).dtype == xp.float32
    assert (
        xp.result_type(xp.int8, xp.uint8) == xp.int16
        and xp.result_type(xp.ones(2, dtype=xp.float32), 1.5) == xp.float32
    )
    assert xp.can_cast(xp.int8, xp.int32) and not xp.can_cast(xp.float64, xp.float32)
    assert xp.isdtype(xp.float32, "real floating") and not xp.isdtype(xp.int8, ("bool", xp.float32))
    assert xp.finfo(xp.float32).eps == np.finfo("f4").eps and xp.iinfo(xp.int8).max == 127
    assert xp.astype(xp.asarray([1.5, 2.5]), xp.int32).dtype == xp.int32
    information = xp.__array_namespace_info__()
    assert information.default_dtypes()["integral"] == xp.int64 and "int8" in information.dtypes(kind="signed integer")
    assert xp.__array_api_version__ == "2023.12" and (xp.pi, xp.newaxis) == (np.pi, None)


def test_descending_order_keeps_equal_elements_in_theirs():
    x = xp.asarray([2, 1, 2, 1])
    np.testing.assert_array_equal(xp.argsort(x, descending=True), [0, 2, 1, 3])
    np.testing.assert_array_equal(xp.sort(x, descending=True), [2, 2, 1, 1])


def test_named_results():
    x = xp.asarray([3, 1, 3])
    found = xp.unique_all(x)
    for name, expected in (("values", [1, 3]), ("indices", [1, 0]), ("inverse_indices", [1, 0, 1]), ("counts", [1, 2])):
        np.testing.assert_array_equal(getattr(found, name), expected)
    q, r = xp.linalg.qr(xp.asarray(SQUARE))
    np.testing.assert_allclose(np.asarray(q) @ np.asarray(r), SQUARE, atol=1e-14)
    np.testing.assert_allclose(xp.linalg.eigh(xp.asarray(SQUARE)).eigenvalues, np.linalg.eigvalsh(SQUARE))
    np.testing.assert_allclose(xp.linalg.svd(xp.asarray(SQUARE)).S, np.linalg.svd(SQUARE).S)


def standardised(x):
    names = x.__array_namespace__()
    return (x - names.mean(x)) / names.std(x), x.T, x.size


def test_code_written_for_the_standard():
    expected = (REAL - REAL.mean()) / REAL.std()
    for run in (standardised, ac.function(standardised)):
        found, turned, size = run(xp.asarray(REAL))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        np.testing.assert_array_equal(turned, REAL.T)
        assert size == 6


def test_versions_and_devices():
    x = xp.ones(2)
    assert x.__array_namespace__(api_version="2022.12") is xp and x.to_device("cpu") is x
    with pytest.raises(ValueError, match=r"the array API of 2030\.12 is not here"):
        x.__array_namespace__(api_version="2030.12")
    with pytest.raises(ValueError, match="there is no device 'gpu'"):
        x.to_device("gpu")
