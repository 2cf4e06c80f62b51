"""Images: the results of TensorFlow 2.21 for the same pixels, and of NumPy."""

import colorsys

import numpy as np
import pytest

import autoconv as ac

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(2, 7, 5, 3)).astype("float32")
BYTES = RNG.integers(0, 256, (6, 5, 3)).astype("uint8")

# The sum of all pixels and the first three of TensorFlow's result.
RESIZED = {
    ("bilinear", False, (11, 9)): (317.948, 0.637, 0.2698, 0.041),
    ("bilinear", False, (3, 10)): (92.893, 0.3294, 0.6654, 0.3746),
    ("bilinear", True, (11, 9)): (317.948, 0.637, 0.2698, 0.041),
    ("bilinear", True, (3, 10)): (96.666, 0.4503, 0.5496, 0.2756),
    ("nearest", False, (11, 9)): (323.961, 0.637, 0.2698, 0.041),
    ("nearest", False, (3, 10)): (92.392, 0.1757, 0.8632, 0.5415),
    ("nearest", True, (11, 9)): (323.961, 0.637, 0.2698, 0.041),
    ("nearest", True, (3, 10)): (92.392, 0.1757, 0.8632, 0.5415),
    ("bicubic", False, (11, 9)): (318.778, 0.7242, 0.1782, -0.0732),
    ("bicubic", False, (3, 10)): (92.757, 0.2967, 0.7212, 0.4202),
    ("bicubic", True, (11, 9)): (318.773, 0.7242, 0.1782, -0.0731),
    ("bicubic", True, (3, 10)): (96.631, 0.4698, 0.5533, 0.2643),
    ("area", False, (11, 9)): (318.948, 0.637, 0.2698, 0.041),
    ("area", False, (3, 10)): (96.651, 0.4466, 0.5411, 0.2689),
    ("area", True, (11, 9)): (318.948, 0.637, 0.2698, 0.041),
    ("area", True, (3, 10)): (96.651, 0.4466, 0.5411, 0.2689),
    ("lanczos3", False, (11, 9)): (318.902, 0.8044, 0.1144, -0.1596),
    ("lanczos3", False, (3, 10)): (92.403, 0.3144, 0.7217, 0.4433),
    ("lanczos3", True, (11, 9)): (318.902, 0.8044, 0.1144, -0.1596),
    ("lanczos3", True, (3, 10)): (96.628, 0.4996, 0.5667, 0.258),
    ("lanczos5", False, (11, 9)): (319.058, 0.8204, 0.0801, -0.1843),
    ("lanczos5", False, (3, 10)): (91.877, 0.3328, 0.7227, 0.471),
    ("lanczos5", True, (11, 9)): (319.058, 0.8204, 0.0801, -0.1843),
    ("lanczos5", True, (3, 10)): (96.611, 0.5125, 0.5822, 0.2604),
    ("gaussian", False, (11, 9)): (318.972, 0.5784, 0.3317, 0.1132),
    ("gaussian", False, (3, 10)): (94.173, 0.3344, 0.6508, 0.3644),
    ("gaussian", True, (11, 9)): (318.972, 0.5784, 0.3317, 0.1132),
    ("gaussian", True, (3, 10)): (96.481, 0.4721, 0.5252, 0.2935),
    ("mitchellcubic", False, (11, 9)): (318.831, 0.6577, 0.2492, 0.0136),
    ("mitchellcubic", False, (3, 10)): (93.493, 0.3189, 0.6818, 0.3874),
    ("mitchellcubic", True, (11, 9)): (318.831, 0.6577, 0.2492, 0.0136),
    ("mitchellcubic", True, (3, 10)): (96.59, 0.476, 0.537, 0.2751),
}


@pytest.mark.parametrize(("method", "antialias", "size"), RESIZED)
@pytest.mark.search
def test_resizing(method, antialias, size):
    total, *first = RESIZED[method, antialias, size]
    for resize in (ac.image.resize, ac.function(lambda x: ac.image.resize(x, size, method, antialias=antialias))):
        found = (resize(X, size, method, antialias=antialias) if resize is ac.image.resize else resize(X)).numpy()
        assert found.shape == (2, *size, 3) and found.dtype == np.float32
        np.testing.assert_allclose(found.astype(float).sum(), total, rtol=2e-5)
        np.testing.assert_allclose(found.ravel()[:3], first, atol=6e-5)


