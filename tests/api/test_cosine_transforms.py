"""Cosine transforms, mel scale and transforms of several dimensions, beside the figures that TensorFlow 2.21 prints."""

import numpy as np
import pytest

import autoconv as ac
from tests.api.figures import assert_close, eager_and_staged, gradients

G = ac.signal
X = np.array([1.0, -2.0, 0.5, 3.0], np.float32)
FIGURES = {
    "dct 1": [1.0, -4.5, 5.5, 3.0],
    "dct 2": [5.0, -5.6089, 7.7782, 3.0887],
    "dct 3": [0.3077, -6.7811, 7.3669, 3.1065],
    "dct 4": [0.3618, -1.8709, 10.2182, -2.4408],
    "idct 1": [1.0, -4.5, 5.5, 3.0],
    "idct 2": [0.3077, -6.7811, 7.3669, 3.1065],
    "idct 3": [5.0, -5.6089, 7.7782, 3.0887],
    "idct 4": [0.3618, -1.8709, 10.2182, -2.4408],
    "ortho 2": [1.25, -1.9831, 2.75, 1.092],
    "ortho 3": [0.2552, -2.251, 2.751, 1.2448],
    "ortho 4": [0.1279, -0.6615, 3.6127, -0.8629],
    "cut": [-1.0, 0.866, 5.5],
    "padded": [5.0, -3.9757, 0.0, 10.6861, 0.0],
    "mdct": [[2.7932, 2.0824, -1.0581, 0.1606], [-2.6177, 1.7743, 1.091, 0.2136], [0.6288, -4.402, -0.3681, -0.4398]],
    "ortho mdct": [[1.0047, 0.7782, -0.4524, 0.1128], [-0.9708, 0.5404, 0.4569, 0.0536], [0.2643, -1.4847, -0.145,
        -0.1829]],
    "inverse mdct": [-0.0084, -0.1922, 0.3648, 0.1406, -0.7568, -0.9589, -0.2794, 0.657, 0.9894, 0.4121, -0.544, -1.0,
        -0.4959, 0.7374, 0.3884, -0.0297],
    "mel": [[0.0, 0.0, 0.0], [0.9781, 0.0, 0.0], [0.1817, 0.8183, 0.0], [0.0, 0.5598, 0.4402], [0.0, 0.0658, 0.9342],
        [0.0, 0.0, 0.656], [0.0, 0.0, 0.3058], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "mfcc": [[1.7678, -1.9831, 2.75, 1.092]],
    "size of rfft2d": [[[61.4221, 31.6224, 17.4873, 10.3714], [43.373, 20.0664, 10.4029, 3.6359]]],
    "irfft2d": [[[13.819, -1.6454, -0.1595, -0.1595, -1.6454], [-6.1438, 3.3129, -0.6923, 0.8778, -2.4592], [-6.1438,
        -2.4592, 0.8778, -0.6923, 3.3129]]],
}  # fmt: skip


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms(kind):
    for transform in eager_and_staged(lambda x: (G.dct(x, type=kind), G.idct(x, type=kind))):
        forward, inverse = transform(ac.constant(X))
        assert_close(forward, FIGURES[f"dct {kind}"])
        assert_close(inverse, FIGURES[f"idct {kind}"])
    factor = 2 * (len(X) - 1) if kind == 1 else 2 * len(X)
    assert_close(G.idct(G.dct(X, type=kind), type=kind), X * factor)
    if kind > 1:
        assert_close(G.dct(X, type=kind, norm="ortho"), FIGURES[f"ortho {kind}"])
        assert_close(G.idct(G.dct(X, type=kind, norm="ortho"), type=kind, norm="ortho"), X)
    matrix = np.stack([G.dct(row, type=kind).numpy() for row in np.eye(4)], 1)
    assert_close(gradients(lambda x: G.dct(x, type=kind), X.astype(np.float64))[0], 2 * matrix.T @ matrix @ X)


def test_lengths_and_mistakes_of_cosine_transforms():
    assert_close(G.dct(X, n=3), FIGURES["cut"])
    assert_close(G.dct(X, n=5), FIGURES["padded"])
    for wrong in ({"type": 5}, {"norm": "forward"}, {"type": 1, "norm": "ortho"}, {"n": 0}):
        with pytest.raises(ValueError):
            G.dct(X, **wrong)


def test_lapped_transforms():
    signal = np.sin(np.arange(16.0)).astype(np.float32)
    assert_close(G.mdct(signal, 8), FIGURES["mdct"])
    assert_close(G.mdct(signal, 8, G.kaiser_bessel_derived_window, norm="ortho"), FIGURES["ortho mdct"])
    for restored in eager_and_staged(lambda x: G.inverse_mdct(G.mdct(x, 8))):
        found = restored(ac.constant(signal))
        assert_close(found, FIGURES["inverse mdct"])
        assert_close(found[4:12], signal[4:12])


def test_mel_scale():
    assert_close(G.linear_to_mel_weight_matrix(3, 9, 8000, 100.0, 3500.0), FIGURES["mel"])
    assert_close(G.mfccs_from_log_mel_spectrograms(X[None]), FIGURES["mfcc"])
    with pytest.raises(ValueError, match="upper_edge_hertz"):
        G.linear_to_mel_weight_matrix(3, 9, 8000, 100.0, 4500.0)


def test_transforms_over_several_dimensions():
    x = np.arange(12.0).reshape(1, 3, 4) ** 1.5
    assert_close(abs(G.rfft2d(x.astype(np.float32), [2, 6]).numpy()), FIGURES["size of rfft2d"], 1e-3)
    assert_close(G.irfft2d(x.astype(np.complex64), [3, 5]), FIGURES["irfft2d"], 1e-3)
    for axes in ((0, 1, 2), (2, 1), (1,)):
        sizes = [2, 3, 5][: len(axes)]
        wide = x + 0.5j
        assert_close(G.fftnd(wide, sizes, axes), np.fft.fftn(wide, sizes, axes), 1e-9)
        assert_close(G.ifftnd(wide, None, axes, "ortho"), np.fft.ifftn(wide, None, axes, "ortho"), 1e-9)
        assert_close(G.rfftnd(x, sizes, axes), np.fft.rfftn(x, sizes, axes), 1e-9)
        assert_close(G.irfftnd(wide, sizes, axes), np.fft.irfftn(wide, sizes, axes), 1e-9)
    assert_close(G.irfft3d(G.rfft3d(ac.constant(x))), x, 1e-9)


def test_the_result_of_a_transform_has_the_given_name():
    for axes in ([0], [1], [0, 1]):
        with ac.Graph().as_default():
            x = ac.compat.v1.placeholder(ac.float32, [2, 4])
            assert G.rfftnd(x, axes=axes, name="spectrum").op.name == "spectrum"
            assert G.irfftnd(ac.cast(x, ac.complex64), axes=axes, name="signal").op.name == "signal"
