"""A checkpoint that is restored before a Keras model is built sets the values of its variables and its optimizer's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as ac

keras = ac.keras


class Line(keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.Dense(5)

    def call(self, x: Any) -> Any:
        return self.layer(x)


def _make() -> tuple[Any, Any, Any]:
    model, optimizer = Line(), keras.optimizers.Adam(0.1)
    return model, optimizer, ac.train.Checkpoint(model=model, optimizer=optimizer)


def _step(model: Any, optimizer: Any) -> None:
    x = ac.constant([[1.0], [2.0]])
    with ac.GradientTape() as tape:
        loss = ac.reduce_mean((model(x) - 1.0) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


@pytest.mark.parametrize("decorate", [lambda f: f, ac.function], ids=["eager", "function"])
def test_training_continues_with_the_same_numbers(tmp_path: Path, decorate: Any) -> None:
    model, optimizer, checkpoint = _make()
    _step(model, optimizer)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    _step(model, optimizer)
    other_model, other_optimizer, other_checkpoint = _make()
    status = other_checkpoint.restore(path)
    decorate(lambda: _step(other_model, other_optimizer))()
    assert len(other_model.trainable_variables) == 2
    for restored, trained in zip(other_optimizer.variables, optimizer.variables, strict=True):
        np.testing.assert_allclose(restored.numpy(), trained.numpy(), rtol=1e-6)
    for restored, trained in zip(other_model.variables, model.variables, strict=True):
        np.testing.assert_allclose(restored.numpy(), trained.numpy(), rtol=1e-6)
    status.assert_consumed()


def test_a_value_of_another_shape_is_refused(tmp_path: Path) -> None:
    model, _, checkpoint = _make()
    model(ac.constant([[1.0, 2.0]]))
    path = checkpoint.save(str(tmp_path / "ckpt"))
    other_model, _, other_checkpoint = _make()
    other_checkpoint.restore(path)
    with pytest.raises(ValueError, match="Shape mismatch"):
        other_model(ac.constant([[1.0]]))


def test_layers_of_a_model_that_is_not_built_are_found_behind_its_input(tmp_path: Path) -> None:
    def make() -> Any:
        return ac.keras.Sequential([ac.keras.layers.Dense(size) for size in (3, 4, 5)])

    model, other = make(), make()
    model(ac.ones([1, 2]))
    status = ac.train.Checkpoint(model=other).restore(ac.train.Checkpoint(model=model).save(str(tmp_path / "ckpt")))
    ac.function(lambda: other(ac.ones([1, 2])))()
    for restored, saved in zip(other.variables, model.variables, strict=True):
        np.testing.assert_array_equal(restored.numpy(), saved.numpy())
    status.assert_existing_objects_matched()