def test_bicubic_weights_come_from_a_table():
    expected = [-0.384964, 0.4006794, 2.4369364, 4, 2.9440248, 1.3150014, 0.711277]  # TensorFlow's
    found = ac.image.resize([[[0.0], [4.0], [1.0]]], [1, 7], "bicubic").numpy().ravel()
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_sizes_known_at_run_time():
    spec = [ac.TensorSpec([None, None, 3], ac.float32)]
    resize = ac.function(lambda x: ac.image.resize(x, [4, 6]), input_signature=spec)
    for image in (X[0], X[1][:3], X[0][:, :2]):
        np.testing.assert_allclose(resize(image).numpy(), ac.image.resize(image, [4, 6]).numpy(), rtol=1e-6)


def test_proportions_and_wrong_arguments():
    assert ac.image.resize(BYTES, [9, 9], preserve_aspect_ratio=True).shape == (9, 8, 3)
    padded = ac.image.resize_with_pad(BYTES, 8, 8).numpy()
    assert padded.shape == (8, 8, 3) and abs(padded.sum() - 18492.24) < 0.1 and not padded[:, 6:].any()
    assert ac.image.resize(BYTES, [6, 5]).dtype == ac.float32
    for arguments in ((BYTES[0], [2, 2]), (BYTES, [2]), (BYTES, [2, 2], "best")):
        with pytest.raises(ValueError):
            ac.image.resize(*arguments)


def test_dtypes():
    convert = ac.image.convert_image_dtype
    np.testing.assert_allclose(convert(BYTES, ac.float32).numpy(), BYTES / 255.0, rtol=1e-6)
    assert convert(convert(BYTES, ac.float32), ac.uint8).numpy().tolist() == BYTES.tolist()
    assert convert(ac.constant([0, 255], ac.uint8), ac.uint16).numpy().tolist() == [0, 255 * 256]
    assert convert(ac.constant([0, 1000, 32767], ac.int16), ac.uint8).numpy().tolist() == [0, 7, 255]
    assert convert([2.0], ac.uint8, saturate=True).numpy().tolist() == [255]


def test_crops_flips_and_rotations():
    image = ac.image
    assert image.flip_left_right(BYTES).numpy().tolist() == BYTES[:, ::-1].tolist()
    assert image.flip_up_down(X).numpy().tolist() == X[:, ::-1].tolist()
    assert image.transpose(BYTES).numpy().tolist() == BYTES.transpose(1, 0, 2).tolist()
    for k in range(-1, 5):
        assert image.rot90(BYTES, k).numpy().tolist() == np.rot90(BYTES, k).tolist()
        assert image.rot90(X, k).numpy().tolist() == np.rot90(X, k, (1, 2)).tolist()
    assert image.crop_to_bounding_box(BYTES, 1, 2, 3, 2).numpy().tolist() == BYTES[1:4, 2:4].tolist()
    for box in ((-1, 0, 1, 1), (0, 0, 1, 0), (0, 1, 1, BYTES.shape[1]), (BYTES.shape[0], 0, 1, 1)):
        with pytest.raises(ValueError, match="must be >= target"):
            image.crop_to_bounding_box(BYTES, *box)
    padded = np.pad(BYTES, [(1, 2), (2, 1), (0, 0)])
    assert image.pad_to_bounding_box(BYTES, 1, 2, 9, 8).numpy().tolist() == padded.tolist()
    assert image.central_crop(BYTES, 0.5).shape == (4, 3, 3)
    found = image.resize_with_crop_or_pad(BYTES, 4, 9).numpy()
    assert found.tolist() == np.pad(BYTES[1:5], [(0, 0), (2, 2), (0, 0)]).tolist()


def test_colours():
    hsv = ac.image.rgb_to_hsv(X).numpy()
    expected = [colorsys.rgb_to_hsv(*map(float, pixel)) for pixel in X.reshape(-1, 3)]
    np.testing.assert_allclose(hsv.reshape(-1, 3), expected, atol=1e-6)
    np.testing.assert_allclose(ac.image.hsv_to_rgb(hsv).numpy(), X, atol=1e-6)
    gray = ac.image.rgb_to_grayscale(X).numpy()
    np.testing.assert_allclose(gray[..., 0], X @ np.array([0.2989, 0.587, 0.114]), atol=1e-6)
    assert ac.image.grayscale_to_rgb(gray).shape == X.shape
    np.testing.assert_allclose(ac.image.adjust_brightness(X, -0.2).numpy(), X - np.float32(0.2), atol=1e-6)
    mean = X.mean((1, 2), keepdims=True)
    np.testing.assert_allclose(ac.image.adjust_contrast(X, 1.7).numpy(), (X - mean) * 1.7 + mean, atol=1e-6)
    adjusted = ac.image.adjust_hue(X, 0.3).numpy().reshape(-1, 3)
    expected = [colorsys.hsv_to_rgb((h + 0.3) % 1.0, s, v) for h, s, v in expected]
    np.testing.assert_allclose(adjusted, expected, atol=1e-5)
    np.testing.assert_allclose(ac.image.adjust_saturation(X, 0.0).numpy().std(-1), 0, atol=1e-6)


