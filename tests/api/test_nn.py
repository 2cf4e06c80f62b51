"""Activations, losses, normalisation, lookup and dropout, against their definitions in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.api.nn import layers
from autoconv.api.random import stateful
from autoconv.api.random.dropout import dropout
from autoconv.errors import InvalidArgumentError

X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])


def softmax(x: Any, axis: int = -1) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (layers.relu(X), np.maximum(X, 0)),
        (layers.relu6(X * 3), np.clip(X * 3, 0, 6)),
        (layers.elu(X), np.where(X > 0, X, np.expm1(X))),
        (layers.leaky_relu(X, 0.1), np.where(X > 0, X, 0.1 * X)),
        (layers.silu(X), X / (1 + np.exp(-X))),
        (layers.softsign(X), X / (1 + np.abs(X))),
        (layers.softplus(X), np.log1p(np.exp(X))),
        (layers.gelu(X), X * 0.5 * (1 + np.vectorize(math.erf)(X / math.sqrt(2)))),
        (layers.softmax(X), softmax(X)),
        (layers.softmax(X, axis=0), softmax(X, 0)),
        (layers.log_softmax(X), np.log(softmax(X))),
        (layers.l2_loss(X), (X**2).sum() / 2),
    ],
)
def test_activations(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_the_gelu_approximation() -> None:
    np.testing.assert_allclose(layers.gelu(X, approximate=True).numpy(), layers.gelu(X).numpy(), atol=1e-3)


def test_the_gradient_of_cross_entropies_is_softmax_minus_labels() -> None:
    labels = np.array([[1.0, 1.0, 0.0], [0.2, 0.3, 0.1]])  # sums other than one, as TensorFlow's kernel takes them
    x, y = autoconv.constant(X), autoconv.constant(labels)
    with autoconv.GradientTape() as tape:
        tape.watch([x, y])
        loss = layers.softmax_cross_entropy_with_logits(y, x)
    by_logits, by_labels = tape.gradient(loss, [x, y])
    np.testing.assert_allclose(loss, -(labels * np.log(softmax(X))).sum(1))
    np.testing.assert_allclose(by_logits, softmax(X) - labels)
    np.testing.assert_allclose(by_labels, -np.log(softmax(X)))


@pytest.mark.parametrize("op", [autoconv.sqrt, autoconv.math.rsqrt, autoconv.math.reciprocal])
def test_a_cotangent_of_zero_stays_zero_at_a_pole(op: Any) -> None:
    x = autoconv.constant([0.0, 4.0])
    slope_of = autoconv.function(lambda x: autoconv.gradients(op(x), x, grad_ys=[autoconv.constant([0.0, 1.0])])[0])
    found = slope_of(x).numpy()
    assert found[0] == 0 and np.isfinite(found[1])
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        y = autoconv.minimum(op(x), 5.0)  # the minimum hides what is infinite
    assert np.isfinite(tape.gradient(y, x).numpy()[1 if op is autoconv.sqrt else 0])


def test_cross_entropies() -> None:
    loss = -np.log(softmax(X))
    sparse = layers.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=X)
    np.testing.assert_allclose(sparse.numpy(), [loss[0, 2], loss[1, 0]])
    dense = layers.softmax_cross_entropy_with_logits(labels=softmax(X), logits=X)
    np.testing.assert_allclose(dense.numpy(), (softmax(X) * loss).sum(1))
    z = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1.0]])
    share = 1 / (1 + np.exp(-X))
    binary = layers.sigmoid_cross_entropy_with_logits(labels=z, logits=X)
    np.testing.assert_allclose(binary.numpy(), -z * np.log(share) - (1 - z) * np.log(1 - share))
    with pytest.raises(InvalidArgumentError, match=r"is not in \[0, 3\)"):
        layers.sparse_softmax_cross_entropy_with_logits(labels=[3, 0], logits=X)
    with pytest.raises(ValueError, match="must equal `logits"):
        layers.sparse_softmax_cross_entropy_with_logits(labels=[[2, 0]], logits=X)


def test_normalisation() -> None:
    mean, variance = layers.moments(X, [0])
    np.testing.assert_allclose(mean.numpy(), X.mean(0))
    np.testing.assert_allclose(variance.numpy(), X.var(0))
    found = layers.batch_normalization(X, mean, variance, 1.0, 2.0, 1e-3)
    np.testing.assert_allclose(found.numpy(), (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-3) * 2 + 1)
    np.testing.assert_allclose(layers.bias_add(X, [1.0, 2.0, 3.0]).numpy(), X + np.array([1, 2, 3]))


def test_embedding_lookup() -> None:
    assert layers.embedding_lookup(X, [1, 0]).numpy().tolist() == X[[1, 0]].tolist()
    rows = layers.embedding_lookup(X, [1], max_norm=1.0).numpy()
    assert np.linalg.norm(rows) == pytest.approx(1.0)


def test_dropout() -> None:
    stateful.set_seed(3)
    x = np.ones((100, 10))
    found = dropout(x, 0.25).numpy()
    assert set(np.unique(found)) == {0.0, 1 / 0.75}
    assert 0.65 < (found != 0).mean() < 0.85
    whole_rows = dropout(x, 0.5, noise_shape=[100, 1]).numpy()
    assert all(len(set(row)) == 1 for row in whole_rows)
    assert dropout(x, 0.0).numpy().tolist() == x.tolist()
    with pytest.raises(ValueError, match="rate"):
        dropout(x, 1.5)


def test_losses_of_a_replica_are_shares_of_the_mean() -> None:
    losses, weights = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32), np.array([0.5, 2.0], np.float32)
    assert float(autoconv.nn.compute_average_loss(losses)) == losses.sum() / 2
    assert float(autoconv.nn.compute_average_loss(losses, weights, 4)) == (losses * weights[:, None]).sum() / 4
    assert float(autoconv.nn.scale_regularization_loss(losses)) == losses.sum()
    strategy = autoconv.distribute.MirroredStrategy(["CPU:0"])
    found = strategy.run(autoconv.function(lambda: autoconv.nn.compute_average_loss(losses)))
    assert float(found) == losses.sum() / 2
    with pytest.raises(ValueError, match="dimension of examples"):
        autoconv.nn.compute_average_loss(1.0)


def test_moments_of_half_precision_do_not_overflow() -> None:
    x = np.array([600.0, *[0.0] * 7], np.float16)
    expected = [np.float16(75.0), np.float16(x.astype(float).var())]  # the square of 525 is above the range of float16
    for found in (layers.moments(x, [0]), autoconv.nn.weighted_moments(x, [0], np.ones(8, np.float16))):
        assert [number.numpy() for number in found] == expected
        assert all(number.dtype is autoconv.float16 for number in found)


def test_bias_add_takes_one_bias_for_each_channel() -> None:
    x = autoconv.ones([1, 2, 3])
    assert layers.bias_add(x, [1.0, 2.0], data_format="NCHW").numpy()[0, :, 0].tolist() == [2, 3]
    for value, bias in ((x, [1.0]), (x, [[1.0, 2.0, 3.0]]), (x, 1.0), ([1.0, 2.0], [1.0, 2.0])):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match=r"biases|Biases must be 1D|at least 2D"):
            layers.bias_add(value, bias)


def test_embedding_lookup_counts_rows_through_the_parts() -> None:
    parts = [autoconv.constant([[1.0], [2.0]]), autoconv.constant([[3.0], [4.0]])]
    assert layers.embedding_lookup(parts, [[3, 0]]).numpy().tolist() == [[[4], [1]]]
    assert layers.embedding_lookup([autoconv.Variable([[1.0], [2.0]])], [1]).numpy().tolist() == [[2]]
    with pytest.raises(ValueError, match="Need at least one param"):
        layers.embedding_lookup([], [1])


def test_labels_of_one_class_broadcast_to_the_logits() -> None:
    expected = -np.log(np.exp([[1.0, 2.0]]) / np.exp([[1.0, 2.0]]).sum()).sum()
    for run in (layers.softmax_cross_entropy_with_logits, autoconv.function(layers.softmax_cross_entropy_with_logits)):
        assert np.allclose(run([[1.0]], [[1.0, 2.0]]), [expected])
