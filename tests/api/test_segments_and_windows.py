"""Segments, counts, windows, frames and short-time transforms: by NumPy's results or TensorFlow's rules."""

import numpy as np
import pytest

import autoconv as ac

DATA = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 8.0]])
IDS = [0, 2, -1, 2]  # a negative id is dropped


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(
    ("name", "expected", "empty"),
    [
        ("sum", lambda rows: rows.sum(0), 0.0), ("max", lambda rows: rows.max(0), np.finfo(float).min),
        ("min", lambda rows: rows.min(0), np.finfo(float).max), ("prod", lambda rows: rows.prod(0), 1.0),
        ("mean", lambda rows: rows.mean(0), 0.0), ("sqrt_n", lambda rows: rows.sum(0) / np.sqrt(len(rows)), 0.0),
    ],
)  # fmt: skip
def test_segments_in_any_order(name, expected, empty, graph):
    function = getattr(ac.math, f"unsorted_segment_{name}")
    found = (ac.function(lambda x, i: function(x, i, 3)) if graph else lambda x, i: function(x, i, 3))(
        ac.constant(DATA), ac.constant(IDS)
    )
    rows = [expected(DATA[[0]]), np.full(2, empty), expected(DATA[[1, 3]])]
    np.testing.assert_allclose(found.numpy(), rows)
    with pytest.raises(ac.errors.InvalidArgumentError):
        function(DATA, [0, 1, 2, 3], 3)


@pytest.mark.parametrize(("name", "empty"), [("sum", 0), ("max", 0), ("min", 0), ("prod", 1), ("mean", 0)])
def test_sorted_segments(name, empty):
    found = getattr(ac.math, f"segment_{name}")(DATA, [0, 0, 2, 2])
    expected = [getattr(np, name)(DATA[:2], 0), np.full(2, empty), getattr(np, name)(DATA[2:], 0)]
    np.testing.assert_allclose(found.numpy(), expected)


def test_gradients_go_to_the_extreme_rows():
    v = ac.Variable(DATA)
    with ac.GradientTape() as tape:
        value = ac.reduce_sum(ac.math.unsorted_segment_max(v, [0, 0, 1, 1], 2) * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tape.gradient(value, v).numpy(), [[0, 2], [1, 0], [0, 0], [3, 4]])


def test_counts():
    assert ac.math.bincount([1, 7, 2, 1]).numpy().tolist() == np.bincount([1, 7, 2, 1]).tolist()
    weighted = ac.math.bincount([1, 2, 2], weights=[0.5, 1.0, 2.0], minlength=5)
    assert weighted.numpy().tolist() == np.bincount([1, 2, 2], [0.5, 1, 2], 5).tolist()
    assert ac.math.bincount([1, 7, 2], maxlength=3, binary_output=True).numpy().tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="mutually exclusive"):
        ac.math.bincount([1, 2], weights=[0.5, 1.0], binary_output=True)
    rows = ac.math.bincount([[1, 2, 2], [0, 5, 5]], axis=-1)
    assert rows.numpy().tolist() == [[0, 1, 2, 0, 0, 0], [1, 0, 0, 0, 0, 2]]
    assert ac.math.bincount(np.zeros(0, np.int32)).numpy().tolist() == []
    assert ac.math.invert_permutation([3, 0, 2, 1]).numpy().tolist() == np.argsort([3, 0, 2, 1]).tolist()


@pytest.mark.parametrize("length", [1, 2, 5, 8])
@pytest.mark.parametrize(("name", "a"), [("hann", 0.5), ("hamming", 0.54)])
def test_windows(length, name, a):
    window = getattr(ac.signal, f"{name}_window")
    symmetric = window(length, periodic=False, dtype=ac.float64).numpy()
    np.testing.assert_allclose(symmetric, getattr(np, {"hann": "hanning"}.get(name, name))(length), atol=1e-12)
    if length > 1:  # TensorFlow: a periodic window of odd length has the period of its length less one
        period = length if length % 2 == 0 else length - 1
        expected = a - (1 - a) * np.cos(2 * np.pi * np.arange(length) / period)
        np.testing.assert_allclose(window(length, dtype=ac.float64).numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(ac.signal.kaiser_window(length, 5.0).numpy(), np.kaiser(length, 5.0), rtol=1e-6)


@pytest.mark.parametrize(("length", "step", "pad_end"), [(5, 3, False), (5, 3, True), (4, 4, False), (30, 3, False)])
def test_frames_and_their_sum(length, step, pad_end):
    x = np.random.default_rng(0).normal(size=(2, 23))
    found = ac.signal.frame(x, length, step, pad_end=pad_end).numpy()
    filled = np.pad(x, [(0, 0), (0, length)]) if pad_end else x
    starts = range(0, 23, step) if pad_end else range(0, 23 - length + 1, step)
    expected = np.array([[row[s : s + length] for s in starts] for row in filled]).reshape(2, -1, length)
    np.testing.assert_array_equal(found, expected)
    if found.shape[1]:
        total = np.zeros((2, (found.shape[1] - 1) * step + length))
        for number in range(found.shape[1]):
            total[:, number * step : number * step + length] += found[:, number]
        np.testing.assert_allclose(ac.signal.overlap_and_add(found, step).numpy(), total, atol=1e-12)


def test_gradients_of_frames_are_dense():
    x = ac.constant([1.0, 2.0, 3.0, 4.0])
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = ac.reduce_sum(ac.signal.frame(x, 2, 1) ** 2)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 8.0, 12.0, 8.0]


def test_short_time_transforms_and_their_inverse():
    x = np.random.default_rng(1).normal(size=(2, 40))
    spectra = ac.signal.stft(x, 8, 4)
    frames = np.array([[row[s : s + 8] for s in range(0, 33, 4)] for row in x])
    expected = np.fft.rfft(frames * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 8)))
    np.testing.assert_allclose(spectra.numpy(), expected, atol=1e-12)
    back = ac.signal.inverse_stft(spectra, 8, 4, window_fn=ac.signal.inverse_stft_window_fn(4))
    np.testing.assert_allclose(back.numpy()[:, 4:36], x[:, 4:36], atol=1e-12)
