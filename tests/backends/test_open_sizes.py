"""Functions of open sizes as StableHLO modules, refined by XLA, and as ONNX models, compared with NumPy."""

import numpy as np
import pytest

import autoconv
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import TensorType
from tests.backends.portable_samples import assert_close, close_sizes, run_stablehlo
from tests.clibrary.calling import Caller

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")


def filled_by_a_loop(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = 2.0 * x[i]
    return y


def sieve(x):
    is_prime = np.ones(len(x), dtype=bool)
    is_prime[:2] = False
    for i in range(2, len(x)):
        if is_prime[i]:
            for j in range(i * i, len(x), i):
                is_prime[j] = False
    return is_prime


def padded_sum(x):
    padded = np.zeros(len(x) + 2)
    padded[1:-1] = x
    return padded[:-2] + padded[1:-1] + padded[2:]


def bubble_sort(x):
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def smoothed(x):
    y = x.copy()
    for _ in range(3):
        y[1:-1] = 0.5 * y[1:-1] + 0.25 * (y[:-2] + y[2:])
    return y


def written_from_the_end(x):
    x = x.copy()
    x[-1] *= 2.0
    x[-2] += x[0]
    return x


def edges_joined(x):
    x = x.copy()
    x[:, -1] = x[:, 0]
    x[-1, -2] = 3.0
    x[-2] *= 2.0
    return x


def longest_rise(x):
    best = length = 1
    for i in range(1, len(x)):
        length = length + 1 if x[i] > x[i - 1] else 1
        best = max(best, length)
    return best


def row_sums_by_a_loop(x):
    total = np.zeros(x.shape[1])
    for row in range(x.shape[0]):
        total += x[row] * (row + 1)
    return total


def in_pairs(x):
    try:
        return x.reshape(-2, 2)[:, 0].sum()
    except ValueError:
        return -x.sum()


# Functions whose sizes and positions follow from the sizes of the argument; C libraries are built of these, too.
SIZED_VECTORS = {
    "centred spectrum": lambda x: np.fft.fftshift(x),
    "spectrum from its centre": lambda x: np.fft.ifftshift(x),
    "triangle of ones": lambda x: np.tri(len(x), len(x) // 2, 1),
    "pad by sizes": lambda x: np.pad(x, (len(x) // 2, len(x)), constant_values=2.5),
    "reflection by sizes": lambda x: np.pad(x, (0, len(x) - 1), mode="reflect"),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3).sum(-1),
    "without an element": lambda x: np.delete(x, -2),
    "with an element": lambda x: np.insert(x, 1, 0.75),
    "without elements": lambda x: np.delete(x, [0, -1]),
    "without a slice": lambda x: np.delete(x, slice(1, -1)),
    "with elements": lambda x: np.insert(x, [2, 0], [0.75, 0.5]),
    "roll by a size": lambda x: np.roll(x, len(x) // 3 - 7),
}
SIZED_MATRICES = {
    "centred spectrum": lambda x: np.fft.fftshift(x, axes=1),
    "pad by sizes": lambda x: np.pad(x, ((0, x.shape[1]), (1, 0))),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)).sum((0, 3)),
    "without a column": lambda x: np.delete(x, 1, axis=1),
    "with a row": lambda x: np.insert(x, -1, x[0], axis=0),
    "below a diagonal by sizes": lambda x: np.tril(x, x.shape[0] - x.shape[1]),
}
VECTORS = {
    **SIZED_VECTORS,
    "reshape in a try": in_pairs,
    "spectrum": lambda x: np.fft.fft(x),
    "inverse of a spectrum": lambda x: np.fft.ifft(x * (1.0 + 2.0j), norm="ortho"),
    "spectrum of reals": lambda x: np.fft.rfft(x, norm="forward"),
    "samples of a spectrum": lambda x: np.fft.irfft(x * (1.0 + 2.0j)),
    "seven samples of a spectrum": lambda x: np.fft.irfft(x * (1.0 + 2.0j), 7),
    "squeeze": lambda x: x[:, None].squeeze(1),
    "writes from the end": written_from_the_end,
    "zeros": lambda x: np.zeros(len(x)) + x,
    "full": lambda x: np.full((len(x), 2), 3.0) * x[:, None],
    "arange": lambda x: np.arange(len(x)) * x,
    "arange as a result": lambda x: np.arange(1, 2 * len(x), 2),
    "arange of half": lambda x: np.arange(len(x) // 2),
    "eye": lambda x: np.eye(len(x)) + x,
    "linspace": lambda x: np.linspace(0.0, 1.0, len(x)) + x,
    "tile": lambda x: np.tile(x, 2),
    "repeat": lambda x: np.repeat(x, 3),
    "differences": lambda x: x[1:] - x[:-1],
    "slices": lambda x: x[::2] + 0 * x[::-2],
    "reversed": lambda x: x[::-1],
    "last ones": lambda x: x[-3:],
    "backwards": lambda x: x[-2:0:-1],
    "halves": lambda x: np.concatenate([x[len(x) // 2 :], x[: len(x) // 2]]),
    "cumsum": lambda x: np.cumsum(x),
    "cumprod": lambda x: np.cumprod(x),
    "running maximum": lambda x: np.maximum.accumulate(x),
    "diff": lambda x: np.diff(x),
    "roll": lambda x: np.roll(x, 2),
    "sort": lambda x: np.sort(x),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "take": lambda x: x[np.argsort(x, kind="stable")],
    "argmax": lambda x: np.argmax(x),
    "outer": lambda x: np.outer(x, x),
    "pad": lambda x: np.pad(x, 1),
    "mean": lambda x: x - x.mean(),
    "variance": lambda x: np.var(x),
    "polynomial": lambda x: np.vander(x, 3),
    "convolution": lambda x: np.convolve(x, np.array([0.25, 0.5, 0.25])),
    "diagonal matrix": lambda x: np.diag(x),
    "triangle": lambda x: np.tril(np.outer(x, x)),
    "trapezoids": lambda x: np.sum(0.5 * (x[1:] + x[:-1])),
    "interpolation": lambda x: np.interp(0.3, np.linspace(0.0, 1.0, len(x)), x),
    "nonzero count": lambda x: np.count_nonzero(x > 0.5),
    "filled by a loop": filled_by_a_loop,
    "sieve": sieve,
    "padded sum": padded_sum,
    "bubble sort": bubble_sort,
    "smoothed": smoothed,
    "longest rise": longest_rise,
}
MATRICES = {
    **SIZED_MATRICES,
    "spectrum of columns": lambda x: np.fft.fft(x, axis=0),
    "samples of two dimensions": lambda x: np.fft.irfft2(x + 1.0j),
    "trace": lambda x: np.trace(x @ x.T),
    "writes from the end": edges_joined,
    "diagonal": lambda x: np.diagonal(x @ x.T),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "einsum diagonal": lambda x: np.einsum("ii->i", x @ x.T),
    "einsum trace": lambda x: np.einsum("ii", x @ x.T),
    "cumsum of columns": lambda x: np.cumsum(x, axis=0),
    "squeeze": lambda x: x[:, None, :, None].squeeze((1, 3)),
    "trace below the diagonal": lambda x: np.trace(x, -1),
    "column": lambda x: x[:, 1],
    "row by a number": lambda x: x[np.argmax(x[:, 0])],
    "rows": lambda x: x[np.argsort(x[:, 0], kind="stable")],
    "inner": lambda x: x[1:-1, 1:-1],
    "neighbours": lambda x: x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:],
    "distances": lambda x: ((x[:, None] - x[None]) ** 2).sum(-1),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True),
    "stack": lambda x: np.stack([x, 2.0 * x], axis=1),
    "upper": lambda x: np.triu(x),
    "argmax": lambda x: np.argmax(x, axis=1),
    "norms": lambda x: np.sqrt(np.einsum("ij,ij->i", x, x)),
    "flip": lambda x: np.flip(x, 1),
    "kron": lambda x: np.kron(x, np.eye(2)),
    "row sums by a loop": row_sums_by_a_loop,
}
# Functions of tensors, each with NumPy's.
TENSORS = {
    "reshape": (lambda x: autoconv.reshape(x, [-1]), lambda x: x.reshape(-1)),
    "reshape by sizes": (
        lambda x: autoconv.reshape(x, [autoconv.shape(x)[1], -1]), lambda x: x.reshape(x.shape[1], -1)
    ),
    "fill": (lambda x: autoconv.fill(autoconv.shape(x), x[0, 0]), lambda x: np.full(x.shape, x[0, 0])),
    "range": (lambda x: autoconv.range(2, 3 * autoconv.shape(x)[0], 2), lambda x: np.arange(2, 3 * len(x), 2, "i4")),
    "one_hot": (lambda x: autoconv.one_hot([1, 0], autoconv.shape(x)[0]), lambda x: np.eye(len(x), dtype="f4")[[1, 0]]),
    "eye": (lambda x: autoconv.eye(autoconv.shape(x)[0]), lambda x: np.eye(len(x), dtype=np.float32)),
    "tile": (lambda x: autoconv.tile(x, [1, autoconv.shape(x)[0]]), lambda x: np.tile(x, (1, len(x)))),
    "pad": (
        lambda x: autoconv.pad(x, [[0, autoconv.shape(x)[0]], [1, 0]]), lambda x: np.pad(x, ((0, len(x)), (1, 0)))
    ),
    "broadcast_to": (
        lambda x: autoconv.broadcast_to(x[0], autoconv.shape(x)), lambda x: np.broadcast_to(x[0], x.shape)
    ),
    "segment_sum": (
        lambda x: autoconv.math.unsorted_segment_sum(
            x, autoconv.range(autoconv.shape(x)[0]) // 2, autoconv.shape(x)[0]
        ),
        lambda x: np.concatenate([np.add.reduceat(x, range(0, len(x), 2)), np.zeros((len(x) // 2, x.shape[1]))]),
    ),
    "top_k": (
        lambda x: autoconv.math.top_k(x, autoconv.shape(x)[1] - 1)[0], lambda x: np.sort(x)[:, ::-1][:, :-1]
    ),
    "linspace": (
        lambda x: autoconv.linspace(0.0, 1.0, autoconv.shape(x)[0]), lambda x: np.linspace(0, 1, len(x), dtype="f4")
    ),
    "split": (lambda x: autoconv.split(x, [1, autoconv.shape(x)[0] - 1])[1], lambda x: x[1:]),
    "reflect": (
        lambda x: autoconv.pad(x, [[2, 1], [0, 0]], "REFLECT"), lambda x: np.pad(x, ((2, 1), (0, 0)), "reflect")
    ),
    "symmetric": (
        lambda x: autoconv.pad(x, [[2, 1], [0, 3]], "SYMMETRIC"), lambda x: np.pad(x, ((2, 1), (0, 3)), "symmetric")
    ),
    "band": (
        lambda x: autoconv.linalg.band_part(x, 0, autoconv.shape(x)[1] - 2),
        lambda x: np.triu(np.tril(x, x.shape[1] - 2)),
    ),
    "cumsum": (lambda x: autoconv.cumsum(x, 0, True, True), lambda x: np.cumsum(x[::-1], 0)[::-1] - x),
    "roll": (lambda x: autoconv.roll(x, 5, 0), lambda x: np.roll(x, 5, 0)),
    "reverse": (lambda x: autoconv.reverse(x, [0]), lambda x: x[::-1]),
    "while": (
        lambda x: autoconv.while_loop(lambda i, y: i < autoconv.shape(x)[0], lambda i, y: (i + 1, y + x[i]), (0, x))[1],
        lambda x: x + x.sum(0),
    ),
}
CASES = {
    **{name: (f, f, "float64[n]", "compile", [(3,), (8,), (13,)]) for name, f in VECTORS.items()},
    **{f"{name} of matrices": (f, f, "float64[n,m]", "compile", [(3, 4), (7, 3)]) for name, f in MATRICES.items()},
    **{f"{name} of tensors": (*pair, "float64[n,m]", "function", [(3, 4), (8, 3)]) for name, pair in TENSORS.items()},
}


@pytest.fixture(params=CASES)
def case(request):
    function, plain, spec, contract, shapes = CASES[request.param]
    arguments = [np.random.default_rng(0).uniform(0.1, 0.9, shape) for shape in shapes]
    return function, spec, contract, [(x, np.asarray(plain(x.copy()))) for x in arguments]


def test_stablehlo(case):
    function, spec, contract, calls = case
    module = autoconv.stablehlo.export(function, spec, contract=contract)
    for x, expected in calls:
        types = [TensorType(as_dtype(expected.dtype), expected.shape)]
        (found,), word = run_stablehlo(close_sizes(module.text, [x]), [x], types)
        assert word == 0, module.places[word - 1]
        assert_close(found, expected)


def test_onnx(case):
    function, spec, contract, calls = case
    run = autoconv.onnx.load(autoconv.onnx.export(function, spec, contract=contract))
    for x, expected in calls:
        assert_close(run(x), expected)


@pytest.mark.parametrize(("functions", "spec"), [(SIZED_VECTORS, "float64[n]"), (SIZED_MATRICES, "float64[n,m]")])
def test_c_library(tmp_path, functions, spec):
    for i, (name, function) in enumerate(functions.items()):
        library = autoconv.clibrary.build(function, spec, to=tmp_path / f"f{i}", name="f", contract="compile")
        for size in (3, 8):
            x = np.random.default_rng(0).uniform(0.1, 0.9, (size, size + 1)[: spec.count(",") + 1])
            assert_close(Caller(library)(x)["value"], function(x), name)
