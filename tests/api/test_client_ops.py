"""Ops that public libraries use, beside the figures that TensorFlow 2.21 prints."""

import numpy as np
import pytest

import autoconv as ac

A = np.array([[0.5, -0.5, 2.25], [2.75, 1.5, -1.0], [1.5, 3.25, 1.0]])
Q = np.array([-1.0, -0.3, 0.26, 0.74, 1.7, 5.0], np.float32)


def assert_close(found, expected, tolerance=6e-5):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=tolerance)


def eager_and_staged(function):
    """Return the function itself, and as a graph."""
    return function, ac.function(function)


def gradients(function, *values):
    with ac.GradientTape() as tape:
        variables = [ac.Variable(value) for value in values]
        found = function(*variables)
    return tape.gradient(found, variables)


def test_blocks_of_images():
    x = np.arange(32.0).reshape(1, 4, 4, 2)
    for to_depth in eager_and_staged(lambda x: ac.nn.space_to_depth(x, 2)):
        found = to_depth(ac.constant(x))
        assert found.shape == (1, 2, 2, 8)
        assert_close(found[0, 0, 0], [0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0])
    assert_close(ac.nn.depth_to_space(found, 2), x)
    turned = ac.nn.space_to_depth(x.transpose(0, 3, 1, 2), 2, data_format="NCHW")
    assert_close(turned, found.numpy().transpose(0, 3, 1, 2))
    assert_close(ac.nn.depth_to_space(turned, 2, data_format="NCHW"), x.transpose(0, 3, 1, 2))
    unknown = ac.function(lambda x: ac.nn.space_to_depth(x, 2)).get_concrete_function(ac.TensorSpec([None, 4, 4, 2]))
    assert unknown.output_shapes == ac.TensorShape([None, 2, 2, 8])


def test_sequences_are_reversed_by_their_lengths():
    x = np.arange(24).reshape(2, 3, 4)
    for reverse in eager_and_staged(lambda x: ac.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0)):
        assert reverse(ac.constant(x)).numpy()[:, :, 0].tolist() == [[4, 0, 8], [20, 16, 12]]
    found = ac.reverse_sequence(x, [1, 0, 2], seq_axis=0, batch_axis=1)
    assert found.numpy()[:, :, 0].tolist() == [[0, 4, 20], [12, 16, 8]]


def test_confusion_matrices():
    expected = np.zeros((5, 5), int)
    expected[1, 2] = expected[2, 2] = expected[4, 4] = 1
    for count in eager_and_staged(lambda x: ac.math.confusion_matrix(x, [2, 2, 4])):
        assert count(ac.constant([1, 2, 4])).numpy().tolist() == expected.tolist()
    weighted = ac.math.confusion_matrix([1, 2, 1], [2, 2, 2], 4, weights=[0.5, 2.0, 1.0], dtype=ac.float32)
    assert weighted.numpy()[1, 2] == 1.5 and weighted.numpy()[2, 2] == 2.0 and weighted.shape == (4, 4)
    with pytest.raises(ac.errors.InvalidArgumentError, match="`labels` out of bound"):
        ac.math.confusion_matrix([1, 5], [2, 2], 4)


def test_triangular_factors():
    for factor in eager_and_staged(ac.linalg.lu):
        factors, rows = factor(ac.constant(A))
        assert_close(factors, [[2.75, 1.5, -1.0], [0.5455, 2.4318, 1.5455], [0.1818, -0.3178, 2.9229]])
        assert rows.numpy().tolist() == [1, 2, 0]
    many = ac.linalg.lu(np.stack([A, A[::-1]]))
    lower, upper = np.tril(many.lu.numpy(), -1) + np.eye(3), np.triu(many.lu.numpy())
    assert_close(lower @ upper, np.stack([A[[1, 2, 0]], A[[1, 2, 0]]]))
    with pytest.raises(ac.errors.InvalidArgumentError, match="not invertible"):
        ac.linalg.lu(np.ones((2, 2)))


def test_eigenvalues():
    for decompose in eager_and_staged(ac.linalg.eig):
        values, vectors = decompose(ac.constant(A))
        assert values.dtype is ac.complex128
        assert_close(A @ vectors.numpy(), vectors.numpy() * values.numpy()[None])
    found = np.sort_complex(ac.linalg.eigvals(A).numpy())
    assert_close(found, [-0.235 - 2.362j, -0.235 + 2.362j, 3.47], 1e-3)
    (slope,) = gradients(lambda m: ac.reduce_sum(ac.math.real(ac.linalg.eigvals(m)) ** 2), A)
    assert_close(slope, [[2.6454, 2.0318, 4.5649], [2.3326, 1.0507, 3.4175], [1.8936, 1.2348, 2.3039]])


def test_ranks_and_unit_vectors():
    assert int(ac.linalg.matrix_rank([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]])) == 2
    assert ac.linalg.matrix_rank(np.stack([A, np.zeros((3, 3))])).numpy().tolist() == [3, 0]
    unit, length = ac.linalg.normalize([[3.0, 4.0], [6.0, 8.0]], axis=1)
    assert_close(unit, [[0.6, 0.8], [0.6, 0.8]])
    assert_close(length, [[5.0], [10.0]])


