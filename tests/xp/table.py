"""Strategies of arguments for the functions of the standard in the property tests, by name.

Arrays among the arguments are NumPy's; `xp` gets them as tensors. Dtypes are those that the
standard allows for the function; shapes have no dimensions, empty ones, and ones that broadcast.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

BOOLS, SIGNED, UNSIGNED = ["?"], ["i1", "i2", "i4", "i8"], ["u1", "u2", "u4", "u8"]
REAL, COMPLEX = ["f4", "f8"], ["c8", "c16"]
INTEGERS = SIGNED + UNSIGNED
WHOLE, FLOATING = BOOLS + INTEGERS, REAL + COMPLEX
NUMBERS, REAL_NUMBERS = INTEGERS + FLOATING, INTEGERS + REAL
ALL = BOOLS + NUMBERS
SHAPES = [(), (1,), (3,), (0,), (2, 3), (2, 1), (0, 2), (2, 1, 3), (1, 2, 2)]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.25, math.inf, -math.inf, math.nan, 1e30, -1e-30, 7.0, 2.0]
FINITE = [0.0, 1.0, -1.0, 0.5, -2.5, 3.25, 7.0, 2.0, -0.75]
FEW = [0, 1, 2, 3, 5, 7, 11]


def _pool(dtype: str, special: bool) -> list:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return [False, True]
    if kind in "iu":
        limits = np.iinfo(dtype)
        return FEW + ([limits.max, limits.min, limits.max - 1] if special else [])
    floats = SPECIAL if special else FINITE
    return floats if kind == "f" else [complex(a, b) for a in FINITE[:5] for b in (0.0, 1.0, -0.5)]


@st.composite
def arrays(draw, dtypes=ALL, shapes=SHAPES, values=None, special=True):
    """Draw an array of one of the dtypes and shapes, with elements from `values`, or from all of the dtype."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(st.sampled_from(shapes))
    pool = _pool(dtype, special) if values is None else values
    size = math.prod(shape)
    with np.errstate(all="ignore"):
        flat = np.array(draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size)), dtype)
    return flat.reshape(shape)


def pair_of_dtypes(dtypes) -> list[tuple[str, str]]:
    """Draw pairs of dtypes for which the standard defines a promotion."""
    found = [(a, b) for a in dtypes for b in dtypes if np.dtype(a).kind == np.dtype(b).kind]
    found += [(a, b) for a in SIGNED for b in ("u1", "u2", "u4") if {a, b} <= set(dtypes)]
    return found + [(a, b) for a in REAL for b in COMPLEX if {a, b} <= set(dtypes)]


def broadcasting() -> list[tuple[tuple, tuple]]:
    found = []
    for a in SHAPES:
        for b in SHAPES:
            try:
                np.broadcast_shapes(a, b)
            except ValueError:
                continue
            found.append((a, b))
    return found


_BROADCASTING = broadcasting()


@st.composite
def pairs(draw, dtypes=ALL, values=(None, None), special=True):
    """Two arrays that broadcast and promote; or an array and a Python number of its kind, in either order."""
    a, b = draw(st.sampled_from(pair_of_dtypes(dtypes)))
    left, right = draw(st.sampled_from(_BROADCASTING))
    x = draw(arrays([a], [left], values[0], special))
    if draw(st.integers(0, 5)) == 0 and values[1] is None:
        number = {"b": True, "i": 3, "u": 3, "f": 1.5, "c": 2.5}[x.dtype.kind]
        return draw(st.sampled_from([(x, number), (number, x)])), {}
    return (x, draw(arrays([b], [right], values[1], special))), {}


@st.composite
def calls(draw, *arguments, **options):
    """Draw (args, kwargs) from strategies and plain values, without options that are `...`."""
    args = tuple(draw(a) if isinstance(a, st.SearchStrategy) else a for a in arguments)
    kwargs = {k: draw(v) if isinstance(v, st.SearchStrategy) else v for k, v in options.items()}
    return args, {k: v for k, v in kwargs.items() if v is not ...}


def unary_calls(dtypes=ALL, **kwargs):
    return calls(arrays(dtypes, **kwargs))


def optional(*values):
    return st.sampled_from([..., *values])


