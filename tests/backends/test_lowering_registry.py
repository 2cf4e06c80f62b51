"""Lowerings register themselves: a new op's native code is one function, and its module one import."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from autoconv.backends import llvm
from autoconv.backends.llvm.analysis.classify import CLASSIFIERS, lowering_class
from autoconv.backends.llvm.codegen.registry import BY_CLASS, BY_OP, native_lowering
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops.record import Op, no_gradient

CODEGEN = Path(llvm.__file__).parent / "codegen"
ARRAY = TensorType(float64, (3,))


@pytest.fixture
def without_test_op():
    yield
    for table in (CLASSIFIERS, BY_OP):
        table.pop("test_first", None)


def test_the_lowering_of_a_new_op_is_one_function(without_test_op):
    @native_lowering("test_first", fits=lambda node: node.attributes["end"] == 0)
    def write(region, node):
        region.set(node.results[0], region.element(node.inputs[0], (0,)))

    op = Op(
        name="test_first", graphdef="", result=lambda x, end: TensorType(float64, ()), kernel=lambda x, end: x[end],
        gradient=no_gradient("not differentiated"),
    )
    for end in (0, -1):
        graph = Graph("first")
        x = graph.add_parameter(ARRAY, "x")
        node = graph.add(op, [x], {"end": end})
        graph.outputs = node.results
        assert lowering_class(node) == ("whole" if end == 0 else "kernel")
        run = llvm.NativeGraph(graph, None)
        assert run.kernels == ([] if end == 0 else ["test_first"])
        assert run([np.array([2.0, 3.0, 4.0])]) == [2.0 if end == 0 else 4.0]


def test_every_module_that_registers_a_lowering_is_imported():
    found = {
        ".".join(("autoconv.backends.llvm.codegen", *path.relative_to(CODEGEN).with_suffix("").parts))
        for path in CODEGEN.rglob("*.py")
        if re.search(r"codegen\.registry import|import .*\bon_objects\b", path.read_text(encoding="utf-8"))
    }
    assert len(found) > 25
    assert found <= sys.modules.keys()


def test_lowerings_are_registered_by_class_or_by_op():
    assert {"scalar", "view", "matmul", "update", "search"} <= BY_CLASS.keys()
    assert not {"whole", "control", "memory", "object"} & BY_CLASS.keys()
    assert {"while", "sort", "array_load", "object_apply"} <= BY_OP.keys()
