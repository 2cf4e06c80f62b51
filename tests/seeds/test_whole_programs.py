"""Snippets on devices and saved models as programs of their own, with nothing but the import line changed."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path
from typing import Any

import pytest

DEVICES = """
import autoconv as tf
import autoconv.config as tf_config
player_names = ["one", "two"]

tf.config.set_soft_device_placement(False)

virtual_devices = [
    tf_config.experimental.VirtualDeviceConfiguration()
    for _ in player_names
]

tf_config.experimental.set_virtual_device_configuration(
    tf_config.experimental.list_physical_devices('CPU')[0],
    virtual_devices)

for number in range(3):
    try:
        with tf.device(f"/device:CPU:{number}"):
            print((tf.constant([1.0, 2.0]) * 2.0).device)
    except tf.errors.InvalidArgumentError as error:
        print(error.message[:60])
"""

TRUNK = """
import sys
import autoconv as tf
output_path, Dense = sys.argv[1], tf.keras.layers.Dense
data = tf.data.Dataset.from_tensor_slices((tf.random.stateless_uniform([8, 3], [1, 2]), tf.ones([8, 1])))
main_dataset, small_dataset = data.batch(4), data.take(4).batch(2)
optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
loss_fn_head1 = loss_fn_head2 = tf.keras.losses.MeanSquaredError()

trunk = tf.keras.Sequential([Dense(4), Dense(4)])
head1 = tf.keras.Sequential([Dense(1)])
head2 = tf.keras.Sequential([Dense(1)])

path1 = tf.keras.Sequential([trunk, head1])
path2 = tf.keras.Sequential([trunk, head2])

# Train on primary dataset
for x, y in main_dataset:
  with tf.GradientTape() as tape:
    # training=True is only needed if there are layers with different
    # behavior during training versus inference (e.g. Dropout).
    prediction = path1(x, training=True)
    loss = loss_fn_head1(prediction, y)
  # Simultaneously optimize trunk and head1 weights.
  gradients = tape.gradient(loss, path1.trainable_variables)
  optimizer.apply_gradients(zip(gradients, path1.trainable_variables))
trained = trunk.get_weights()

# Fine-tune second head, reusing the trunk
for x, y in small_dataset:
  with tf.GradientTape() as tape:
    # training=True is only needed if there are layers with different
    # behavior during training versus inference (e.g. Dropout).
    prediction = path2(x, training=True)
    loss = loss_fn_head2(prediction, y)
  # Only optimize head2 weights, not trunk weights
  gradients = tape.gradient(loss, head2.trainable_variables)
  optimizer.apply_gradients(zip(gradients, head2.trainable_variables))

# You can publish just the trunk computation for other people to reuse.
tf.saved_model.save(trunk, output_path)

print(all((one == other).all() for one, other in zip(trained, trunk.get_weights())))
print(trunk(tf.ones([4, 3])).numpy().tolist())
"""

REUSE = """
import sys
import autoconv as tf
trunk = tf.saved_model.load(sys.argv[1])
(result,) = trunk.signatures["serving_default"](tf.ones([4, 3])).values()
print("keras" in sys.modules)
print(result.numpy().tolist())
"""


def printed(forker: Any, program: str, *arguments: Any) -> list[str]:
    completed = forker.run(["-c", textwrap.dedent(program), *map(str, arguments)])
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.splitlines()


def test_virtual_devices(forker: Any) -> None:
    assert printed(forker, DEVICES) == [
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "/job:localhost/replica:0/task:0/device:CPU:1",
        "Could not satisfy device specification '/job:localhost/repli",
    ]


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_a_trunk_is_published_and_used_elsewhere(forker: Any, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    unchanged, expected = printed(forker, TRUNK, tmp_path / "trunk")
    assert unchanged == "True"
    assert printed(forker, REUSE, tmp_path / "trunk") == ["False", expected]