@st.composite
def axis_calls(draw, dtypes=ALL, several=True, keepdims=True, nonempty=False, shapes=None, special=True, **options):
    """(array, keywords): the axis is missing, one from either end, or several."""
    array_shapes = shapes or ([s for s in SHAPES if 0 not in s] if nonempty else SHAPES)
    x = draw(arrays(dtypes, array_shapes, special=special))
    kwargs = {}
    if x.ndim and draw(st.booleans()):
        kwargs["axis"] = draw(st.integers(-x.ndim, x.ndim - 1))
        if several and draw(st.booleans()):
            kwargs["axis"] = tuple(draw(st.permutations(range(x.ndim)))[: draw(st.integers(1, x.ndim))])
    if keepdims and draw(st.booleans()):
        kwargs["keepdims"] = True
    for name, values in options.items():
        value = draw(values)
        if value is not ...:
            kwargs[name] = value
    return (x,), kwargs


@st.composite
def along(draw, dtypes=ALL, axis_needed=False, special=True, shapes=None, **options):
    """An array with dimensions, and one axis."""
    x = draw(arrays(dtypes, shapes or [s for s in SHAPES if s], special=special))
    kwargs = {}
    if axis_needed or x.ndim > 1 or draw(st.booleans()):
        kwargs["axis"] = draw(st.integers(-x.ndim, x.ndim - 1))
    for name, values in options.items():
        value = draw(values)
        if value is not ...:
            kwargs[name] = value
    return (x,), kwargs


# ---- the families


def elements():
    units, positive, small = [0.0, -0.5, 0.25, 1.0, -1.0, 2.0, math.nan], [1.0, 1.5, 8.0, 0.5, math.inf], [0, 1, 2, 3]
    return {
        **dict.fromkeys(("abs", "negative", "positive", "sign", "square"), unary_calls(NUMBERS)),
        **dict.fromkeys(("ceil", "floor", "trunc"), unary_calls(REAL_NUMBERS)),
        "round": unary_calls(NUMBERS),
        **dict.fromkeys(("isfinite", "isinf", "isnan"), unary_calls(NUMBERS)),
        **dict.fromkeys(("acos", "asin"), unary_calls(FLOATING, values=units)),
        "atanh": unary_calls(FLOATING, values=[0.0, -0.5, 0.25, 0.75]),
        "acosh": unary_calls(FLOATING, values=positive[:3]),
        **dict.fromkeys(
            ("asinh", "atan", "cos", "cosh", "exp", "expm1", "sin", "sinh", "tan", "tanh", "reciprocal"),
            unary_calls(FLOATING, values=[0.0, -0.0, 1.0, -0.5, 2.5, 10.0]) | unary_calls(REAL),
        ),
        **dict.fromkeys(
            ("log", "log10", "log1p", "log2", "sqrt"), unary_calls(REAL) | unary_calls(FLOATING, values=positive)
        ),
        **dict.fromkeys(("imag", "real"), unary_calls(COMPLEX)), "conj": unary_calls(COMPLEX),
        "bitwise_invert": unary_calls(WHOLE), "logical_not": unary_calls(BOOLS), "signbit": unary_calls(REAL),
        **dict.fromkeys(("add", "multiply", "subtract"), pairs(NUMBERS)),
        "divide": pairs(FLOATING),
        **dict.fromkeys(
            ("floor_divide", "remainder"),
            pairs(INTEGERS, (None, [1, 2, 3, 7]), False) | pairs(REAL, ([0.0, 7.0, -2.5, 3.25], [1.0, -2.0, 0.75])),
        ),
        "pow": pairs(INTEGERS, ([0, 1, 2, 3], small)) | pairs(REAL) | pairs(COMPLEX, (None, [1.0, 2.0])),
        **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), pairs(WHOLE)),
        **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), pairs(INTEGERS, (None, small))),
        **dict.fromkeys(("equal", "not_equal"), pairs(ALL)),
        **dict.fromkeys(("greater", "greater_equal", "less", "less_equal", "maximum", "minimum"), pairs(REAL_NUMBERS)),
        **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), pairs(BOOLS)),
        **dict.fromkeys(("atan2", "copysign", "hypot", "logaddexp", "nextafter"), pairs(REAL)),
        "clip": calls(arrays(REAL_NUMBERS, special=False), st.sampled_from([None, 0, 1]), st.sampled_from([None, 4, 3]))
        | calls(arrays(REAL, [(2, 3)]), arrays(["f4"], [(3,)], values=[0.0, 1.0])),
    }


