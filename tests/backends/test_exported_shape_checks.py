"""Shapes that a function requires of open sizes are tested in exported graphs as well."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

pytest.importorskip("onnxruntime")


def test_required_sizes_in_onnx() -> None:
    spec = ac.TensorSpec([None, 2], ac.float32)
    function = ac.function(lambda x: ac.ensure_shape(x, [3, None]) + 1.0, input_signature=[spec])
    run = ac.onnx.load(ac.onnx.export(function))
    np.testing.assert_array_equal(run(np.zeros((3, 2), np.float32)), np.ones((3, 2)))
    with pytest.raises(Exception, match="ensure_shape"):
        run(np.zeros((4, 2), np.float32))
