"""Names of version 1 on images and texts, beside the outputs of TensorFlow 2.21."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.compat import v1

IMAGE = np.arange(12.0, dtype="f").reshape(1, 3, 4, 1) ** 1.5
RESIZED = {
    ("bilinear", False): [0, 1.6095, 4.4069, 4.8, 8.0553, 12.1103, 10.9255, 15.5902, 20.7692, 19.7019, 25.3032, 31.3394,
                          22.6274, 28.5409, 34.8628],
    ("bilinear", True): [0, 1.9142, 5.1962, 4, 7.4264, 11.8582, 8, 12.9386, 18.5203, 15.3137, 21.125, 27.5016, 22.6274,
                         29.3114, 36.4829],
    ("bicubic", False): [0, 1.5547, 4.553, 3.3133, 6.4505, 10.5682, 11.3456, 16.3336, 21.8761, 20.2425, 26.0695,
                         32.4043, 24.2067, 30.4235, 37.1218],
    ("bicubic", True): [0, 1.786, 5.1962, 2.6287, 5.7959, 10.1742, 8, 12.8784, 18.5203, 16.0637, 22.1119, 28.7507,
                        22.6274, 29.2657, 36.4829],
    ("nearest_neighbor", False): [0, 1, 2.8284, 0, 1, 2.8284, 8, 11.1803, 14.6969, 8, 11.1803, 14.6969, 22.6274, 27,
                                  31.6228],
    ("nearest_neighbor", True): [0, 2.8284, 5.1962, 8, 14.6969, 18.5203, 8, 14.6969, 18.5203, 22.6274, 31.6228, 36.4829,
                                 22.6274, 31.6228, 36.4829],
}  # fmt: skip


def test_resizing_from_the_corners_of_pixels():
    for (method, align_corners), expected in RESIZED.items():
        resize = getattr(v1.image, f"resize_{method}")
        for call in (resize, ac.function(resize)):
            found = call(IMAGE, [5, 3], align_corners=align_corners)
            np.testing.assert_allclose(found.numpy().ravel(), expected, atol=2e-4, err_msg=f"{method} {align_corners}")
    assert np.array_equal(
        v1.image.resize_bilinear(IMAGE, [5, 3], half_pixel_centers=True), ac.image.resize(IMAGE, [5, 3])
    )
    assert v1.image.resize_images(IMAGE[0], [2, 6], v1.image.ResizeMethod.NEAREST_NEIGHBOR).shape == (2, 6, 1)
    assert v1.image.resize_images(IMAGE, [6, 6], preserve_aspect_ratio=True).shape == (1, 4, 6, 1)
    assert v1.image.resize_images(IMAGE.astype("i"), [3, 4]).dtype is ac.int32
    assert v1.image.resize_image_with_crop_or_pad(IMAGE, 2, 2).shape == (1, 2, 2, 1)
    with pytest.raises(ValueError, match="3 or 4 dimensions"):
        v1.image.resize_images(IMAGE[0, 0], [3, 4])
    with pytest.raises(AttributeError, match=r"compat\.v1\.image"):
        _ = v1.image.decode_nothing


def test_texts_and_sparse_values():
    parts = v1.string_split(["a b", "c"])
    assert parts.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]] and parts.dense_shape.numpy().tolist() == [2, 2]
    assert v1.string_split(["a,b;c,,d"], ",;").values.numpy().tolist() == [b"a", b"b", b"c", b"d"]
    assert v1.string_split(["1a2b3"], "ab").values.numpy().tolist() == [b"1", b"2", b"3"]
    assert v1.string_split(["a;b\\c"], "\\;").values.numpy().tolist() == [b"a", b"b", b"c"]
    assert v1.string_split(["a  b"], skip_empty=False).values.numpy().tolist() == [b"a", b"", b"b"]
    assert v1.string_split(["abc"], "", result_type="RaggedTensor").to_list() == [[b"a", b"b", b"c"]]
    with pytest.raises(ValueError, match="result_type must be"):
        v1.string_split(["a"], result_type="list")
    assert v1.sparse_to_dense([[0, 1]], [2, 2], [5], 7).numpy().tolist() == [[7, 5], [7, 7]]
    assert v1.sparse_to_dense(2, [3], 1).numpy().tolist() == [0, 0, 1]
    with pytest.raises(ac.errors.InvalidArgumentError, match="not finite"):
        v1.verify_tensor_all_finite([float("nan")], "not finite")


def test_names_that_are_others_in_version_2():
    assert v1.lin_space is ac.linspace and v1.zeta is ac.math.zeta and v1.regex_replace is ac.strings.regex_replace


def test_text_as_bytes():
    assert ac.compat.as_bytes("é") == "é".encode() and ac.compat.as_bytes(bytearray(b"a")) == b"a"
    with pytest.raises(TypeError, match="Expected binary or unicode string"):
        ac.compat.as_bytes(3)


def test_blocks_of_batches():
    rows, margins = IMAGE[:, :2], [[0, 0], [0, 0]]
    batch = v1.space_to_batch(rows, margins, 2)
    assert batch.shape == (4, 1, 2, 1)
    assert v1.space_to_batch(rows, margins, block_shape=[2, 2]).numpy().tolist() == batch.numpy().tolist()
    assert v1.batch_to_space(batch, margins, 2).numpy().tolist() == rows.tolist()
