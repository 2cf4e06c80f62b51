"""Code for any size, divided among threads where a call has much work: the same results as for known sizes."""

import ctypes

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.jit.engine import Code

PROGRAMS = {
    "products": (lambda a: a @ a, [(4, 5, 5), (3, 6, 6), (5, 7, 7), (10, 60, 60), (2, 60, 60)]),
    "products of parts": (lambda a: a @ a.transpose(0, 2, 1), [(4, 5, 6), (3, 6, 7), (5, 4, 8), (60, 70, 80)]),
    "products and more": (
        lambda a: np.tanh(a @ a.transpose(0, 2, 1)).sum(-1), [(4, 5, 6), (3, 6, 7), (5, 4, 8), (30, 60, 60)]
    ),
    "einsum": (lambda a: np.einsum("bij,bjk->bik", a, a), [(4, 5, 5), (3, 6, 6), (5, 7, 7), (30, 60, 60)]),
    "sums so far": (lambda a: np.cumsum(a, 1), [(40, 50), (51, 30), (10, 100), (600, 600)]),
    "products so far": (lambda a: np.cumprod(a, 1), [(40, 50), (51, 30), (10, 100), (600, 600)]),
    "of three dimensions": (lambda a: a.cumsum(-1), [(4, 5, 6), (3, 6, 7), (5, 4, 8), (60, 70, 80)]),
    "of the middle one": (lambda a: a.cumsum(1), [(4, 5, 6), (3, 6, 7), (5, 4, 8), (60, 70, 80)]),
    "largest": (lambda a: (a.argmax(1), a.argmin(axis=1)), [(40, 50), (51, 30), (10, 100), (600, 600)]),
    "largest of three": (lambda a: (a.argmax(1), a.argmax(-1)), [(4, 5, 6), (3, 6, 7), (5, 4, 8), (60, 70, 80)]),
    "one open size": (lambda a: a.cumsum(1), [(40, 50), (40, 51), (40, 53), (40, 3200)]),
    "sorts": (lambda a: np.sort(a, axis=1), [(40, 50), (51, 30), (10, 100), (600, 600)]),
    "elements": (lambda a: np.exp(a) * a[:, :1], [(40, 50), (51, 30), (10, 100), (600, 600)]),
    "convolutions": (
        lambda a: (np.convolve(a, a[:3]), np.convolve(a, [0.5, 2.0, -1.0, 1.5], "same")), [(20,), (33,), (7,), (90000,)]
    ),
    "padding": (
        lambda a: (np.pad(a, 1)[2:, 1:-1] - a, np.pad(np.pad(a, ((0, 0), (2, 1))), ((1, 0), (0, 3)))[:, 2:] * 2),
        [(4, 5), (9, 3), (2, 2), (300, 700)],
    ),
    "sums of padding": (
        lambda a: (np.pad(a, ((0, 0), (2, 1))).sum(0), np.pad(a * 2, ((1, 2), (3, 0))).max(1), np.pad(a, 1).sum()),
        [(4, 5), (9, 3), (2, 2), (300, 700)],
    ),
    "by a number": (lambda a: a * a.sum() + a.max(), [(40, 50), (51, 30), (10, 100), (900, 900)]),
    "factors": (
        lambda a: np.linalg.cholesky(a @ a.transpose(0, 2, 1) + 60 * np.eye(a.shape[1])),
        [(4, 5, 5), (3, 6, 6), (5, 7, 7), (40, 60, 60)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.search
def test_large_after_small(name, dtype):
    function, shapes = PROGRAMS[name]
    compiled = autoconv.compile(function)
    for shape in shapes:
        a = np.random.default_rng(len(shape)).random(shape).astype(dtype)
        found, expected = compiled(a), function(a)
        result_tuples = (value if isinstance(value, tuple) else (value,) for value in (found, expected))
        for actual_part, expected_part in zip(*result_tuples, strict=True):
            assert actual_part.dtype == expected_part.dtype
            np.testing.assert_allclose(actual_part, expected_part, rtol=1e-9 if dtype == "float64" else 2e-3)


def test_modules_agree_on_the_layout_of_structures():
    """Offsets of structures that optimisation passes compute equal those of unoptimised code."""
    text = """
    define i64 @NAME(ptr %x) {{
      %place = getelementptr {{ i8, i64, float, i64 }}, ptr %x, i32 0, i32 {number}
      %address = ptrtoint ptr %place to i64
      ret i64 %address
    }}
    """
    for number, distance in enumerate((0, 8, 16, 24)):
        texts = {text.format(number=number).replace("NAME", f"at_level_{level}"): level for level in (3, 1, 0)}
        names = [f"at_level_{level}" for level in texts.values()]
        code = Code(texts, names, {})
        for name in names:
            function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address(name))
            assert function(4096) == 4096 + distance