def test_quality_measures_and_edges():
    np.testing.assert_allclose(
        ac.image.total_variation(ac.constant(X)).numpy(),
        np.abs(np.diff(X, axis=1)).sum((1, 2, 3)) + np.abs(np.diff(X, axis=2)).sum((1, 2, 3)), rtol=1e-5,
    )  # fmt: skip
    standard = ac.image.per_image_standardization(X).numpy()
    np.testing.assert_allclose(standard.mean((1, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(standard.std((1, 2, 3)), 1, rtol=1e-5)
    error = ((X[:1] - X[1:]) ** 2).mean((1, 2, 3))
    np.testing.assert_allclose(ac.image.psnr(X[:1], X[1:], 1.0).numpy(), -10 * np.log10(error), rtol=1e-5)
    down, right = ac.image.image_gradients(ac.constant(X))
    np.testing.assert_allclose(down.numpy()[:, :-1], np.diff(X, axis=1), atol=1e-6)
    assert not down.numpy()[:, -1].any() and not right.numpy()[:, :, -1].any()
    edges = ac.image.sobel_edges(ac.constant(X)).numpy()
    around = np.pad(X, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    kernel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    expected = sum(kernel[i, j] * around[:, i : i + 7, j : j + 5] for i in range(3) for j in range(3))
    np.testing.assert_allclose(edges[..., 0], expected, atol=1e-5)


# The sums of both images in TensorFlow's results: with a transform for each, and with the first one for both.
PROJECTED = {
    ("NEAREST", "CONSTANT"): ([75.00900268554688, 72.0], [75.00900268554688, 71.94000244140625]),
    ("NEAREST", "REFLECT"): ([78.05400085449219, 75.89900207519531], [78.05400085449219, 72.01699829101562]),
    ("NEAREST", "WRAP"): ([81.37799835205078, 79.00399780273438], [81.37799835205078, 74.71299743652344]),
    ("NEAREST", "NEAREST"): ([79.802001953125, 64.8219985961914], [79.802001953125, 75.20600128173828]),
    ("BILINEAR", "CONSTANT"): ([73.43800354003906, 72.0], [73.43800354003906, 73.82099914550781]),
    ("BILINEAR", "REFLECT"): ([76.74400329589844, 75.89900207519531], [76.74400329589844, 74.41899871826172]),
    ("BILINEAR", "WRAP"): ([80.02100372314453, 79.00399780273438], [80.02100372314453, 75.5530014038086]),
    ("BILINEAR", "NEAREST"): ([78.14700317382812, 64.8219985961914], [78.14700317382812, 76.3499984741211]),
}


@pytest.mark.parametrize(("interpolation", "mode"), PROJECTED)
def test_projections(interpolation, mode):
    transforms = np.array([[0.9, -0.3, 1.2, 0.25, 1.1, -2.0, 0.01, -0.02], [1, 0, -8, 0, 1, 9, 0, 0]], "float32")
    for matrices, expected in zip((transforms, transforms[:1]), PROJECTED[interpolation, mode], strict=True):
        found = ac.tensorflow.raw_ops.ImageProjectiveTransformV3(
            images=X, transforms=matrices, output_shape=[6, 8], fill_value=0.5, interpolation=interpolation,
            fill_mode=mode,
        )  # fmt: skip
        assert found.shape == (2, 6, 8, 3)
        np.testing.assert_allclose(found.numpy().sum((1, 2, 3)), expected, atol=2e-3)


def test_colours_have_three_channels():
    for function in (ac.image.rgb_to_hsv, ac.image.hsv_to_rgb):
        with pytest.raises(ac.errors.InvalidArgumentError, match="must have 3 channels"):
            function(np.zeros([2, 2, 4], np.float32))


def test_bicubic_weights_are_those_of_tensorflows_table():
    image = np.arange(48, dtype=np.float32).reshape(1, 4, 4, 3) / 48
    rows = ac.image.resize(image, [3, 3], "bicubic")[0, :, :, 0]
    expected = [[0.03221304, 0.11952043, 0.2068278], [0.3814426, 0.46875, 0.5560574]]
    np.testing.assert_allclose(rows[:2], expected, rtol=1e-6)
    with pytest.raises(ac.errors.InvalidArgumentError, match="output dimensions must be positive"):
        ac.image.resize(image, [0, 2])
