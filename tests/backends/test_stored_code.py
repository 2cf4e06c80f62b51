"""Native code on disk by graph: a second process translates no graph again, and gives the same results and errors."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm import stored_code
from autoconv.backends.llvm.graph_digest import GraphDigest, NotDigestible
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import float32, float64
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS

COUNT_TRANSLATIONS = """
from autoconv.backends import llvm
translations = []
original = llvm.translate
def counted(*arguments):
    translations.append(arguments[0])
    return original(*arguments)
llvm.translate = counted
"""


@pytest.fixture
def run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forker: Any) -> Callable[[str], str]:
    """Return a function that runs a program in two processes: first with an empty cache, then with that of the first.

    It returns what both print. The second one translates no graph until the program has ended.
    """
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOCONV_TIERS", "native")

    def run(program: str) -> str:
        outputs = []
        script = tmp_path / "program.py"
        end = "\nimport sys\nprint(len(translations), file=sys.stderr)\n"
        script.write_text(COUNT_TRANSLATIONS + textwrap.dedent(program) + end)
        counts = []
        for _ in range(2):
            completed = forker.run([script])
            assert completed.returncode == 0, completed.stderr
            outputs.append(completed.stdout)
            counts.append(int(completed.stderr.split()[-1]))
        assert outputs[0] == outputs[1]
        assert counts[0] > 0 and counts[1] == 0, counts
        return str(outputs[0])

    return run


def test_a_second_process_translates_nothing(run_twice):
    program = """
    import numpy as np
    import autoconv as ac

    SCALE = 3.0

    @ac.compile
    def f(x, n):
        total = np.zeros(len(x))
        for i in range(n):
            total += SCALE * x * i
        return total, {"n": n, "name": "text"}, (True, None)

    @ac.function
    def g(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = ac.reduce_sum(x ** 3)
        return tape.gradient(y, x)

    for _ in range(3):
        print(f(np.arange(3.0), 4), f(np.arange(5.0), 2), g(ac.constant([1.0, 2.0])).numpy())
    SCALE = 5.0
    for _ in range(3):
        print(f(np.arange(3.0), 4))
    """
    first_line = (
        "(array([ 0., 18., 36.]), {'n': 4, 'name': 'text'}, (True, None)) "
        "(array([ 0.,  3.,  6.,  9., 12.]), {'n': 2, 'name': 'text'}, (True, None)) [ 3. 12.]"
    )
    last_line = "(array([ 0., 30., 60.]), {'n': 4, 'name': 'text'}, (True, None))"
    assert run_twice(program).splitlines() == [first_line] * 3 + [last_line] * 3


def test_constants_that_only_differ_in_their_identity_are_the_callers(run_twice):
    program = """
    import autoconv as ac

    TEXT, NUMBER = "".join(["a", "b"]), 10 ** 30

    @ac.compile
    def f(x):
        return x + 1, TEXT, NUMBER

    for _ in range(3):
        result = f(2.0)
    print(result[0], result[1] is TEXT, result[2] is NUMBER)
    """
    assert run_twice(program) == "3.0 True True\n"


def test_equal_constants_that_are_one_object_in_another_process(tmp_path, monkeypatch, forker):
    """The order of the objects depends on which of them are the same; the code of the other order is not theirs."""
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOCONV_TIERS", "native")
    program = """
    import sys
    import autoconv as ac

    a, b, c, d = map(float, ("1000.5", "1000.5", "2000.5", "2000.5"))
    NUMBERS = (a, a, c, d) if sys.argv[1] == "first" else (a, b, c, c)

    @ac.compile
    def f(x):
        return x * 2.0, NUMBERS[0], NUMBERS[1], NUMBERS[2], NUMBERS[3]

    for _ in range(3):
        print(f(1.0))
    """
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    outputs = [forker.run([script, order]).stdout for order in ("first", "second", "first")]
    assert outputs == 3 * [3 * "(2.0, 1000.5, 1000.5, 2000.5, 2000.5)\n"]


CONSTANTS = (
    "True", "False", "None", "1", "1.0", "-0.0", "'True'", "(True,)", "float", "int", "[2]", "[3]", "(True, False)",
    "(False, True)", "np.True_", "np.False_", "(np.True_, 1)", "(np.False_, 1)", "frozenset({1})", "frozenset({2})",
)  # fmt: skip


def test_functions_that_differ_in_a_constant_differ_in_their_results(run_twice):
    lines = ["import numpy as np", "import autoconv as ac"]
    lines.append("def last(function): return [compiled(1.0) for compiled in [ac.compile(function)] * 3][-1]")
    for i, constant in enumerate(CONSTANTS):
        lines += [f"def f{i}(x): return x + 1.0, {constant}", f"VALUE{i} = {constant}"]
        lines += [f"def g{i}(x): return VALUE{i}, x * 2.0", f"def h{i}(x): return {constant}"]
        lines.append(f"print(last(f{i}), last(g{i}), last(h{i}))")
    for dtype in ("float64", "float32", "int64"):
        lines.append(f"print(ac.compile(lambda x: x + x)(np.ones(2, '{dtype}')).dtype)")
    for shape in ((2, 3), (3, 2), (6,)):
        lines.append(f"print(ac.compile(lambda x: x + x)(np.ones({shape})).shape)")
    values = [eval(constant) for constant in CONSTANTS]
    expected = [f"{(2.0, value)} {(value, 2.0)} {value}" for value in values]
    expected += ["float64", "float32", "int64", "(2, 3)", "(3, 2)", "(6,)"]
    assert run_twice("\n".join(lines)).splitlines() == expected


def test_kernels_and_lines_of_errors_are_those_of_the_graph(tmp_path, monkeypatch, forker):
    """Functions that only calls of kernels or errors need are made by a translation, once one of them is called."""
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOCONV_TIERS", "native")
    program = """
    import traceback
    import numpy as np
    import autoconv as ac

    @ac.compile
    def f(x, i):
        y = np.linalg.eigvalsh(x)
        z = y[i] + 1.0
        return z, 1 // i

    @ac.function
    def g(x, y):
        return ac.matmul(x, y)

    print(f(np.diag([1.0, 2.0]), 1))
    for i in (2, 0, 2, 0):
        try:
            f(np.diag([1.0, 2.0]), i)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            print(type(error).__name__, error, frame.lineno, frame.line)
    """
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    outputs = [forker.run([script]).stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    first_line, *error_lines = outputs[0].splitlines()
    assert first_line == "(np.float64(3.0), 1)"
    assert error_lines == 2 * [
        "IndexError index 2 is out of bounds for axis 0 with size 2 9 z = y[i] + 1.0",
        "ZeroDivisionError integer division or modulo by zero 10 return z, 1 // i",
    ]


def test_code_whose_object_files_are_gone_is_compiled_again(tmp_path, monkeypatch, forker):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "program.py"
    script.write_text("import autoconv as ac\nprint(ac.function(lambda x: x * 2.0)(ac.constant([1.0, 2.0])).numpy())")
    assert forker.run([script]).stdout == "[2. 4.]\n"
    assert list((tmp_path / "cache" / "graphs").glob("*.o"))
    for file in (tmp_path / "cache" / "native").glob("*.o"):
        file.unlink()
    assert forker.run([script]).stdout == "[2. 4.]\n"
    assert list((tmp_path / "cache" / "native").glob("*.o"))


def graph_of(name: str, type_: TensorType, **attributes: Any) -> Graph:
    """Return a graph of one op with one input."""
    graph = Graph("graph")
    node = graph.add(OPS[name], [graph.add_parameter(type_)], attributes)
    graph.outputs = list(node.results)
    return graph


def test_digests_differ_by_ops_types_and_attributes():
    graphs = [
        graph_of(name, TensorType(dtype, shape), **attributes)
        for name, attributes in (
            ("sin", {}), ("cos", {}), ("reduce_sum", {"axis": (0,), "keepdims": False}),
            ("reduce_sum", {"axis": (0,), "keepdims": True}), ("reduce_sum", {"axis": (1,), "keepdims": False}),
        )
        for dtype in (float32, float64)
        for shape in ((2, 3), (3, 2))
    ]  # fmt: skip
    keys = [GraphDigest(graph, None, "").key for graph in graphs]
    assert len(set(keys)) == len(keys)
    assert keys == [GraphDigest(graph, None, "").key for graph in graphs]
    assert GraphDigest(graphs[0], None, "other").key != keys[0]


def test_a_graph_with_an_object_of_the_program_has_no_digest():
    graph = graph_of("sin", TensorType(float64, (2,)))
    graph.nodes[0].attributes = {"object": object()}
    with pytest.raises(NotDigestible):
        GraphDigest(graph, None, "")


def test_random_constants_have_different_digests():
    rng = np.random.default_rng(1)
    arrays = [rng.random(4) for _ in range(20)]
    arrays += [arrays[0].reshape(2, 2), arrays[0].astype(np.float32), arrays[0][::-1]]
    graphs = []
    for array in arrays:
        graph = Graph("graph")
        graph.outputs = list(graph.add(OPS["constant"], [], {"value": array}).results)
        graphs.append(graph)
    assert len({GraphDigest(graph, None, "").key for graph in graphs}) == len(arrays)


def test_digests_differ_where_equal_objects_are_one_object_in_one_graph_only():
    """The table of objects is restored by their positions, which a second object would move."""
    first, second = ["a", "b"], ["a", "b"]
    shared, separate = (graph_of("sin", TensorType(float64, (2,))) for _ in range(2))
    shared.nodes[0].attributes, separate.nodes[0].attributes = {"x": first, "y": first}, {"x": first, "y": second}
    assert GraphDigest(shared, None, "").key != GraphDigest(separate, None, "").key


def test_code_of_another_version_of_python_has_another_digest(monkeypatch):
    circumstances = stored_code._circumstances.__wrapped__
    target = current_target()
    facts = circumstances(target)
    assert facts == circumstances(target)
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-00")
    assert facts != circumstances(target)