def creation():
    shape, dtype = st.sampled_from([*SHAPES, 0, 3]), optional(*ALL)
    return {
        "arange": calls(st.integers(-3, 3), st.sampled_from([None, 4, 7, -2]), st.sampled_from([1, 2, -1]))
        | calls(0.0, st.sampled_from([2.0, -1.0]), 0.5, dtype=optional("f4", "f8")),
        **dict.fromkeys(("zeros", "ones"), calls(shape, dtype=dtype)),
        "full": calls(shape, st.sampled_from([True, 3, 1.5, 2j])) | calls(shape, 1, dtype=dtype),
        **dict.fromkeys(("zeros_like", "ones_like"), calls(arrays(), dtype=dtype)),
        "full_like": calls(arrays(), st.sampled_from([0, 1])),
        "eye": calls(st.integers(0, 3), st.sampled_from([None, 2, 4]), k=st.integers(-4, 4), dtype=dtype),
        "linspace": calls(st.sampled_from([0.0, -1.5]), st.sampled_from([1.0, 0.0]), st.integers(0, 5),
                          endpoint=st.booleans(), dtype=optional("f4", "f8")),
        "meshgrid": calls(*[arrays(["f4"], [(2,), (0,), (1,)])] * 2, indexing=optional("ij"))
        | calls(arrays(NUMBERS, [(3,)])),
        **dict.fromkeys(("tril", "triu"), calls(arrays(ALL, [(2, 3), (0, 2), (2, 3, 2)]), k=st.integers(-4, 4))),
        "asarray": calls(arrays(), copy=optional(True, None))
        | calls(st.sampled_from([True, 3, [1.5, 2], [[1], [2]], 2j])),
        "astype": calls(arrays(REAL_NUMBERS + BOOLS, values=[0, 1, 2]), st.sampled_from(ALL)),
        "broadcast_to": calls(arrays(ALL, [(), (1,), (3,), (2, 1), (1, 3)]), (2, 3)),
        "broadcast_arrays": st.sampled_from(_BROADCASTING).flatmap(
            lambda s: calls(arrays(ALL, [s[0]]), arrays(ALL, [s[1]]))),
    }  # fmt: skip


@st.composite
def array_lists(draw, min_rank=1, **options):
    """A list of arrays of one shape, whose dtypes promote."""
    a, b = draw(st.sampled_from(pair_of_dtypes(ALL)))
    shape = draw(st.sampled_from([s for s in SHAPES if len(s) >= min_rank]))
    (_, drawn_options) = draw(calls(**options))
    return ([draw(arrays([a], [shape])), draw(arrays([b], [shape]))],), drawn_options


@st.composite
def index_calls(draw, whole_rows):
    """An array, indices along an axis (with the rank of the array, or a vector), and the axis."""
    x = draw(arrays(shapes=[(3,), (2, 3), (2, 1, 3)]))
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    shape = [(0,), (2,), (4,)] if not whole_rows else [(*x.shape[: axis % x.ndim], 2, *x.shape[axis % x.ndim + 1 :])]
    return (x, draw(arrays(["i4", "i8"], shape, list(range(n))))), {"axis": axis}


def _moveaxis_calls(x):
    n = range(x.ndim)
    return calls(x, st.sampled_from(n), st.sampled_from(n)) | calls(x, tuple(n), tuple(reversed(n)))


def _reshape_calls(x):
    choices = {(x.size,), (-1,), (1, x.size), x.shape, (*x.shape, 1), tuple(reversed(x.shape))}
    return calls(x, st.sampled_from(sorted(c for c in choices if x.size or -1 not in c)))


def _squeeze_calls(x):
    axes = [i for i, d in enumerate(x.shape) if d == 1]
    return calls(x, st.sampled_from([*axes, tuple(axes), *(i - x.ndim for i in axes)]))


def _roll_calls(x):
    if not x.ndim:
        return calls(x, st.integers(-4, 4))
    axis = st.integers(-x.ndim, x.ndim - 1)
    return calls(x, st.integers(-4, 4), axis=optional(None) | axis) | calls(x, (1, -2), axis=(0, x.ndim - 1))


