"""Gradients of the programs in fixtures/numpy, in-place updates included, against central differences.

The derivative is that of a weighted sum of a program's results and of the arrays that it changed, along one direction
for each argument. Programs of integers and texts alone are left out, as are those whose results are counts or sampled.
"""

import copy
from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.module_loading import load_module

FOLDER = Path(__file__).parents[2] / "fixtures" / "numpy"
STEP = 1e-6
# The arguments to differentiate by. Thresholds and times are not among them: nothing flows to these.
PROGRAMS = {
    "bubble_sort": (0,), "cholesky": (0,), "cnn_forward": (0, 1, 2, 3), "conjugate_gradients": (0,),
    "floyd_warshall": (0,), "gauss_elimination_slices": (0, 1), "gauss_seidel": (0, 1), "heat_slices": (0, 1),
    "holt_winters": (0, 1, 2), "hopfield": (0,), "image_filters": (0, 1), "k_means": (0, 1), "kd_search": (0, 3),
    "lorenz_ensemble": (0, 1), "lu_decomposition": (0,), "monte_carlo_options": (0, 1, 2, 3), "n_body_loops": (0, 1, 2),
    "option_pricing": (0, 1, 2, 3, 4), "page_rank": (0, 1), "pca_by_power": (0,), "qr_eigenvalues": (0,),
    "ray_marching": (1,), "softmax_regression": (0, 2), "sparse_product": (0,), "spectral_heat": (0, 1),
}  # fmt: skip
FEWER_STEPS = {
    "gauss_seidel": {3: 2}, "n_body_loops": {4: 1}, "lorenz_ensemble": {2: 8}, "softmax_regression": {3: 5},
    "ray_marching": {0: 8, 2: 12},
}  # fmt: skip
LEFT_OUT = {
    "crc32", "edit_distance", "genetic_algorithm", "knapsack", "life_by_cells", "life_by_rolling", "median_filter",
    "merge_sort", "sieve",  # numbers that have no derivatives
    "histogram_loop", "julia_set", "metropolis",  # counts, and a sample
}  # fmt: skip


def load(path):
    return load_module(path, f"gradients_{path.stem}")


def is_floating(x):
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def weighted(program, arguments):
    """Return the weighted sum of results and changed arrays as a function of the program's arguments."""
    after = copy.deepcopy(arguments)
    found = program(*after)
    results = found if isinstance(found, tuple) else (found,)
    names = [f"a{i}" for i in range(len(arguments))]
    read = [(f"r[{i}]" if isinstance(found, tuple) else "r", value) for i, value in enumerate(results)]
    read += [(names[i], value) for i, value in enumerate(after) if not np.array_equal(value, arguments[i])]
    lines, scope = [f"def total({', '.join(names)}):", f"    r = program({', '.join(names)})", "    s = 0.0"], {}
    for k, (text, value) in enumerate((text, value) for text, value in read if is_floating(value)):
        scope[f"w{k}"] = np.cos(np.arange(np.size(value)) + k).reshape(np.shape(value))
        scope[f"w{k}"][np.isinf(value)] = 0.0
        finite = text if np.all(np.isfinite(value)) else f"np.minimum({text}, 1e9)"
        lines.append(f"    s = s + np.sum({finite} * w{k})" if np.ndim(value) else f"    s = s + {text} * {k + 1.5}")
    return "\n".join([*lines, "    return s", ""]), {"np": np, "program": program, **scope}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.search
def test_gradients_of_numpy_programs(name, tmp_path, monkeypatch):
    monkeypatch.setattr(SETTINGS, "backend", "reference")  # what graphs mean; native code is held to that elsewhere
    module = load(FOLDER / f"{name}.py")
    arguments = list(module.make(0))
    for position, value in FEWER_STEPS.get(name, {}).items():
        arguments[position] = value
    numbers = np.random.default_rng(7)
    if name in ("floyd_warshall", "page_rank"):  # away from the kinks that whole numbers lie on
        arguments[0] = arguments[0] + np.where(arguments[0] > 0, numbers.random(arguments[0].shape), 0.0)
    text, scope = weighted(module.program, arguments)
    path = tmp_path / f"total_{name}.py"
    path.write_text(text)
    exec(compile(text, str(path), "exec"), scope)
    total, positions = scope["total"], PROGRAMS[name]
    compiled = autoconv.compile(total)
    found = autoconv.grad(compiled, positions)(*copy.deepcopy(arguments))
    assert "plain Python" not in compiled.explain(), compiled.explain()
    for position, gradient in zip(positions, found, strict=True):
        value = arguments[position]
        free = np.isfinite(value) & (np.asarray(value) != 0.0)
        direction = np.where(free, numbers.standard_normal(np.shape(value)), 0.0)
        ends = []
        for sign in (1.0, -1.0):
            call_arguments = copy.deepcopy(arguments)
            moved = value + sign * STEP * direction
            call_arguments[position] = moved if isinstance(value, np.ndarray) else float(moved)
            ends.append(total(*call_arguments))
        expected = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(np.sum(np.asarray(gradient) * direction), expected, rtol=2e-5, atol=1e-6)


def test_every_program_is_differentiated_or_excluded_with_a_reason():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PROGRAMS) | LEFT_OUT
