"""Every workload with small inputs: results are NumPy's, and only expected ops run by kernels."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import numpy as np
import pytest

from autoconv.bench.rounds import workloads
from autoconv.bench.worker import Bench, Mismatch

FILES = workloads(Path(__file__).parents[2] / "fixtures" / "bench")


@pytest.mark.parametrize("name", FILES)
def test_a_workload_has_the_results_of_numpy(name: str) -> None:
    bench = Bench(str(FILES[name]), "autoconv", True)
    figures = bench.first(1)
    assert figures["seconds"] > 0
    assert set(figures["kernels"]) <= set(getattr(bench.workload, "KERNELS", ()))
    assert bench.round(2, 0.001)["seconds"] > 0
    assert len(bench.function.concrete_functions) == 1


@pytest.mark.parametrize("name", FILES)
def test_inputs_differ_from_seed_to_seed_and_have_numpys_version(name: str) -> None:
    bench = Bench(str(FILES[name]), "numpy", True)
    first, second = bench.inputs(1), bench.inputs(2)
    assert [a.dtype for a in first] == [a.dtype for a in second]
    if name != "collatz":  # its input is one of few numbers, which two seeds may share
        assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert bench.workload.SUITE in ("calls", "arrays", "matrices", "loops", "learning")
    assert bench.round(1, 0)["seconds"] > 0


def test_a_wrong_result_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        "import numpy as np\n"
        "SUITE = 'x'\n"
        "def inputs(random, tiny): return (random.random(10, np.float32),)\n"
        "def with_numpy(x): return x + np.float32(1)\n"
        "def with_graph(tf): return lambda x: x + 1.001\n"
    )
    with pytest.raises(Mismatch, match="10 of 10 elements of result 0"):
        Bench(str(file), "autoconv", True).first(0)


def test_numpy_versions_against_published_values() -> None:
    """Compare with values from other sources."""
    collatz = Bench(str(FILES["collatz"]), "numpy", True).workload.with_numpy
    assert [int(collatz(np.asarray(n, np.int64))) for n in (1, 27, 837799)] == [0, 111, 524]  # OEIS A006577
    price = Bench(str(FILES["black_scholes"]), "numpy", True).workload.with_numpy
    s, k, t, rate, volatility = 42.0, 40.0, 0.5, 0.05, 0.2
    d1 = (math.log(s / k) + (rate + volatility**2 / 2) * t) / (volatility * math.sqrt(t))
    normal = statistics.NormalDist().cdf
    expected = s * normal(d1) - k * math.exp(-rate * t) * normal(d1 - volatility * math.sqrt(t))
    found = price(*(np.full(1, value, np.float32) for value in (s, k, t)))
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


PROGRAMS = workloads(Path(__file__).parents[2] / "fixtures" / "numpy", (), ("conjugate_gradients", "heat_slices"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_compiled_as_it_is(name: str) -> None:
    bench = Bench(str(PROGRAMS[name]), "autoconv", True)
    assert bench.first(1)["seconds"] > 0 and bench.round(1, 0.001)["seconds"] > 0
    assert bench.function.python_function is bench.workload.program
    assert "plain Python" not in bench.function.explain()
    assert Bench(str(PROGRAMS[name]), "numpy", True).round(1, 0)["seconds"] > 0
    with pytest.raises(NotImplementedError):
        Bench(str(PROGRAMS[name]), "autoconv", True)._make_function("with_jax")