def manipulation():
    ends = optional(np.array([1, 2], "i4").reshape(1, 2))
    order = {"descending": optional(True), "stable": optional(True)}
    return {
        "concat": array_lists(axis=optional(0, -1, None)), "stack": array_lists(0, axis=optional(0, -1)),
        "expand_dims": arrays().flatmap(lambda x: calls(x, axis=st.integers(-x.ndim - 1, x.ndim))),
        "flip": axis_calls(keepdims=False),
        "moveaxis": arrays(shapes=[s for s in SHAPES if s]).flatmap(_moveaxis_calls),
        "permute_dims": arrays().flatmap(lambda x: calls(x, st.permutations(range(x.ndim)).map(tuple))),
        "repeat": along(axis_needed=True).flatmap(lambda c: calls(c[0][0], st.integers(0, 3), **c[1]))
        | calls(arrays(shapes=[(3,)]), arrays(["i8"], [(3,), (1,)], FEW[:4])),
        "reshape": arrays().flatmap(_reshape_calls), "roll": arrays().flatmap(_roll_calls),
        "squeeze": arrays(shapes=[(1,), (2, 1), (2, 1, 3), (1, 1)]).flatmap(_squeeze_calls),
        "tile": calls(arrays(), st.sampled_from([(), (2,), (0,), (2, 1), (1, 2, 3), (2, 1, 1, 2)])),
        "unstack": along(axis_needed=True),
        **dict.fromkeys(("argmax", "argmin"), axis_calls(REAL_NUMBERS, several=False, nonempty=True)),
        "count_nonzero": axis_calls(),
        "nonzero": unary_calls(shapes=[s for s in SHAPES if s]),
        "searchsorted": calls(arrays(["i4", "i8"], [(0,), (5,)], FEW).map(np.sort), arrays(["i4", "i8"], values=FEW),
                              side=optional("right"))
        | calls(arrays(REAL, [(5,)], FINITE).map(np.sort), arrays(["f8"])),
        "take": index_calls(False), "take_along_axis": index_calls(True),
        "where": pairs(ALL).flatmap(lambda c: calls(
            arrays(BOOLS, [(), (1,), np.broadcast_shapes(*map(np.shape, c[0]))]), *c[0])),
        "argsort": along(INTEGERS + REAL, special=False, axis_needed=True, **order),
        "sort": along(REAL_NUMBERS, special=False, axis_needed=True, **order),
        "cumulative_sum": along(NUMBERS, special=False, include_initial=optional(True), dtype=optional("f8", "c16")),
        "cumulative_prod": along(NUMBERS, special=False, include_initial=optional(True)),
        "diff": along(NUMBERS, special=False, axis_needed=True, n=st.integers(0, 2))
        | calls(arrays(["i4"], [(2, 2), (0, 2)]), prepend=ends, append=ends, axis=0),
        **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), unary_calls(REAL_NUMBERS)),
    }  # fmt: skip


def _matrices(dtypes, *shapes):
    return arrays(dtypes, list(shapes), special=False)


def _promoting_calls(dtypes, *shapes):
    """Two arrays with one of the pairs of shapes, whose dtypes promote."""
    return st.tuples(st.sampled_from(pair_of_dtypes(dtypes)), st.sampled_from(shapes)).flatmap(
        lambda c: calls(*(_matrices([d], s) for d, s in zip(*c, strict=True))))  # fmt: skip


_PRODUCTS = [((2, 3), (3, 2)), ((3,), (3,)), ((3,), (2, 3, 2)), ((2, 3), (3,)), ((2, 1, 3), (3, 2)), ((0, 3), (3, 2)),
             ((2, 0), (0, 3))]  # fmt: skip
_DOTS = [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (2, 3)), ((0,), (0,)), ((2, 0), (2, 0))]


def reductions():
    return {
        **dict.fromkeys(("all", "any"), axis_calls(ALL)),
        **dict.fromkeys(("max", "min"), axis_calls(REAL_NUMBERS, nonempty=True)),
        "mean": axis_calls(FLOATING, special=False),
        "prod": axis_calls(NUMBERS, special=False, dtype=optional("f8", "c8")),
        "sum": axis_calls(
            NUMBERS, special=False, dtype=optional("f4", "i8", "c16").filter(lambda d: d in (..., "c16"))
        ),
        **dict.fromkeys(("std", "var"), axis_calls(REAL, special=False, correction=optional(0, 1, 0.5))),
        "matmul": _promoting_calls(NUMBERS, *_PRODUCTS),
        "matrix_transpose": unary_calls(shapes=[(2, 3), (0, 2), (2, 1, 3)]),
        "tensordot": _promoting_calls(NUMBERS, ((2, 3), (2, 3)), ((2, 0), (2, 0))) | calls(
            *[_matrices(["f8"], (2, 3))] * 2, axes=st.sampled_from([0, ((1,), (1,)), ((0, 1), (0, 1))])),
        "vecdot": _promoting_calls(NUMBERS, *_DOTS),
    }  # fmt: skip


def _spd(dtypes):
    """Draw positive definite matrices, and stacks of them."""

    def make_definite(x):
        x = x / 4
        return (x @ np.conj(np.swapaxes(x, -1, -2)) + 3 * np.eye(x.shape[-1])).astype(x.dtype)

    return arrays(dtypes, [(2, 2), (3, 3), (2, 2, 2), (0, 0), (0, 2, 2)], special=False).map(make_definite)


