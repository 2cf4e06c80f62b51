"""Graphs as text: printed text parses to the same graph, and errors of the parser have a line and a reason."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from random import Random
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoconv.graph.dtypes import DTYPES, float32, string
from autoconv.graph.graph import Graph, Span
from autoconv.graph.scanner import GraphSyntaxError
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.types import (
    IterableType,
    IteratorType,
    ListType,
    MapType,
    ResourceType,
    Symbol,
    TensorType,
    TupleType,
    VariantType,
)
from autoconv.ops import OPS
from autoconv.ops.record import Op, no_gradient

random_graph = run_path(str(Path(__file__).with_name("random_graphs.py")))["random_graph"]

# An op that takes anything, so that graphs can have every attribute and every type.
ANY = Op(name="any", graphdef="Any", result=lambda *_, **__: (), kernel=None, gradient=no_gradient("has no meaning"))

EXAMPLE = """\
graph halve(%x: float32[?,n,2], %n: weak int64[], %'odd name': resource<float32[*]>) {
  %half = constant(value=array(float32[], 0.5)): float32[]
  %while = while(%x, %n, %half, state=2): float32[*], weak int64[] {
    graph test(%x: float32[*], %n: weak int64[], %half: float32[]) {
      %more = python_bool(%n): weak bool[]
      return %more
    }
    graph body(%x: float32[*], %n: weak int64[], %half: float32[]) {
      %multiply = multiply(%x, %half): float32[*]
      %print = print(%n, template=('left:', 0), stream='stdout'): ()
      return %multiply, %n
    }
  }
  return %while:0, %while:1, %'odd name'
}
"""


def graph_with_attribute(value: Any) -> Graph:
    graph = Graph("f")
    graph.add(ANY, (), {"value": value}, types=())
    return graph


def round_trip(value: Any) -> Any:
    """Print and parse an attribute, check that it prints the same text again, and return it."""
    text = to_text(graph_with_attribute(value))
    graph = from_text(text, {"any": ANY})
    assert to_text(graph) == text
    return graph.nodes[0].attributes["value"]


def test_whole_graph_round_trips() -> None:
    assert to_text(from_text(EXAMPLE, OPS)) == EXAMPLE


def test_what_the_text_says() -> None:
    graph = from_text(EXAMPLE, OPS)
    loop = graph.nodes[1]
    assert graph.name == "halve" and loop.op is OPS["while"] and loop.attributes == {"state": 2}
    assert graph.parameters[0].type == TensorType(float32, (None, Symbol("n"), 2))
    assert graph.parameters[2].name == "odd name"
    assert loop.inputs == (graph.parameters[0], graph.parameters[1], graph.nodes[0].results[0])
    assert [value.index for value in graph.outputs[:2]] == [0, 1]
    body = loop.regions[1]
    assert body.nodes[1].attributes["template"] == ("left:", 0) and body.nodes[1].results == ()
    assert body.outputs == [body.nodes[0].results[0], body.parameters[1]]


def test_space_and_comments_do_not_matter() -> None:
    loose = EXAMPLE.replace("(", " (\n ").replace(", ", " ,  # a comment, with 'quotes' and {\n")
    assert to_text(from_text(f"# first\n\n{loose}\n# last", OPS)) == EXAMPLE


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_random_graphs_round_trip(seed: int) -> None:
    text = to_text(random_graph(Random(seed))[0])
    assert to_text(from_text(text, OPS)) == text


def test_attributes_of_every_op_round_trip() -> None:
    for sample in (sample for op in OPS.values() for sample in op.samples):
        if not any(callable(value) for value in sample.attributes.values()):
            for value in sample.attributes.values():
                assert repr(round_trip(value)) == repr(value)


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.floats(), st.complex_numbers(),
    st.sampled_from([*DTYPES.values(), TensorType(string, None, True)]), st.builds(Symbol, st.text()),
)  # fmt: skip
nested = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple)), max_leaves=5
)


@settings(deadline=None)
@given(nested)
def test_values_round_trip(value: Any) -> None:
    found = round_trip(value)
    assert type(found) is type(value) and repr(found) == repr(value)


@given(st.integers(0, 2**64 - 1))
def test_floats_keep_their_bits(bits: int) -> None:
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    assert struct.pack("<d", round_trip(value)) == struct.pack("<d", value)


numbers = st.sampled_from([name for name in DTYPES if name not in ("bfloat16", "string", "bool")])


@settings(deadline=None)
@given(numbers, st.binary(min_size=16, max_size=16))
def test_arrays_keep_their_bits(name: str, data: bytes) -> None:
    array = np.frombuffer(data, DTYPES[name].numpy)
    for value in (array, array.reshape(-1, 1), array[0], array[:0], array[:1].reshape(())):
        found = round_trip(value)
        assert type(found) is type(value) and found.dtype == value.dtype and found.shape == value.shape
        assert found.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "value",
    [
        np.array([[True, False]]),
        np.array([b"a\x00\xff", b""], object),
        np.array("text", object),
        np.zeros((2, 0, 3), np.int8),
        np.array([2**64 - 1], np.uint64),
    ],
)
def test_other_arrays(value: np.ndarray) -> None:
    found = round_trip(value)
    assert found.dtype == value.dtype and found.shape == value.shape and found.tolist() == value.tolist()


def test_special_floats_are_readable() -> None:
    text = to_text(graph_with_attribute((math.inf, -math.inf, math.nan, -0.0, 0.1, np.float32(0.1))))
    assert "(inf, -inf, nan, -0.0, 0.1, scalar(float32, 0.1))" in text


def test_types_are_attributes_too() -> None:
    scalar = TensorType(float32)
    variant = VariantType((("none", TupleType(())), ("value", TupleType((scalar, TensorType(string, None))))))
    for type_ in (
        variant, ListType(variant), MapType(scalar, ListType(scalar)), ResourceType(scalar),
        IteratorType(TensorType(float32, (None, Symbol("n")), True)), IterableType(TupleType(())), TupleType(()),
        VariantType(()),
    ):  # fmt: skip
        assert round_trip(type_) == type_
        graph = Graph("f")
        graph.add_parameter(type_, "x")
        assert from_text(to_text(graph), {}).parameters[0].type == type_


def test_exceptions_are_data() -> None:
    assert round_trip(KeyError) is KeyError
    for error in (KeyError("missing"), ValueError(), ZeroDivisionError("a", 1, (2.5, None)), SystemExit(3)):
        found = round_trip(error)
        assert type(found) is type(error) and found.args == error.args


class UserError(KeyError):
    """An exception class of the program."""


@pytest.mark.parametrize("value", [len, lambda: 0, object(), np.array([None]), {1, 2}, UserError, UserError("x")])
def test_opaque_values_print_and_do_not_parse(value: Any) -> None:
    text = to_text(graph_with_attribute(value))
    assert "value=<opaque " in text
    with pytest.raises(GraphSyntaxError, match=r"line 2, column 20: an opaque object"):
        from_text(text, {"any": ANY})


@pytest.mark.parametrize(
    "span",
    [
        Span("a.py", 3, "f"), Span("a.py", 3), Span("C:\\my files\\a.py", 12, "f.<locals>.<lambda>"),
        Span("a.py", 3, "a function", 5, 4, 9), Span("<stdin>", 1, "", 1, 1, 2),
    ],
)  # fmt: skip
def test_spans(span: Span) -> None:
    graph = Graph("f")
    x = graph.add_parameter(TensorType(float32), "x")
    graph.outputs = list(graph.add(OPS["sin"], [x], span=span).results)
    assert "@" not in to_text(graph)
    text = to_text(graph, spans=True)
    found = from_text(text, OPS)
    assert found.nodes[0].span == span and to_text(found, spans=True) == text


def test_span_is_readable() -> None:
    graph = Graph("f")
    graph.add(ANY, span=Span("a.py", 3, "step"), types=())
    assert "%any = any(): () @ a.py:3 step\n" in to_text(graph, spans=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected 'graph', found the end of the text"),
        ("graph f() {\n  return\n} x", "line 3, column 3: expected the end of the text, found 'x'"),
        ("graph f() {\n  return %x\n}", "line 2, column 10: there is no value %x here"),
        ("graph f(%x: float31[]) {\n return\n}", "line 1, column 13: expected a type, found 'float31"),
        ("graph f(%x: int8[2) {", "line 1, column 19: expected ',', found ') {'"),
        ("graph f(%x: int8[], %x: int8[]) {", "line 1, column 21: the name %x is taken already"),
        ("graph f() {\n  %a = nothing(): ()\n", "line 2, column 8: there is no op named 'nothing'"),
        ("graph f() {\n  %a = any(a=1, a=2): ()", "line 2, column 17: the attribute a is given twice"),
        ("graph f(%x: int8[]) {\n  %a = any(a=1, %x): ()", "17: inputs have to come before the attributes"),
        ("graph f() {\n  %a = any(a=exit()): ()", "line 2, column 14: expected a type, found 'exit"),
        ("graph f() {\n  %a = any(a=(1)): ()", "a tuple of one item has a comma behind it"),
        ("graph f() {\n  %a = any(a=error(open)): ()", "line 2, column 20: open is no exception"),
        ("graph f() {\n  %a = any(a=error(KeyError, 3)): ()", "cannot be made from 3"),
        ("graph f() {\n  %a = any(a=array(int8[1], [300])): ()", "expected an element of int8, found 300"),
        ("graph f() {\n  %a = any(a=array(int8[2], [1])): ()", "line 2, column 31: expected ',', found '])"),
        ("graph f() {\n  %a = any(a=array(int8[?], [1])): ()", "an array has a shape of numbers"),
        ("graph f() {\n  %a = any(a=" + "(" * 100_000, "the text is nested too deeply"),
        ("graph f() {\n  %a = any(a={[]: 1}): ()", "unhashable"),
        ("graph f() {\n  %a = any(a=" + "9" * 5000 + "): ()", "line 2, column 14: Exceeds the limit"),
        ("graph f() {\n  %a = any(a='x): ()", "line 2, column 14: expected a value"),
        ("graph f() {\n  %a = any(): ()\n  return %a\n}", "there is no value %a here"),
    ],
)
def test_errors_have_a_line(text: str, message: str) -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        from_text(text, {"any": ANY})
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"line {caught.value.line}, column {caught.value.column}: ")


def test_regions_read_no_values_of_enclosing_graphs() -> None:
    text = EXAMPLE.replace("multiply(%x, %half)", "multiply(%x, %'odd name')")
    with pytest.raises(GraphSyntaxError, match="line 9, column 32: there is no value %odd name here"):
        from_text(text, OPS)


def test_effects_come_from_the_ops() -> None:
    graph = from_text(EXAMPLE, OPS)
    assert graph.nodes[1].effects.text == "output"


def test_saved_graphs_may_have_former_names_of_ops_and_attributes() -> None:
    text = "graph f(%x: bool[]) {\n  %check = assert_true(%x, kind='check'): ()\n  return\n}\n"
    assert from_text(text, OPS).nodes[0].attributes == {"failure": "check"}
    text = "graph f(%x: float32[2]) {\n  %copy = numpy_copy(%x, how='copy', number=3): float32[2]\n  return %copy\n}\n"
    assert from_text(text, OPS).nodes[0].attributes == {"method": "copy", "copy_id": 3}
    text = "graph f(%x: float32[2]) {\n  %y = outline(%x): float32[2]\n  return %y\n}\n"
    assert from_text(text, OPS).nodes[0].op.name == "shape_placeholder"
