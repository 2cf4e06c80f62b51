"""Images changed at random, colour spaces, patches and structural similarity, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac

IMAGE = np.random.default_rng(0).uniform(0, 1, (5, 6, 3)).astype(np.float32)
SEED = [3, 7]


def drawn(low: float, high: float) -> Any:
    return ac.random.stateless_uniform([], SEED, low, high)


def test_stateless_changes_use_a_stateless_draw() -> None:
    image = ac.image
    pairs = [
        (image.stateless_random_brightness(IMAGE, 0.3, SEED), IMAGE + drawn(-0.3, 0.3)),
        (image.stateless_random_contrast(IMAGE, 0.2, 0.8, SEED), image.adjust_contrast(IMAGE, drawn(0.2, 0.8))),
        (image.stateless_random_saturation(IMAGE, 0.2, 0.8, SEED), image.adjust_saturation(IMAGE, drawn(0.2, 0.8))),
        (image.stateless_random_hue(IMAGE, 0.1, SEED), image.adjust_hue(IMAGE, drawn(-0.1, 0.1))),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    staged = ac.function(lambda x: ac.image.stateless_random_crop(x, [2, 3, 3], SEED))
    found = ac.image.stateless_random_crop(IMAGE, [2, 3, 3], SEED).numpy()
    parts = [IMAGE[i : i + 2, j : j + 3] for i in range(4) for j in range(4)]
    assert any(np.array_equal(found, part) for part in parts)
    np.testing.assert_array_equal(staged(IMAGE), found)


def test_flips_happen_to_half_of_the_images() -> None:
    batch = np.broadcast_to(np.arange(6, dtype=np.uint8).reshape(2, 3, 1), (400, 2, 3, 1))
    for flip, axis in ((ac.image.stateless_random_flip_left_right, 2), (ac.image.stateless_random_flip_up_down, 1)):
        found = flip(batch, SEED).numpy()
        is_flipped = (found == np.flip(batch, axis)).all(axis=(1, 2, 3))
        is_unchanged = (found == batch).all(axis=(1, 2, 3))
        assert (is_flipped ^ is_unchanged).all() and 150 < is_flipped.sum() < 250
    flips = [bool((ac.image.random_flip_left_right(IMAGE).numpy() == IMAGE).all()) for _ in range(40)]
    assert len(set(flips)) == 2


def test_draws_of_the_global_generator_start_again_with_its_seed() -> None:
    calls = [
        lambda: ac.image.random_brightness(IMAGE, 0.3), lambda: ac.image.random_contrast(IMAGE, 0.2, 0.8),
        lambda: ac.image.random_saturation(IMAGE, 0.2, 0.8), lambda: ac.image.random_hue(IMAGE, 0.1),
        lambda: ac.image.random_crop(IMAGE, [2, 2, 3]), lambda: ac.image.random_flip_up_down(IMAGE),
    ]  # fmt: skip
    ac.random.set_seed(5)
    first = [call().numpy() for call in calls]
    ac.random.set_seed(5)
    assert all(np.array_equal(call(), expected) for call, expected in zip(calls, first, strict=True))
    ac.random.set_seed(None)
    with pytest.raises(ValueError, match="upper must be > lower"):
        ac.image.random_contrast(IMAGE, 1.0, 0.5)


def test_colours() -> None:
    weights = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.1]])
    np.testing.assert_allclose(ac.image.rgb_to_yuv(IMAGE), IMAGE @ weights, atol=2e-5)
    for there, back in (
        (ac.image.rgb_to_yuv, ac.image.yuv_to_rgb), (ac.image.rgb_to_yiq, ac.image.yiq_to_rgb),
    ):  # fmt: skip
        np.testing.assert_allclose(back(there(IMAGE)), IMAGE, atol=1e-4)
    np.testing.assert_allclose(ac.image.adjust_gamma(IMAGE, 2.0, 0.5), 0.5 * IMAGE**2, rtol=1e-6)


@pytest.mark.parametrize(("size", "stride", "rate"), [(2, 1, 1), (3, 2, 1), (2, 3, 2)])
def test_patches(size: int, stride: int, rate: int) -> None:
    reach = (size - 1) * rate + 1
    expected = np.array(
        [
            [
                IMAGE[i : i + reach : rate, j : j + reach : rate].reshape(-1)
                for j in range(0, IMAGE.shape[1] - reach + 1, stride)
            ]
            for i in range(0, IMAGE.shape[0] - reach + 1, stride)
        ]
    )
    options = [[1, size, size, 1], [1, stride, stride, 1], [1, rate, rate, 1]]
    np.testing.assert_array_equal(ac.image.extract_patches(IMAGE[None], *options, "VALID")[0], expected)
    opened = ac.function(
        lambda x: ac.image.extract_patches(x, *options, "SAME"), input_signature=[ac.TensorSpec([None, None, None, 3])]
    )
    repeated = opened(IMAGE[None])
    assert repeated.shape == (1, -(-5 // stride), -(-6 // stride), 3 * size**2)
    np.testing.assert_array_equal(repeated, ac.image.extract_patches(IMAGE[None], *options, "SAME"))


def test_structural_similarity() -> None:
    """Structural similarity by windows that are weighted by a Gaussian."""
    x, y = np.random.default_rng(1).uniform(0, 1, (2, 14, 15, 2))
    places = np.arange(11) - 5
    weights = np.exp(-(places[:, None] ** 2 + places**2) / 4.5)
    weights /= weights.sum()
    found = []
    for i in range(4):
        for j in range(5):
            a, b = (image[i : i + 11, j : j + 11].reshape(121, 2) for image in (x, y))
            w = weights.reshape(121, 1)
            means = (w * a).sum(0), (w * b).sum(0)
            spread = [(w * p * q).sum(0) for p, q in ((a, a), (b, b), (a, b))]
            variances = [spread[0] - means[0] ** 2, spread[1] - means[1] ** 2, spread[2] - means[0] * means[1]]
            luminance = (2 * means[0] * means[1] + 1e-4) / (means[0] ** 2 + means[1] ** 2 + 1e-4)
            found.append(luminance * (2 * variances[2] + 9e-4) / (variances[0] + variances[1] + 9e-4))
    similarity = ac.image.ssim(x.astype(np.float32), y.astype(np.float32), 1.0)
    np.testing.assert_allclose(similarity, np.mean(found), rtol=1e-4)


def test_offsets_of_characters() -> None:
    points, offsets = ac.strings.unicode_decode_with_offsets(["aé😊b", "", "日本"], "UTF-8")
    assert points.to_list() == [[97, 233, 0x1F60A, 98], [], [0x65E5, 0x672C]]
    assert offsets.to_list() == [[0, 1, 3, 7], [], [0, 3]]
    characters, offsets = ac.strings.unicode_split_with_offsets("é日a", "UTF-8")
    assert characters.numpy().tolist() == ["é".encode(), "日".encode(), b"a"] and offsets.numpy().tolist() == [0, 2, 5]
    assert ac.strings.unicode_encode(points, "UTF-8").numpy().tolist() == ["aé😊b".encode(), b"", "日本".encode()]


def test_returned_composites_need_no_import() -> None:
    """In a new process, the ragged result of a function is an operand of others without further imports."""
    import subprocess
    import sys

    program = (
        "import autoconv as ac; x = ac.strings.unicode_decode([b'ab', b'c'], 'UTF-8'); "
        "print(ac.concat([x, x], 0).to_list())"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[[97, 98], [99], [97, 98], [99]]\n"
