"""Keras models as workloads: a call is an epoch, and losses are TensorFlow's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from autoconv.bench.rounds import workloads
from autoconv.bench.worker import load_workload

pytestmark = pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")

FILES = workloads(Path(__file__).parents[2] / "fixtures" / "keras")


def test_the_models_are_found() -> None:
    assert list(FILES) == ["cnn_with_batch_norm", "gru_with_masking", "lstm", "mlp", "mobilenet_v2", "transformer"]


@pytest.mark.parametrize("name", ["mlp", "gru_with_masking"])
def test_a_model_has_the_losses_of_tensorflow(name: str) -> None:
    training = load_workload(str(FILES[name]), "autoconv", True)
    figures = training.first(0)
    assert figures["seconds"] > training.round(0, 0.0)["seconds"] > 0
    assert figures["memory"] > figures["memory_growth"] >= 0 and len(figures["losses"]) == 2


def test_other_losses_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mlp.py"
    file.write_text(FILES["mlp"].read_text("utf-8").replace("2.4040296", "2.41"), "utf-8")
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        load_workload(str(file), "autoconv", True).first(0)


def test_libraries_without_a_backend_of_keras_are_left_out() -> None:
    with pytest.raises(NotImplementedError):
        load_workload(str(FILES["mlp"]), "numpy", True)
