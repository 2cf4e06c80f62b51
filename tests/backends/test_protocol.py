"""Backends are used through their protocol: another one is a class and an entry of a table."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import BACKENDS, compile_graph
from autoconv.backends.interpreter import Interpreter
from autoconv.backends.protocol import Unsupported
from autoconv.config import SETTINGS
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS

GRAPH = """\
graph f(%x: float32[2]) {
  %y = add(%x, %x): float32[2]
  return %y
}
"""


class Counting(Interpreter):
    name = "counting"

    def __init__(self):
        self.compiled = []

    def compile(self, graph, form=None, pool_number=0):
        self.compiled.append(graph.name)
        return super().compile(graph, form, pool_number)


class Missing(Interpreter):
    name = "missing"

    def compile(self, graph, form=None, pool_number=0):
        raise Unsupported("no such machine")


@pytest.fixture
def use(monkeypatch):
    def use(backend):
        monkeypatch.setitem(BACKENDS, backend.name, backend)
        monkeypatch.setattr(SETTINGS, "backend", backend.name)

    return use


def test_another_backend_runs_functions_for_several_shapes(use):
    backend = Counting()
    use(backend)

    @ac.compile
    def f(x):
        return x * 2.0 + 1.0

    for size in (3, 4, 5, 6):
        np.testing.assert_array_equal(f(np.ones(size)), np.full(size, 3.0))
    assert backend.compiled


def test_gradients_run_by_the_configured_backend(use):
    backend = Counting()
    use(backend)

    @ac.function
    def f(x):
        return x * x

    x = ac.constant([1.0, 2.0])
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 4.0])
    assert len(backend.compiled) >= 2


def test_native_code_replaces_a_backend_that_does_not_run_here(use):
    use(Missing())
    with pytest.warns(RuntimeWarning, match="graphs run without the backend missing: no such machine"):
        compiled = compile_graph(from_text(GRAPH, OPS))
    assert BACKENDS["missing"] is BACKENDS["llvm"]
    np.testing.assert_array_equal(compiled([np.ones(2, "float32")])[0], [2.0, 2.0])


@pytest.mark.parametrize("name", BACKENDS)
def test_members_of_compiled_graphs(name):
    backend = BACKENDS[name]
    compiled = backend.compile(from_text(GRAPH, OPS))
    np.testing.assert_array_equal(compiled([np.ones(2, "float32")])[0], [2.0, 2.0])
    assert compiled.entry is None
    assert compiled.kernel_calls == (None if name == "reference" else [])
    assert list(compiled.notes) == []
    assert backend.name == name
    assert "add" in " ".join(backend.describe(from_text(GRAPH, OPS)))
