"""Layers, losses, metrics and recurrent networks, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf

DRAW = np.random.RandomState(3)


@pytest.fixture(autouse=True)
def graph():
    with ac.Graph().as_default() as new_graph:
        yield new_graph


def run(*fetches, feeds=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(list(fetches), feeds)


def test_dense_layers():
    x = tf.constant(DRAW.randn(2, 5, 3).astype("f"))
    found = tf.layers.dense(x, 4, tf.nn.relu, name="d")
    kernel, bias = tf.trainable_variables()
    assert [kernel.name, bias.name] == ["d/kernel:0", "d/bias:0"]
    value, argument, k, b = run(found, x, kernel, bias)
    np.testing.assert_allclose(value, np.maximum(argument @ k + b, 0), rtol=1e-5, atol=1e-6)
    shared = tf.layers.dense(x, 4, name="d", reuse=True)
    assert shared.shape == (2, 5, 4) and len(tf.trainable_variables()) == 2


def test_a_convolutional_net_learns(graph):
    images, labels = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
    training = tf.placeholder_with_default(False, [])
    h = tf.layers.conv2d(tf.reshape(images, [-1, 8, 8, 1]), 8, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.batch_normalization(h, training=training, momentum=0.8)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.dropout(tf.layers.flatten(h), 0.2, training=training)
    logits = tf.layers.dense(h, 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(0.01).minimize(tf.losses.get_total_loss())
    accuracy, update = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    argument = DRAW.randn(120, 64).astype("f")
    feeds = {images: argument, labels: argument[:, :4].argmax(1)}
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        first = session.run(loss, feeds)
        for _ in range(60):
            session.run(train, {**feeds, training: True})
        moving = session.run("batch_normalization/moving_mean:0")
        assert session.run(loss, feeds) < first / 5 and moving.any()
        assert session.run(update, feeds) > 0.95 and session.run(accuracy) > 0.95


@pytest.mark.parametrize("kind", ["BasicRNNCell", "GRUCell", "BasicLSTMCell"])
def test_recurrent_networks(kind):
    x = DRAW.randn(2, 6, 3).astype("f")
    cell = getattr(tf.nn.rnn_cell, kind)(4)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(x), sequence_length=[6, 3], dtype=tf.float32)
    variables = tf.trainable_variables()
    unrolled_outputs, unrolled_state = tf.nn.static_rnn(
        getattr(tf.nn.rnn_cell, kind)(4, reuse=True), [tf.constant(x[:, i]) for i in range(6)], dtype=tf.float32,
        sequence_length=[6, 3], scope=_reused("rnn"),
    )  # fmt: skip
    slopes = tf.gradients(tf.reduce_sum(outputs), variables)
    found, ends, unrolled, unrolled_ends, weights, slope = run(
        outputs, state, tf.stack(unrolled_outputs, 1), unrolled_state, variables, slopes
    )
    expected, final = by_numpy(kind, x, [6, 3], weights)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(found, unrolled, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.stack(ends), np.stack(final), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(np.stack(unrolled_ends), np.stack(ends), rtol=1e-6, atol=1e-7)
    position = (1, 2)
    step = 1e-3
    moved = [[w.copy() for w in weights] for _ in range(2)]
    moved[0][0][position] += step
    moved[1][0][position] -= step
    above, below = (by_numpy(kind, x, [6, 3], item)[0].astype(np.float64).sum() for item in moved)
    np.testing.assert_allclose(slope[0][position], (above - below) / (2 * step), rtol=5e-3, atol=1e-3)


def test_cells_take_initializers_peepholes_and_projections():
    x = DRAW.randn(2, 3, 2).astype("f")
    cell = tf.nn.rnn_cell.LSTMCell(
        4, use_peepholes=True, cell_clip=0.3, initializer=tf.constant_initializer(0.5), num_proj=3, proj_clip=0.4
    )
    wrapped = tf.nn.rnn_cell.ResidualWrapper(
        tf.nn.rnn_cell.GRUCell(2, kernel_initializer=tf.constant_initializer(0.1), bias_initializer=tf.ones_initializer)
    )
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(x), dtype=tf.float32)
    added, _ = tf.nn.static_rnn(wrapped, [tf.constant(x[:, 0])], dtype=tf.float32, scope="added")
    names = [variable.name.removeprefix("rnn/lstm_cell/") for variable in tf.trainable_variables("rnn")]
    assert names == ["kernel:0", "bias:0", "w_f_diag:0", "w_i_diag:0", "w_o_diag:0", "projection/kernel:0"]

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    c, h = np.zeros((2, 4)), np.zeros((2, 3))
    for step in range(3):
        gate = np.concatenate([x[:, step], h], 1).sum(1, keepdims=True) * 0.5
        c = sigmoid(gate + 1 + 0.5 * c) * c + sigmoid(gate + 0.5 * c) * np.tanh(gate)
        c = np.clip(c, -0.3, 0.3)
        h = np.clip((sigmoid(gate + 0.5 * c) * np.tanh(c)) @ np.full((4, 3), 0.5), -0.4, 0.4)
    update = sigmoid(x[:, 0].sum(1, keepdims=True) * 0.1 + 1)
    expected = x[:, 0] + (1 - update) * np.tanh(x[:, 0].sum(1, keepdims=True) * 0.1 + 1)
    found, last, sum_found = run(outputs, state, added[0])
    np.testing.assert_allclose(last.c, c, rtol=1e-5)
    np.testing.assert_allclose(last.h, h, rtol=1e-5)
    np.testing.assert_allclose(found[:, -1], h, rtol=1e-5)
    np.testing.assert_allclose(sum_found, expected, rtol=1e-5)


def test_networks_in_both_directions():
    x = DRAW.randn(2, 3, 2).astype("f")
    cells = [tf.nn.rnn_cell.BasicRNNCell(4) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(*cells, tf.constant(x), sequence_length=[3, 2], dtype=tf.float32)
    variables = tf.trainable_variables()
    assert [v.name.split("/")[1] for v in variables] == ["fw", "fw", "bw", "bw"]
    (forward, backward), (_, last), weights = run(outputs, states, variables)
    reversed_x = np.stack([x[0, ::-1], np.concatenate([x[1, 1::-1], x[1, 2:]])])
    expected, end = by_numpy("BasicRNNCell", reversed_x, [3, 2], weights[2:])
    np.testing.assert_allclose(backward[0], expected[0, ::-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backward[1, :2], expected[1, 1::-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(last, end, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(forward, by_numpy("BasicRNNCell", x, [3, 2], weights[:2])[0], rtol=1e-5, atol=1e-6)


def _reused(name):
    with tf.variable_scope(name, reuse=True) as scope:
        return scope


def by_numpy(kind, x, lengths, weights):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    h = c = np.zeros((2, 4))
    rows = []
    for step in range(x.shape[1]):
        argument = x[:, step]
        if kind == "BasicRNNCell":
            new_h, new_c = np.tanh(np.concatenate([argument, h], 1) @ weights[0] + weights[1]), c
        elif kind == "GRUCell":
            r, u = np.split(sigmoid(np.concatenate([argument, h], 1) @ weights[0] + weights[1]), 2, 1)
            candidate = np.tanh(np.concatenate([argument, r * h], 1) @ weights[2] + weights[3])
            new_h, new_c = u * h + (1 - u) * candidate, c
        else:
            i, j, f, o = np.split(np.concatenate([argument, h], 1) @ weights[0] + weights[1], 4, 1)
            new_c = c * sigmoid(f + 1.0) + sigmoid(i) * np.tanh(j)
            new_h = np.tanh(new_c) * sigmoid(o)
        runs = (np.array(lengths) > step)[:, None]
        rows.append(np.where(runs, new_h, 0))
        h, c = np.where(runs, new_h, h), np.where(runs, new_c, c)
    return np.stack(rows, 1).astype("f"), ((c, h) if kind == "BasicLSTMCell" else h)


def test_losses():
    labels, scores = np.array([[1.0, 0.0], [0.0, 1.0]], "f"), np.array([[2.0, -1.0], [0.5, 0.25]], "f")
    weights = np.array([1.0, 0.0], "f")
    logs = np.log(np.exp(scores) / np.exp(scores).sum(1, keepdims=True))
    found = run(
        tf.losses.mean_squared_error(labels, scores), tf.losses.absolute_difference(labels, scores),
        tf.losses.softmax_cross_entropy(labels, scores), tf.losses.softmax_cross_entropy(labels, scores, weights),
        tf.losses.sparse_softmax_cross_entropy([0, 1], scores), tf.losses.sigmoid_cross_entropy(labels, scores),
        tf.losses.huber_loss(labels, scores), tf.losses.hinge_loss(labels, scores), tf.losses.get_total_loss(),
    )  # fmt: skip
    error = np.abs(scores - labels)
    sigmoid = 1 / (1 + np.exp(-scores))
    expected = [
        (error**2).mean(), error.mean(), -(labels * logs).sum(1).mean(), -(labels * logs).sum(1)[0],
        -(labels * logs).sum(1).mean(), -(labels * np.log(sigmoid) + (1 - labels) * np.log(1 - sigmoid)).mean(),
        np.where(error < 1, error**2 / 2, error - 0.5).mean(), np.maximum(1 - (2 * labels - 1) * scores, 0).mean(),
    ]  # fmt: skip
    np.testing.assert_allclose(found, [*expected, sum(expected)], rtol=1e-5)


def test_earlier_names_of_arguments():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = run(
        tf.reduce_sum(x, reduction_indices=[1], keep_dims=True), tf.argmax(x, dimension=1),
        tf.squeeze([[1]], squeeze_dims=[0]), tf.where([True, False], x, -x), tf.log(x), tf.to_int32(x), tf.div(7, 2),
        tf.matrix_inverse(x) @ x, tf.count_nonzero(x),
    )  # fmt: skip
    assert found[0].tolist() == [[3.0], [7.0]] and found[1].dtype == np.int64
    assert found[3].tolist() == [[1.0, 2.0], [-3.0, -4.0]] and found[6] == 3
    np.testing.assert_allclose(found[7], np.eye(2), atol=1e-5)
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.reduce_sum(x, axis=0, reduction_indices=1)
    with pytest.raises(ValueError, match="named arguments"):
        tf.nn.softmax_cross_entropy_with_logits(x, x)


def test_losses_of_directions_and_pairs():
    """The losses are those that TensorFlow 2.21 prints."""
    labels = np.arange(12, dtype="f").reshape(3, 4)
    predictions = (labels * 1.3 + np.sin(labels)).astype("f")
    found = run(
        tf.losses.cosine_distance(labels / 10, predictions / 10, axis=1),
        tf.losses.cosine_distance(labels, predictions, axis=1, weights=[[1.0], [0.0], [2.0]]),
        tf.losses.mean_pairwise_squared_error(labels, predictions),
        tf.losses.mean_pairwise_squared_error(labels, predictions, weights=[[1.0], [0.0], [2.0]]),
    )
    np.testing.assert_allclose(found, [-1.1705593, -480.12555, 3.7001426, 1.9212677], rtol=1e-5)
    with pytest.raises(ValueError, match="You must specify argument `axis`"):
        tf.losses.cosine_distance(labels, predictions)


def test_losses_by_samples():
    """With every class sampled once, the sampled softmax equals the softmax, and NCE sums over all classes."""
    weights, biases = DRAW.randn(6, 3).astype("f"), DRAW.randn(6).astype("f")
    x, labels = DRAW.randn(4, 3).astype("f"), np.array([[1], [5], [0], [3]])
    ones = tf.ones([4, 1]), tf.ones([6])
    drawn = (tf.range(6, dtype=tf.int64), *ones)
    softmax = tf.nn.sampled_softmax_loss(weights, biases, labels, x, 6, 6, sampled_values=drawn)
    nce = tf.nn.nce_loss(weights, biases, labels, x, 6, 6, sampled_values=drawn)
    candidates = tf.nn.log_uniform_candidate_sampler(labels, 1, 4000, False, 6)
    found, estimate, (sampled, of_true, of_sampled) = run(softmax, nce, candidates)
    logits = x @ weights.T + biases
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    np.testing.assert_allclose(found, -logs[np.arange(4), labels[:, 0]], rtol=1e-4)
    positive = np.log1p(np.exp(-logits[np.arange(4), labels[:, 0]]))
    np.testing.assert_allclose(estimate, positive + np.log1p(np.exp(logits)).sum(1), rtol=1e-4)
    p = (np.log(np.arange(6) + 2) - np.log(np.arange(6) + 1)) / np.log(7)
    np.testing.assert_allclose(np.bincount(sampled, minlength=6) / 4000, p, atol=0.04)
    np.testing.assert_allclose(of_true[:, 0], 4000 * p[labels[:, 0]], rtol=1e-5)
    np.testing.assert_allclose(of_sampled, 4000 * p[sampled], rtol=1e-5)


def test_dropout_of_states_leaves_the_cell_state():
    cell = tf.nn.rnn_cell.LSTMCell(64)
    wrapper = tf.nn.rnn_cell.DropoutWrapper(cell, state_keep_prob=0.5)
    x = tf.constant(DRAW.randn(2, 3).astype("f"))
    output, state = wrapper(x, cell.zero_state(2))
    value, c, h = run(output, state.c, state.h)
    assert c.all() and value.all() and 20 < (h == 0).sum() < 108


def test_dropout_of_a_cell_has_a_seed_for_each_tensor():
    keep = {"input_keep_prob": 0.5, "output_keep_prob": 0.5, "state_keep_prob": 0.5, "seed": 3}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        cell, h = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), **keep), tf.ones([2, 4])
        output, state = cell(tf.ones([2, 5]), tf.nn.rnn_cell.LSTMStateTuple(h, h))
        session.run(tf.global_variables_initializer())
        kept = [[(x != 0).astype(int).tolist() for x in session.run([output, state.h])] for _ in range(2)]
    # TensorFlow 2.21 keeps these elements.
    assert kept[0] == [[[1, 0, 1, 0], [0, 0, 0, 1]], [[0, 0, 1, 1], [0, 0, 0, 1]]]
    assert kept[1] == [[[0, 0, 0, 1], [1, 1, 1, 1]], [[1, 0, 1, 1], [1, 1, 1, 0]]]


def test_states_of_stacked_cells_in_one_tensor():
    x, state = DRAW.randn(2, 3).astype("f"), DRAW.randn(2, 9).astype("f")
    cells = [tf.nn.rnn_cell.BasicRNNCell(size) for size in (4, 5)]
    stack = tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False)
    assert stack.state_size == 9
    output, next_state = stack(tf.constant(x), tf.constant(state))
    value, found, *parameters = run(output, next_state, *tf.trainable_variables())
    first = np.tanh(np.hstack([x, state[:, :4]]) @ parameters[0] + parameters[1])
    second = np.tanh(np.hstack([first, state[:, 4:]]) @ parameters[2] + parameters[3])
    np.testing.assert_allclose(value, second, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, np.hstack([first, second]), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="state_is_tuple is not set"):
        tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4)], state_is_tuple=False)


def test_rows_of_a_matrix_in_parts():
    matrix = np.arange(10, dtype="f").reshape(5, 2)
    in_turns = [tf.constant(matrix[::2]), tf.constant(matrix[1::2])]
    in_sequence = [tf.constant(matrix[:3]), tf.constant(matrix[3:])]
    ids = [4, 0, 3, 1, 2]
    for parts, strategy in ((in_turns, "mod"), (in_sequence, "div")):
        np.testing.assert_array_equal(run(tf.nn.embedding_lookup(parts, ids, strategy))[0], matrix[ids])
    with pytest.raises(ValueError, match="Unrecognized partition strategy: odd"):
        tf.nn.embedding_lookup(in_turns, ids, "odd")


def test_a_weighted_loss_keeps_the_dtype():
    losses = np.array([1.0, 3.0])
    assert run(tf.losses.compute_weighted_loss(losses, loss_collection=None))[0] == np.float64(2.0)
    assert tf.losses.compute_weighted_loss(losses).dtype is ac.float64


def test_shapes_of_labels_predictions_and_weights():
    # Values of TensorFlow 2.21.
    updates = [
        tf.metrics.accuracy([0, 1, 2], [0.7, 1.0, 2.0])[1], tf.metrics.accuracy([0, 1], [[0], [1]])[1],
        tf.metrics.mean_squared_error([0.0, 1.0], [[0.0], [3.0]], weights=[[1.0], [0.0]])[1],
        tf.losses.sparse_softmax_cross_entropy([[0], [1]], [[0.0, 1.0], [1.0, 0.0]], weights=[[1.0], [3.0]]),
    ]  # fmt: skip
    np.testing.assert_allclose(run(*updates), [1, 1, 0, 2.6265233], rtol=1e-6)
    square = [[0.0, 1.0], [1.0, 2.0]]
    with pytest.raises(ValueError, match=r"Shapes \(2, 1\) and \(2,\) are incompatible"):
        tf.losses.mean_squared_error([0.0, 1.0], [[0.0], [3.0]])
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.losses.mean_squared_error(square, square, weights=[1.0, 2.0])


def test_fused_batch_norm():
    x, mean, variance = DRAW.randn(2, 4, 3, 5).astype("f"), DRAW.randn(5).astype("f"), DRAW.rand(5).astype("f")
    scale, offset = np.arange(1, 6, dtype="f"), np.ones(5, "f")
    axes = (0, 1, 2)
    trained = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.01)
    kept = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=0.01, is_training=False)
    averaged = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, exponential_avg_factor=0.25)
    by_channel = tf.nn.fused_batch_norm(x.transpose(0, 3, 1, 2), scale, offset, epsilon=0.01, data_format="NCHW")
    trained, kept, averaged, by_channel = run(trained, kept, averaged, by_channel)
    y = (x - x.mean(axes)) / np.sqrt(x.var(axes) + 0.01) * scale + offset
    np.testing.assert_allclose(trained[0], y, atol=1e-5)
    np.testing.assert_allclose(trained[1:], [x.mean(axes), x.var(axes, ddof=1)], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(by_channel[0].transpose(0, 2, 3, 1), y, atol=1e-5)
    np.testing.assert_allclose(kept[0], (x - mean) / np.sqrt(variance + 0.01) * scale + offset, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(averaged[1], 0.25 * x.mean(axes) + 0.75 * mean, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="Both `mean` and `variance` must be a 1D tensor"):
        tf.nn.fused_batch_norm(x, scale, offset, is_training=False)
