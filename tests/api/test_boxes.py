"""Boxes in images; the figures are TensorFlow's."""

import numpy as np
import pytest

import autoconv as ac

BOXES = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, -0.1, 1.0, 0.9], [0.0, 10.0, 1.0, 11.0],
         [1.0, 11.1, 0.0, 10.1], [0.0, 100.0, 1.0, 101.0]]  # fmt: skip
SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]


def agreed_results(function):
    """Return the results of a function without parameters, eagerly and as a graph, as lists."""
    found = [np.asarray(x) for x in ac.nest.flatten(function())]
    for eager, staged in zip(found, ac.nest.flatten(ac.function(function)()), strict=True):
        np.testing.assert_array_equal(eager, staged)
    return [x.tolist() for x in found]


def test_suppression():
    image = ac.image
    assert agreed_results(lambda: image.non_max_suppression(BOXES, SCORES, 3)) == [[3, 0, 5]]
    assert agreed_results(lambda: image.non_max_suppression(BOXES, SCORES, 6, 0.5, 0.4)) == [[3, 0]]
    assert agreed_results(lambda: image.non_max_suppression(BOXES, SCORES, 6, 0.85)) == [[3, 0, 1, 2, 4, 5]]
    places, scores = agreed_results(
        lambda: image.non_max_suppression_with_scores(BOXES, SCORES, 6, score_threshold=0.2, soft_nms_sigma=0.5)
    )
    assert places == [3, 0, 1, 5, 4]
    np.testing.assert_allclose(scores, [0.95, 0.9, 0.38400355, 0.3, 0.2560026], rtol=1e-6)
    with pytest.raises(ValueError, match="'boxes' of non_max_suppression must have 2 dimensions"):
        image.non_max_suppression([BOXES], SCORES, 3)


def test_suppression_in_batches():
    batch, scores = [BOXES, BOXES[::-1]], [SCORES, SCORES]
    found = agreed_results(
        lambda: ac.image.non_max_suppression_padded(batch, scores, 5, 0.5, 0.2, pad_to_max_output_size=True)
    )
    assert found == [[[3, 0, 4, 5, 0], [3, 0, 1, 2, 0]], [4, 4]]
    boxes, of_classes = np.array([BOXES])[:, :, None], np.array([SCORES, SCORES[::-1]]).T[None]
    corners, marks, classes, number = agreed_results(
        lambda: ac.image.combined_non_max_suppression(boxes, of_classes, 3, 5, 0.5, 0.2)
    )
    np.testing.assert_allclose(marks, [[0.95, 0.95, 0.9, 0.9, 0.75]], rtol=1e-6)
    assert classes == [[0, 1, 0, 1, 1]] and number == [5]
    np.testing.assert_allclose(corners[0][1], [0.0, 0.0, 1.0, 0.9], rtol=1e-6)


def test_crops():
    x = np.arange(20, dtype=np.float32).reshape(1, 4, 5, 1)
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.9, 0.2, 0.1, 1.2]]
    linear, nearest = (
        agreed_results(lambda m=m: ac.image.crop_and_resize(x, boxes, [0, 0], [2, 3], m, -1.0)[..., 0])[0]
        for m in ("bilinear", "nearest")
    )
    assert linear[0] == nearest[0] == [[0, 2, 4], [15, 17, 19]]
    np.testing.assert_allclose(linear[1], [[14.3, 16.3, -1], [2.3, 4.3, -1]], rtol=1e-6)
    assert nearest[1] == [[16, 18, -1], [1, 3, -1]]
    sizes = ac.function(lambda size: ac.image.crop_and_resize(x, boxes, [0, 0], size)[0, ..., 0])
    assert sizes(ac.constant([1, 3])).numpy().tolist() == [[7.5, 9.5, 11.5]]


def test_a_gradient_through_crops():
    x = ac.constant(np.arange(20, dtype=np.float32).reshape(1, 4, 5, 1))
    with ac.GradientTape() as tape:
        tape.watch(x)
        total = ac.reduce_sum(ac.image.crop_and_resize(x, [[0.25, 0.25, 0.25, 0.25]], [0], [1, 1]))
    gradient = tape.gradient(total, x).numpy()[0, :, :, 0]
    assert gradient[:2, :3].tolist() == [[0, 0.25, 0], [0, 0.75, 0]] and gradient.sum() == 1


def test_drawn_boxes():
    boxes = [[[0.0, 0.2, 0.7, 0.9], [0.4, -0.3, 0.9, 0.3]]]
    image, colors = np.zeros((1, 4, 6, 1), "f"), [[1.0], [2.0]]
    found = agreed_results(lambda: ac.image.draw_bounding_boxes(image, boxes, colors)[0, ..., 0])
    assert found == [[[0, 1, 1, 1, 1, 0], [2, 2, 0, 0, 1, 0], [2, 2, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]]]
