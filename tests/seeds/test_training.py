"""Small functions, shared layers, training over datasets, and running means, with the import line changed."""

import numpy as np

import autoconv as tf


def dense(x, W, b):
    return tf.nn.sigmoid(tf.matmul(x, W) + b)


class Dense(tf.Module):
    """A layer that makes its variables when it is first called."""

    def __init__(self, size, name=None):
        super().__init__(name=name)
        self.size, self.built = size, False

    def __call__(self, x, training=False):
        if not self.built:
            self.w = tf.Variable(tf.random.stateless_normal([x.shape[-1], self.size], [1, self.size]), name="w")
            self.b = tf.Variable(tf.zeros([self.size]), name="b")
            self.built = True
        return dense(x, self.w, self.b)


class Sequential(tf.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def __call__(self, x, training=False):
        for layer in self.layers:
            x = layer(x, training=training)
        return x


class SGD:
    def __init__(self, rate):
        self.rate, self.iterations = rate, tf.Variable(0, trainable=False)

    def apply_gradients(self, pairs):
        for gradient, variable in pairs:
            variable.assign_sub(self.rate * gradient)
        self.iterations.assign_add(1)


def loss_fn(prediction, y):
    return tf.reduce_mean(tf.square(prediction - y))


def data(seed, size=16):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, 3)).astype(np.float32)
    return x, (x.sum(1, keepdims=True) > 0).astype(np.float32)


def test_a_perceptron_of_small_functions():
    @tf.function
    def multilayer_perceptron(x, w0, b0, w1, b1):
        x = dense(x, w0, b0)
        return dense(x, w1, b1)

    x, _ = data(0)
    rng = np.random.default_rng(1)
    shapes = [(3, 4), (4,), (4, 1), (1,)]
    weights = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    expected = x
    for w, b in (weights[:2], weights[2:]):
        expected = 1 / (1 + np.exp(-(expected @ w + b)))
    np.testing.assert_allclose(multilayer_perceptron(x, *map(tf.Variable, weights)).numpy(), expected, rtol=1e-5)


def test_a_trunk_shared_by_two_heads():
    trunk, head1, head2 = (Sequential([Dense(n), Dense(n)]) for n in (4, 1, 1))
    path1, path2 = Sequential([trunk, head1]), Sequential([trunk, head2])
    optimizer = SGD(0.5)
    assert path1.trainable_variables == ()
    for path, trained in ((path1, path1), (path2, head2)):
        before = None
        for x, y in tf.data.Dataset.from_tensor_slices(data(2)).batch(4):
            with tf.GradientTape() as tape:
                loss = loss_fn(path(x, training=True), y)
            before = [v.numpy().copy() for v in trunk.trainable_variables] if before is None else before
            gradients = tape.gradient(loss, trained.trainable_variables)
            optimizer.apply_gradients(zip(gradients, trained.trainable_variables, strict=True))
        moved = any((v.numpy() != was).any() for v, was in zip(trunk.trainable_variables, before, strict=True))
        assert moved == (path is path1)
    assert len(path1.trainable_variables) == 8
    assert len(head2.trainable_variables) == 4


def test_training_over_a_dataset_is_one_trace(capsys):
    @tf.function
    def train(model, dataset, optimizer):
        print("tracing")
        for x, y in dataset:
            with tf.GradientTape() as tape:
                prediction = model(x, training=True)
                loss = loss_fn(prediction, y)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    model, optimizer = Sequential([Dense(4), Dense(1)]), SGD(0.5)
    x, y = data(3)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    model(x)
    before = loss_fn(model(x), y).numpy()
    train(model, dataset, optimizer)
    train(model, dataset, optimizer)
    assert optimizer.iterations.numpy() == 4
    assert loss_fn(model(x), y).numpy() < before
    assert capsys.readouterr().out == "tracing\n"
    assert train.experimental_get_tracing_count() == 1


class Mean(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

    def update_state(self, value):
        self.total.assign_add(tf.reduce_mean(value))
        self.count.assign_add(1.0)

    def result(self):
        return self.total / self.count

    def reset_states(self):
        self.total.assign(0.0)
        self.count.assign(0.0)


def test_a_mean_that_is_logged_and_reset(capfd):
    iterations, average = tf.Variable(0), Mean()

    def train(dataset, log_freq=2):
        for loss in dataset:
            average.update_state(loss)
            iterations.assign_add(1)
            if tf.equal(iterations % log_freq, 0):
                tf.print("loss", average.result(), "step", iterations)
                average.reset_states()

    for run in (train, tf.function(train)):
        iterations.assign(0)
        average.reset_states()
        run(tf.data.Dataset.from_tensor_slices([1.0, 3.0, 5.0, 6.0, 9.0]))
        assert capfd.readouterr().err == "loss 2 step 2\nloss 5.5 step 4\n"
        assert average.result().numpy() == 9.0


def test_an_unrolled_recurrence_over_time():
    class Cell(tf.Module):
        def __init__(self, size):
            super().__init__()
            self.size = size
            self.w = tf.Variable(tf.random.stateless_normal([3 + size, size], [5, 6]))

        def zero_state(self, batch_size, dtype):
            return tf.zeros([batch_size, self.size], dtype)

        def __call__(self, x, state):
            state = tf.tanh(tf.concat([x, state], 1) @ self.w)
            return state, state

    class DynamicRNN(tf.Module):
        def __init__(self, rnn_cell):
            super().__init__()
            self.cell = rnn_cell

        def call(self, input_data):
            # [batch, time, features] -> [time, batch, features]
            input_data = tf.transpose(input_data, [1, 0, 2])
            outputs = tf.TensorArray(tf.float32, input_data.shape[0])
            state = self.cell.zero_state(input_data.shape[1], dtype=tf.float32)
            for i in tf.range(input_data.shape[0]):
                output, state = self.cell(input_data[i], state)
                outputs = outputs.write(i, output)
            return tf.transpose(outputs.stack(), [1, 0, 2]), state

    rnn = DynamicRNN(Cell(4))
    x = np.random.default_rng(7).normal(size=(2, 5, 3)).astype(np.float32)
    state, expected = np.zeros((2, 4), np.float32), []
    for t in range(5):
        state = np.tanh(np.concatenate([x[:, t], state], 1) @ rnn.cell.w.numpy())
        expected.append(state)
    for run in (rnn.call, tf.function(rnn.call)):
        outputs, last = run(tf.constant(x))
        np.testing.assert_allclose(outputs.numpy(), np.stack(expected, 1), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(last.numpy(), state, rtol=1e-5, atol=1e-6)
