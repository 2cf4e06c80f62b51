"""The backend that a function names: it takes precedence over the settings; unknown names and missing packages."""

import os
import subprocess
import sys

import numpy as np
import pytest

import autoconv as ac
from autoconv import backends
from autoconv.config import SETTINGS


def doubled(x):
    return x * 2.0 + 1.0


def test_each_function_has_its_own_backend():
    pytest.importorskip("jaxlib")
    x = np.arange(4.0)
    compiled_by_backend = {name: ac.compile(doubled, backend=name) for name in ("native", "xla", "reference")}
    for f in compiled_by_backend.values():
        np.testing.assert_array_equal(f(x), doubled(x))
    report = {name: f.explain() for name, f in compiled_by_backend.items()}
    assert [name for name, text in report.items() if "compiled by XLA" in text] == ["xla"]
    assert [name for name, f in compiled_by_backend.items() if f.concrete_functions[0].kernels] == ["reference"]


def test_methods_and_the_decorator_form():
    pytest.importorskip("jaxlib")

    class Model:
        factor = 3.0

        @ac.compile(backend="xla")
        def scaled(self, x):
            return x * self.factor

    model = Model()
    assert model.scaled(np.ones(2)).tolist() == [3.0, 3.0]
    assert "compiled by XLA" in model.scaled.explain()


def test_gradients_and_other_shapes_keep_the_backend():
    pytest.importorskip("jaxlib")
    seen = []

    class Noting(type(backends.get_backend("xla"))):
        def compile(self, graph, form=None, pool_number=0):
            seen.append(graph.name)
            return super().compile(graph, form, pool_number)

    backends.BACKENDS["noting"] = Noting(backends.BACKENDS["llvm"])
    try:
        f = ac.function(lambda x: ac.reduce_sum(x * x), backend="noting")
        for size in (2, 3, 4):
            x = ac.constant(np.arange(float(size)))
            with ac.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            np.testing.assert_allclose(tape.gradient(y, x).numpy(), 2 * np.arange(float(size)))
        assert any(name.endswith("_back") for name in seen)
    finally:
        del backends.BACKENDS["noting"]


def test_a_named_backend_is_not_measured_against_plain_python(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    f = ac.compile(doubled, backend="reference")
    for _ in range(40):
        f(1.0)
    assert "plain Python" not in f.explain()


def test_unknown_names():
    for decorator in (ac.compile, ac.function):
        with pytest.raises(ValueError, match="there is no backend 'cuda': there are native, reference, xla"):
            decorator(doubled, backend="cuda")


def test_a_missing_package(monkeypatch):
    pytest.importorskip("jaxlib")
    monkeypatch.setattr("autoconv.backends.xla.backend.is_installed", lambda: False)
    monkeypatch.delitem(backends.BACKENDS, "xla", raising=False)
    with pytest.raises(ImportError, match=r"the backend xla needs the package jaxlib: pip install 'autoconv\[xla\]'"):
        ac.compile(doubled, backend="xla")


def test_a_wrong_name_in_the_environment():
    text = "import autoconv; print(autoconv.compile(lambda x: x * 2.0)(3.0), autoconv.config.SETTINGS.backend)"
    completed = subprocess.run(
        [sys.executable, "-c", text], env={**os.environ, "AUTOCONV_BACKEND": "cuda"}, check=True, capture_output=True,
        text=True,
    )
    assert completed.stdout == "6.0 llvm\n"
    assert "AUTOCONV_BACKEND: 'cuda' is none of llvm, native, reference, xla" in completed.stderr
