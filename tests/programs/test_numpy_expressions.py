"""The programs of fixtures/numpy that compute with whole arrays: NumPy as people write it, as one graph.

The constant KERNELS of a program lists its ops that have no native form.
"""

import copy
from pathlib import Path

import numpy as np
import pytest

import autoconv
from tests.module_loading import load_module

FOLDER = Path(__file__).parents[2] / "fixtures" / "numpy"


def load(path):
    return load_module(path, f"numpy_{path.stem}")


MODULES = {path.stem: load(path) for path in sorted(FOLDER.glob("*.py")) if "\nKERNELS = " in path.read_text()}


def assert_close(found, expected, tolerance):
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for actual_part, expected_part in zip(found, expected, strict=True):
            assert_close(actual_part, expected_part, tolerance)
        return
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.search
def test_one_graph_has_the_results_of_numpy(name):
    module = MODULES[name]
    compiled = autoconv.compile(module.program)
    signatures = set()
    for seed in (0, 1):
        arguments = module.make(seed)
        signatures.add(tuple((a.dtype, a.shape) if isinstance(a, np.ndarray) else type(a) for a in arguments))
        before = copy.deepcopy(arguments)
        assert_close(compiled(*arguments), module.program(*before), module.TOLERANCE)
        assert_close(arguments, before, 0.0)
    report = compiled.explain()
    assert "plain Python" not in report, report
    assert compiled.experimental_get_tracing_count() == len(signatures), report
    kernels = {kernel for trace in compiled.concrete_functions for kernel in trace.kernels}
    assert kernels <= set(module.KERNELS), kernels
