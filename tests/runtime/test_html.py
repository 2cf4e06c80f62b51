"""HTML in notebooks: tables of tensors, functions with their traces, pictures of graphs."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np

import autoconv as ac


def parse(html):
    """Parse text that has to be well-formed."""
    return ElementTree.fromstring(html)


def cells(html):
    return ["".join(cell.itertext()) for cell in parse(html).iter("td")]


def test_a_small_table():
    html = ac.constant([[1.5, -2.0], [3.25, float("nan")]])._repr_html_()
    assert cells(html) == ["1.5", "-2", "3.25", "nan"]
    assert "shape (2, 2), float32" in html


def test_large_arrays_show_their_corners():
    html = ac.constant(np.arange(10_000).reshape(100, 100))._repr_html_()
    found = cells(html)
    assert len(found) == 13 * 13 and found[0] == "0" and found[-1] == "9999" and "…" in found and "⋮" in found


def test_scalars_text_empty_arrays_and_more_dimensions():
    assert "<b>2.5</b>" in ac.constant(2.5)._repr_html_()
    assert cells(ac.constant(["<b>", "c"])._repr_html_()) == ["b'<b>'", "b'c'"]
    assert "shape (0, 3)" in ac.zeros((0, 3))._repr_html_()
    html = ac.zeros((4, 2, 3))._repr_html_()
    assert "the first of 4" in html and len(cells(html)) == 6


def test_a_function_with_its_traces():
    @ac.function
    def f(x):
        while x > 3:
            x = x - 1
        return x

    assert "no traces yet" in f._repr_html_()
    f(ac.constant(5))
    f(ac.constant(5.0))
    html = f._repr_html_()
    rows = [["".join(cell.itertext()) for cell in row.iter("td")] for row in parse(html).iter("tr")]
    rows = [row for row in rows if len(row) == 6]
    assert [row[0] for row in rows] == ["1", "2"]
    assert "int32" in rows[0][1] and rows[0][2] == "first call" and "float32" in rows[1][1]
    assert all(re.fullmatch(r"\d+ ms", row[5]) for row in rows)


def test_plain_runs_are_listed():
    @ac.compile
    def f(n):
        return n, print(n, file=sys.stderr)

    f(1)
    assert "ran as plain Python" in f._repr_html_()


def test_a_picture_of_a_graph_with_its_loop_folded():
    @ac.function
    def f(x, y):
        for _ in ac.range(3):
            x = x * y
        return x + 1.0

    graph = f.get_concrete_function(ac.constant(1.0), ac.constant(2.0)).graph
    tree = parse(graph._repr_html_())
    pictures = [node for node in tree.iter() if node.tag.endswith("svg")]
    folded = list(tree.iter("details"))
    assert len(folded) == 1 and len(pictures) == 1 + len(graph.recorded.nodes and folded[0].findall(".//{*}svg"))
    outer = pictures[0]
    boxes = [text.text for text in outer.iter("{http://www.w3.org/2000/svg}text")]
    assert {"while", "add", "output", "x", "y"} <= set(boxes) and "multiply" not in boxes
    inner = [text.text for text in folded[0].iter("{http://www.w3.org/2000/svg}text")]
    assert "multiply" in inner
    lines = list(outer.iter("{http://www.w3.org/2000/svg}path"))
    assert len(lines) >= 4
