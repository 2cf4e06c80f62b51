"""Pools of volumes, morphology, blocks in batches and losses over samples, beside TensorFlow 2.21's figures."""

import numpy as np
import pytest

import autoconv as ac
from tests.api.figures import assert_close, eager_and_staged, gradients

IMAGE = (np.arange(12.0) % 5).reshape(1, 3, 4, 1).astype(np.float32)
KERNEL = np.array([[0.0, 1.0], [0.5, -1.0]], np.float32)[..., None]
ONES = [1, 1, 1, 1]


def test_places_of_maxima():
    for pooled in eager_and_staged(lambda x: ac.nn.max_pool_with_argmax(x, 2, 2, "SAME")):
        found = pooled(ac.constant(IMAGE))
        assert found.output.numpy().ravel().tolist() == [4.0, 3.0, 4.0, 1.0]
        assert found.argmax.numpy().ravel().tolist() == [4, 3, 9, 11]
    twice = ac.nn.max_pool_with_argmax(np.repeat(IMAGE, 2, 0), 2, 2, "SAME", include_batch_in_index=True)
    assert twice.argmax.numpy()[1].ravel().tolist() == [16, 15, 21, 23]


def test_dilation_and_erosion():
    dilated = [4.5, 3.0, 4.0, 3.0, 4.0, 4.5, 3.0, 2.0, 5.0, 4.0, 2.0, 1.0]
    for dilate in eager_and_staged(lambda x: ac.nn.dilation2d(x, KERNEL, ONES, "SAME", "NHWC", ONES)):
        assert_close(dilate(ac.constant(IMAGE)).numpy().ravel(), dilated)
    eroded = ac.nn.erosion2d(IMAGE, KERNEL, ONES, "VALID", "NHWC", ONES)
    assert_close(eroded.numpy().ravel(), [0.0, -1.0, 0.0, -0.5, 0.0, -1.0])


def test_pools_and_patches_of_volumes():
    x = np.arange(48.0).reshape(1, 4, 3, 4, 1).astype(np.float32)
    blocks = x[:, :, :2].reshape(2, 2, 1, 2, 2, 2).transpose(0, 2, 4, 1, 3, 5).reshape(2, 1, 2, 8)
    assert_close(ac.nn.max_pool3d(x, 2, 2, "VALID")[0, ..., 0], blocks.max(-1))
    assert_close(ac.nn.avg_pool3d(x, 2, 2, "VALID")[0, ..., 0], blocks.mean(-1))
    assert_close(ac.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID")[0], blocks)


def test_space_to_batch_blocks():
    x = ac.reshape(ac.range(12), [1, 3, 4, 1])
    for moved in eager_and_staged(lambda x: ac.space_to_batch(x, [2, 2], [[1, 0], [0, 0]])):
        found = moved(x)
        expected = [[[0, 0], [4, 6]], [[0, 0], [5, 7]], [[0, 2], [8, 10]], [[1, 3], [9, 11]]]
        assert found[..., 0].numpy().tolist() == expected
    assert ac.batch_to_space(found, [2, 2], [[1, 0], [0, 0]]).numpy().tolist() == x.numpy().tolist()
    with pytest.raises(ValueError, match="not divisible"):
        ac.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])

    def filtered(image, sides, padding):
        return ac.nn.conv2d(image, np.ones((2, 2, 1, 1), np.float32), 1, padding)

    for padding in ("SAME", "VALID"):
        found = ac.nn.with_space_to_batch(IMAGE, [2, 2], padding, filtered, filter_shape=[2, 2])
        assert_close(found, ac.nn.conv2d(IMAGE, np.ones((2, 2, 1, 1), np.float32), 1, padding, dilations=2))


def test_paddings_for_blocks_of_sizes_that_are_known_at_run_time():
    base = [[1, 1], [0, 2]]
    for paddings in eager_and_staged(lambda sizes: ac.required_space_to_batch_paddings(sizes, [2, 3], base)):
        found = paddings(ac.constant([5, 5]))
        assert found.paddings.numpy().tolist() == [[1, 2], [0, 4]] and found.crops.numpy().tolist() == [[0, 1], [0, 2]]
    with pytest.raises(ValueError, match="differ in size"):
        ac.required_space_to_batch_paddings([5, 4], [2])
    with pytest.raises(ValueError, match="must be a vector"):
        ac.required_space_to_batch_paddings([5, 4], 2)


