"""Programs in fixtures/numpy: real NumPy code, with loops over elements and slices, compiled as it is.

Each has `make(seed)`, which gives arguments, `program`, and a TOLERANCE for sums that are added up in another order.
"""

import copy
from pathlib import Path

import numpy as np
import pytest

import autoconv
from tests.module_loading import load_module

_FOLDER = Path(__file__).parents[2] / "fixtures" / "numpy"
_SEEDS = (0, 1, 2)
_LOOPS = (
    "bubble_sort", "cholesky", "crc32", "edit_distance", "floyd_warshall", "gauss_elimination_slices", "gauss_seidel",
    "heat_slices", "histogram_loop", "kd_search", "knapsack", "life_by_cells", "lu_decomposition", "median_filter",
    "merge_sort", "n_body_loops", "sieve", "sparse_product",
)  # fmt: skip


def _modules():
    found = {}
    for path in (_FOLDER / f"{name}.py" for name in _LOOPS):
        module = load_module(path, f"numpy_{path.stem}")
        found[path.stem] = module
    return found


MODULES = _modules()


def _same(actual, desired, tolerance):
    if isinstance(desired, (tuple, list)):
        assert type(actual) is type(desired) and len(actual) == len(desired)
        for a, b in zip(actual, desired, strict=True):
            _same(a, b, tolerance)
        return
    assert type(actual) is type(desired)
    if isinstance(desired, np.ndarray):
        assert (actual.dtype, actual.shape) == (desired.dtype, desired.shape)
    if desired is not None:
        np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.search
def test_one_graph_has_the_results_of_numpy(name):
    module = MODULES[name]
    compiled = autoconv.compile(module.program)
    signatures = set()
    for seed in _SEEDS:
        arguments = module.make(seed)
        signatures.add(tuple((a.dtype, a.shape) if isinstance(a, np.ndarray) else type(a) for a in arguments))
        compiled_arguments, plain_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected, found = module.program(*plain_arguments), compiled(*compiled_arguments)
        _same(found, expected, module.TOLERANCE)
        for left, right in zip(compiled_arguments, plain_arguments, strict=True):
            _same(left, right, module.TOLERANCE)
        for result, expected_array in zip(_arrays(found), _arrays(expected), strict=True):
            assert [result is a for a in compiled_arguments] == [expected_array is a for a in plain_arguments]
    report = compiled.explain()
    assert "plain Python" not in report and "as Python objects" not in report, report
    assert "by kernels" not in report, report
    assert compiled.experimental_get_tracing_count() == len(signatures)


def _arrays(value):
    return [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, np.ndarray)]
