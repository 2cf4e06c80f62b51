"""Images as bytes of files, by Pillow."""

from __future__ import annotations

import io

import numpy as np
import pytest

import autoconv as ac

Image = pytest.importorskip("PIL.Image")

PICTURE = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
PNG = ac.io.encode_png(PICTURE)


def test_png_keeps_every_pixel():
    for channels in (1, 2, 3, 4):
        pixels = np.random.default_rng(channels).integers(0, 256, (5, 7, channels), np.uint8)
        np.testing.assert_array_equal(ac.io.decode_png(ac.io.encode_png(pixels)), pixels)
    deep = np.full((1, 2, 1), 300, np.uint16)
    np.testing.assert_array_equal(ac.io.decode_png(ac.io.encode_png(deep), dtype=ac.uint16), deep)
    opaque = ac.io.decode_png(ac.io.encode_png(deep), channels=4, dtype=ac.uint16)
    assert opaque.numpy().tolist() == [[[300, 300, 300, 65535]] * 2]


def test_channels_and_dtypes_are_tensorflows():
    assert ac.io.decode_png(PNG, channels=1).numpy().tolist() == [[[0], [3]], [[6], [9]]]
    assert ac.io.decode_png(PNG, channels=4).numpy()[..., 3].tolist() == [[255, 255], [255, 255]]
    assert ac.io.decode_image(PNG, dtype=ac.uint16).numpy().ravel().tolist() == [257 * i for i in range(12)]
    np.testing.assert_allclose(ac.io.decode_image(PNG, dtype=ac.float32), PICTURE / 255, atol=1e-6)


def test_jpeg_keeps_pixels_approximately():
    pixels = np.tile(np.arange(0, 160, 10, dtype=np.uint8)[:, None, None], (1, 16, 3))
    data = ac.io.encode_jpeg(pixels, quality=100)
    assert np.abs(ac.io.decode_jpeg(data).numpy().astype(int) - pixels).max() <= 4
    assert ac.io.decode_jpeg(data, channels=1).shape == (16, 16, 1)
    assert ac.io.decode_jpeg(data, ratio=2).shape == (8, 8, 3)
    assert ac.io.extract_jpeg_shape(data).numpy().tolist() == [16, 16, 3]
    assert [bool(ac.io.is_jpeg(data)), bool(ac.io.is_jpeg(PNG))] == [True, False]


def test_frames_of_an_animation():
    file = io.BytesIO()
    frames = [Image.new("RGB", (3, 2), colour) for colour in ("red", "blue")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    assert ac.io.decode_image(file.getvalue()).numpy()[:, 0, 0].tolist() == [[255, 0, 0], [0, 0, 255]]
    assert ac.io.decode_gif(file.getvalue()).shape == (2, 2, 3, 3)
    assert ac.io.decode_image(file.getvalue(), expand_animations=False).shape == (2, 3, 3)


def test_in_graphs_and_pipelines():
    shown = ac.function(lambda data: (ac.io.decode_image(data), ac.io.decode_png(data, channels=1)))
    traced = shown.get_concrete_function(ac.TensorSpec([], ac.string)).structured_outputs
    assert [str(value.shape) for value in traced] == ["<unknown>", "(None, None, 1)"]
    np.testing.assert_array_equal(shown(PNG)[0], PICTURE)
    dataset = ac.data.Dataset.from_tensor_slices([PNG.numpy()] * 2).map(ac.io.decode_png).batch(2)
    assert next(iter(dataset)).shape == (2, 2, 2, 3)


def test_bad_input():
    invalid = ac.errors.InvalidArgumentError
    with pytest.raises(invalid, match="Unknown image file format"):
        ac.io.decode_image(b"abc")
    with pytest.raises(invalid, match="`channels` must be 0, 1, 3 or 4 but got 2"):
        ac.io.decode_png(PNG, channels=2)
    with pytest.raises(invalid, match="image must have 1, 2, 3, or 4 channels, got 5"):
        ac.io.encode_png(np.zeros((2, 2, 5), np.uint8))
    with pytest.raises(invalid, match="float32 is not in the list of allowed values: uint16, uint8"):
        ac.io.encode_png(np.zeros((2, 2, 3), np.float32))
    data = PNG.numpy()
    for size in range(0, len(data) - 4, 7):
        with pytest.raises(invalid):
            ac.io.decode_image(data[:size])