def test_gradients_of_depthwise_convolutions_as_functions():
    kernel = np.arange(8.0).reshape(2, 2, 1, 2).astype(np.float32)

    def half_squares(x, kernel):
        return ac.nn.depthwise_conv2d(x, kernel, ONES, "SAME") * np.float32(0.5**0.5)

    by_image, by_kernel = gradients(half_squares, IMAGE, kernel)
    output = ac.nn.depthwise_conv2d(IMAGE, kernel, ONES, "SAME")
    assert_close(ac.nn.depthwise_conv2d_backprop_input([1, 3, 4, 1], kernel, output, ONES, "SAME"), by_image)
    assert_close(ac.nn.depthwise_conv2d_backprop_filter(IMAGE, [2, 2, 1, 2], output, ONES, "SAME"), by_kernel)
    ones, kernel = ac.ones([1, 1, 3, 3]), kernel[..., :1]
    options = {"strides": ONES, "padding": "VALID", "dilations": [1, 2, 2, 1]}
    by_rows = ac.nn.depthwise_conv2d_backprop_input([1, 5, 5, 1], kernel, ac.ones([1, 3, 3, 1]), **options)
    options |= {"dilations": [1, 1, 2, 2], "data_format": "NCHW"}
    by_channels = ac.nn.depthwise_conv2d_backprop_input([1, 1, 5, 5], kernel, ones, **options)
    assert_close(by_channels[:, 0], by_rows[..., 0])


def test_losses_over_samples():
    weights, biases = np.arange(10.0).reshape(5, 2).astype(np.float32) / 10, np.arange(5.0).astype(np.float32) / 5
    sample = ac.constant([1, 4], ac.int64), ac.constant([[0.5], [0.25]]), ac.constant([0.75, 0.5])
    inputs, labels = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32), np.array([[1], [3]])
    for loss in eager_and_staged(lambda w: ac.nn.nce_loss(w, biases, labels, inputs, 2, 5, 1, sample)):
        assert_close(loss(ac.constant(weights)), [5.8099, 2.3418])
    assert_close(ac.nn.sampled_softmax_loss(weights, biases, labels, inputs, 2, 5, 1, sample), [2.4868, 0.6019])
    rows, places, least = ac.nn.compute_accidental_hits(labels, sample[0], 1)
    assert (rows.numpy().tolist(), places.numpy().tolist(), least.shape) == ([0], [0], [1])


def test_samplers_of_classes():
    ac.random.set_seed(3)
    draw = ac.random.log_uniform_candidate_sampler(np.array([[1]]), 1, 5, True, 8)
    assert len(set(draw.sampled_candidates.numpy().tolist())) == 5 and draw.true_expected_count.shape == (1, 1)
    every = ac.function(lambda: ac.random.log_uniform_candidate_sampler(np.array([[1]]), 1, 4000, False, 3))()
    shares = np.bincount(every.sampled_candidates.numpy(), minlength=3) / 4000
    assert_close(shares, np.log([2.0, 1.5, 4 / 3]) / np.log(4.0), 0.04)
    assert_close(every.true_expected_count, [[4000 * np.log(1.5) / np.log(4.0)]], 1e-2)
    weights_of = {"unigrams": [0.0, 1.0], "num_reserved_ids": 1}
    weighted = ac.random.fixed_unigram_candidate_sampler([[1]], 1, 50, False, 3, **weights_of)
    assert set(weighted.sampled_candidates.numpy().tolist()) == {2}
    with pytest.raises(ValueError, match="different classes"):
        ac.random.uniform_candidate_sampler([[1]], 1, 5, True, 4)


def test_runs_of_labels():
    rows, lengths = ac.nn.collapse_repeated(ac.constant([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]]), ac.constant([5, 3]))
    assert (rows.numpy().tolist(), lengths.numpy().tolist()) == ([[1, 2, 1], [3, 0, 0]], [3, 1])
    found, places = ac.nn.ctc_unique_labels(ac.constant([[1, 1, 2], [3, 4, 3]]))
    assert (found.numpy().tolist(), places.numpy().tolist()) == ([[1, 2, 0], [3, 4, 0]], [[0, 0, 1], [0, 1, 0]])


def test_isotonic_regression():
    x = np.array([3.0, 1.0, 2.0, 0.0, 4.0], np.float32)
    for regress in eager_and_staged(ac.nn.isotonic_regression):
        values, blocks = regress(ac.constant(x))
        assert_close(values, [3.0, 1.75, 1.75, 1.75, 1.75])
        assert blocks.numpy().tolist() == [0, 1, 1, 1, 1]
    assert_close(gradients(lambda x: ac.nn.isotonic_regression(x)[0], x)[0], [6.0, 3.5, 3.5, 3.5, 3.5])
    found = ac.nn.isotonic_regression(x[:, None], decreasing=False, axis=0)[0]
    assert_close(found.numpy().ravel(), [1.5, 1.5, 1.5, 1.5, 4.0])