def linear():
    any_shape = [(2, 3), (3, 2), (2, 2, 3), (3, 3)]
    vectors = [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,))]
    return {
        "linalg.cholesky": calls(_spd(FLOATING), upper=optional(True)),
        "linalg.cross": _promoting_calls(NUMBERS, *vectors),
        **{f"linalg.{n}": calls(_spd(FLOATING)) for n in ("det", "inv", "eigvalsh", "slogdet")},
        "linalg.eigh": calls(_spd(REAL)),
        "linalg.diagonal": calls(_matrices(ALL, *any_shape), offset=st.integers(-2, 2)),
        "linalg.trace": calls(_matrices(NUMBERS, *any_shape), offset=st.integers(-2, 2)),
        "linalg.matmul": _promoting_calls(NUMBERS, *_PRODUCTS), "linalg.vecdot": _promoting_calls(NUMBERS, *_DOTS),
        "linalg.tensordot": _promoting_calls(NUMBERS, ((2, 3), (2, 3))),
        "linalg.matrix_transpose": unary_calls(shapes=[(2, 3), (0, 2), (2, 1, 3)]),
        "linalg.matrix_norm": calls(_matrices(FLOATING, *any_shape), keepdims=optional(True),
                                    ord=optional("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)),
        "linalg.matrix_power": calls(_spd(FLOATING), st.integers(-2, 3)),
        "linalg.matrix_rank": calls(_spd(FLOATING) | _matrices(REAL, *any_shape)),
        "linalg.outer": _promoting_calls(NUMBERS, ((3,), (2,)), ((0,), (2,))),
        "linalg.pinv": calls(_spd(FLOATING)),
        "linalg.qr": calls(_matrices(REAL, *any_shape), mode=optional("complete")),
        "linalg.solve": st.sampled_from(REAL).flatmap(lambda d: calls(_spd([d]).filter(lambda x: x.shape == (2, 2)),
                                                                      _matrices([d], (2,), (2, 3), (2, 2, 1)))),
        "linalg.svd": calls(_spd(REAL), full_matrices=optional(False)),
        "linalg.svdvals": calls(_matrices(FLOATING, *any_shape)),
        "linalg.vector_norm": axis_calls(FLOATING, special=False,
                                         ord=optional(0, 1, 2, 3, math.inf)).filter(lambda c: c[0][0].size),
    }  # fmt: skip


@st.composite
def transform_calls(draw, dtypes, several=False, min_rank=1):
    x = draw(arrays(dtypes, [(3,), (4,), (2, 3), (5, 2)], special=False))
    kwargs = {"norm": draw(st.sampled_from(["backward", "ortho", "forward"]))}
    if several and draw(st.booleans()):
        kwargs["s"] = tuple(draw(st.integers(2, 5)) for _ in range(draw(st.integers(1, x.ndim))))
        if draw(st.booleans()):
            kwargs["axes"] = tuple(range(-len(kwargs["s"]), 0))
    if not several:
        kwargs.update({"axis": draw(st.integers(-x.ndim, x.ndim - 1)), "n": draw(st.sampled_from([None, 2, 4, 5]))})
    if kwargs.get("n") is None and not several and x.shape[kwargs["axis"]] < 2:
        kwargs["n"] = 2
    return (x,), kwargs


def fourier():
    return {
        **{f"fft.{n}": transform_calls(COMPLEX) for n in ("fft", "ifft", "irfft", "hfft")},
        **{f"fft.{n}": transform_calls(REAL) for n in ("rfft", "ihfft")},
        **{f"fft.{n}": transform_calls(COMPLEX, several=True) for n in ("fftn", "ifftn", "irfftn")},
        "fft.rfftn": transform_calls(REAL, several=True),
        **dict.fromkeys(
            ("fft.fftfreq", "fft.rfftfreq"), calls(st.integers(1, 6), d=optional(0.5), dtype=optional("f4"))
        ),
        **{f"fft.{n}": calls(arrays(FLOATING, [(3,), (2, 3)]), axes=optional(0, (0,), -1))
           for n in ("fftshift", "ifftshift")},
    }  # fmt: skip


FAMILIES = {
    "elements": elements(), "creation": creation(), "shaping": manipulation(), "reductions": reductions(),
    "linalg": linear(), "fft": fourier(),
}  # fmt: skip