def test_quantized_levels():
    quantize = ac.quantization.fake_quant_with_min_max_vars
    for run in eager_and_staged(lambda x: quantize(x, -0.5, 1.6)):
        assert_close(run(ac.constant(Q)), [-0.5024, -0.2965, 0.2635, 0.7412, 1.5976, 1.5976])
    narrow = ac.quantization.fake_quant_with_min_max_args(Q, -0.5, 1.6, 3, True)
    assert_close(narrow, [-0.35, -0.35, 0.35, 0.7, 1.75, 1.75])
    weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    bounds = np.float32(-0.5), np.float32(1.6)
    x, low, high = gradients(lambda *operands: ac.reduce_sum(quantize(*operands) * weights), Q, *bounds)
    assert x.numpy().tolist() == [0.0, 2.0, 3.0, 4.0, 0.0, 0.0] and float(low) == 1.0 and float(high) == 11.0
    channels = ac.quantization.fake_quant_with_min_max_vars_per_channel(Q.reshape(3, 2), [-1.0, 0.0], [1.0, 2.0])
    assert_close(channels, [[-0.9961, 0.0], [0.2588, 0.7373], [1.0039, 2.0]])
    with pytest.raises(ValueError, match="between 2 and 16"):
        quantize(Q, -1.0, 1.0, num_bits=1)


def test_inverses_of_distributions():
    for f, argument, expected in (
        (ac.math.erfinv, [0.1, -0.9, 0.999, 1.0], [0.0889, -1.1631, 2.3268, np.inf]),
        (ac.math.ndtri, [0.01, 0.5, 0.99, 0.0], [-2.3263, 0.0, 2.3263, -np.inf]),
        (ac.math.erfcinv, [0.1, 1.5], [1.1631, -0.4769]),
    ):
        for run in eager_and_staged(f):
            assert_close(run(ac.constant(argument)), expected)
    assert_close(gradients(lambda x: ac.reduce_sum(ac.math.erfinv(x)), np.array([0.1, -0.9]))[0], [0.8933, 3.428])


def test_the_beta_function():
    x = np.array([[1.0, 2.0, 3.0], [0.5, 0.5, 7.0]])
    for run in eager_and_staged(ac.math.lbeta):
        assert_close(run(ac.constant(x)), [-4.0943, -0.8012], 1e-4)


def test_values_are_computed_again_for_gradients():
    w, x = ac.Variable(2.0), ac.Variable(3.0)
    calls = []

    def layer(x):
        calls.append(1)
        return ac.sin(w * x) * x

    def slopes(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = ac.recompute_grad(layer)(x)
        return y, *tape.gradient(y, [x, w])

    assert_close(slopes(x), [-0.8382, 5.4816, 8.6415])
    assert len(calls) == 2
    assert_close(ac.function(slopes)(ac.constant(3.0)), [-0.8382, 5.4816, 8.6415])


def test_moving_averages_of_variables():
    v, average = ac.Variable(1.0), ac.train.ExponentialMovingAverage(0.9)
    assert average.average(v) is None
    found = []
    for _ in range(3):
        average.apply([v])
        found.append(float(average.average(v)))
        v.assign_add(2.0)
    assert_close(found, [1.0, 1.2, 1.58])
    assert average.average_name(v) == "Variable/ExponentialMovingAverage"


def test_ctc_loss():
    x = np.random.default_rng(0).normal(size=(6, 3, 5)).astype(np.float32)
    labels, weights = [[1, 2, 2], [3, 1, 0], [4, 0, 0]], [1.0, 2.0, 3.0]

    def slopes(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            losses = ac.nn.ctc_loss(labels, x, [3, 2, 1], [6, 5, 4])
            total = ac.reduce_sum(losses * weights)
        return losses, tape.gradient(total, x)

    for run in eager_and_staged(slopes):
        losses, slope = run(ac.constant(x))
        assert_close(losses, [8.2556, 5.2158, 5.0487], 1e-4)
        assert_close(slope[0, 0], [-0.0793, -0.5619, 0.3386, 0.1982, 0.1045], 1e-4)
        assert_close(slope[5, 1:], np.zeros((2, 5)))
    batches = ac.nn.ctc_loss([[0, 1]], x[:, :1].transpose(1, 0, 2), [2], [6], logits_time_major=False, blank_index=-1)
    assert_close(batches, ac.nn.ctc_loss([[0, 1]], x[:, :1], [2], [6], blank_index=4))


def test_ctc_loss_of_labels_that_are_the_blanks_class():
    x = (np.arange(24, dtype=np.float32).reshape(2, 4, 3) - 12) / 100
    labels = [[1, 2, 1, 0], [1, 2, 0, 2]]
    assert_close(ac.nn.ctc_loss(labels, x, [4, 4], [4, 4], logits_time_major=False), [4.394582, 4.384582], 1e-5)
    assert_close(ac.nn.ctc_loss(labels, x, [3, 3], [4, 4], logits_time_major=False), [2.442931, 2.454360], 1e-5)


def test_axes_that_are_computed_of_known_sizes():
    def turned(x):
        return ac.reverse(x, ac.range(ac.rank(x))), ac.reduce_sum(x, ac.range(1, x.shape.rank))

    for run in eager_and_staged(turned):
        reverse, sums = run(ac.constant(A))
        assert_close(reverse, A[::-1, ::-1])
        assert_close(sums, A.sum(1))
