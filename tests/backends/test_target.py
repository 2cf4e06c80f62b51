"""Code is written for the compiler's Target argument, and nothing else reads the machine's features."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autoconv.backends import llvm
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.target.machine import Registers, Target, compiling_for, current_target, this_machine
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS

PRODUCT = """\
graph f(%x: float32[40,24], %y: float32[24,32]) {
  %z = matmul(%x, %y): float32[40,32]
  return %z
}
"""
HALF = """\
graph f(%x: float16[40]) {
  %y = add(%x, %x): float16[40]
  return %y
}
"""
AVX2 = Target(features=frozenset({"avx2", "fma", "f16c"}), threads=2)
AVX512 = replace(AVX2, features=AVX2.features | {"avx512f", "avx512vl"})
PLAIN = Target()


@pytest.fixture
def texts(monkeypatch):
    """Record the texts of compiled graphs, one string for each."""
    found = []
    plain = ModuleText.texts

    def texts(self):
        written = plain(self)
        found.append("\n".join(written))
        return written

    monkeypatch.setattr(ModuleText, "texts", texts)
    return found


def run(text, target, *arguments):
    graph = from_text(text, OPS)
    return np.asarray(llvm.compile_graph(graph, target=target)(list(arguments))[0])


def test_vectors_of_a_product_are_as_wide_as_the_targets(texts):
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(shape).astype("float32") for shape in ((40, 24), (24, 32)))
    for target, present, absent in ((AVX2, "<8 x float>", "<16 x float>"), (AVX512, "<16 x float>", "<8 x float>")):
        np.testing.assert_allclose(run(PRODUCT, target, x, y), x @ y, rtol=1e-4, atol=1e-5)
        assert present in texts[-1]
        assert absent not in texts[-1]
    np.testing.assert_allclose(run(PRODUCT, PLAIN, x, y), x @ y, rtol=1e-4, atol=1e-5)
    assert " x float>" not in texts[-1]


def test_a_target_without_16_bit_conversions_uses_kernels():
    graph = from_text(HALF, OPS)
    x = np.arange(40, dtype="float16")
    for target, kernels in ((AVX2, []), (PLAIN, None)):  # None: all
        compiled = llvm.compile_graph(graph, target=target)
        assert compiled.kernel_calls == kernels
        np.testing.assert_array_equal(compiled([x])[0], x + x)


def test_the_same_target_gives_the_same_text(texts):
    x, y = np.ones((40, 24), "float32"), np.ones((24, 32), "float32")
    for target in (AVX2, replace(AVX2), this_machine(), None):
        run(PRODUCT, target, x, y)
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]


def test_graphs_compiled_within_a_compilation_have_its_target():
    with compiling_for(AVX2):
        assert current_target() is AVX2
        with compiling_for(None):
            assert current_target() is AVX2
        with compiling_for(PLAIN):
            assert current_target() is PLAIN
    assert current_target() == this_machine()


def test_facts_of_targets():
    registers = AVX2.vector_registers, AVX512.vector_registers, PLAIN.vector_registers
    assert registers == (Registers(16, 32), Registers(32, 64), None)
    assert AVX2.has_half_conversions and not PLAIN.has_half_conversions
    assert replace(PLAIN, architecture="arm64").has_half_conversions
    assert replace(AVX512, llvm=(0, 50)).has_ldexp and not replace(AVX512, llvm=(0, 49)).has_ldexp
    assert AVX2.is_parallel and not PLAIN.is_parallel and not replace(AVX2, has_pool=False).is_parallel


def test_passes_and_lowerings_never_ask_the_machine():
    folder = Path(llvm.__file__).parent
    for part in ("ir", "analysis", "legalize", "schedule", "codegen", "entry"):
        for path in (folder / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = {alias.name for alias in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
                module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
                assert not {"os", "platform", "multiprocessing", "this_machine"} & names, path
                assert module not in ("autoconv.config", "autoconv.backends.llvm.target.cpu"), path


def test_processors_that_store_selected_lanes_slowly():
    zen4, zen5 = frozenset({"avx512f", "sse4a"}), frozenset({"avx512f", "sse4a", "avx512_vp2intersect"})
    found = [Target(features=features).stores_compressed_slowly for features in (zen4, zen5, frozenset({"avx512f"}))]
    assert found == [True, False, False]
