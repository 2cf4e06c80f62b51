"""Debuggers stop in the user's function and show the user's source: eagerly, while tracing, in converted modules."""

import bdb
import importlib.util
import pdb
import subprocess
import sys
import textwrap

import pytest

import autoconv
from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source

# From 3.13 on pdb stops at the call of set_trace, earlier at the line after it.
AT_THE_CALL = sys.version_info >= (3, 13)


def transcript(script, commands):
    """Run a script (or `python` with a list of arguments) that stops in pdb, with these commands; return its output."""
    arguments = script if isinstance(script, list) else [script]
    typed = "".join(f"{command}\n" for command in commands)
    completed = subprocess.run(
        [sys.executable, *arguments], input=typed, capture_output=True, text=True, timeout=60, check=False
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


EAGER = """\
import autoconv


@autoconv.function
def scaled(x):
    if autoconv.reduce_sum(x) > 0:
        import pdb
        pdb.set_trace()
        x = x * 10
    return x


autoconv.config.run_functions_eagerly(True)
print(scaled(autoconv.constant([1, 2])).numpy())
"""


def test_pdb_in_a_function_that_runs_eagerly(tmp_path):
    script = tmp_path / "eager.py"
    script.write_text(EAGER)
    shown = transcript(script, ["list", "p x.numpy()", "where", "continue"])
    line, text = (8, "pdb.set_trace()") if AT_THE_CALL else (9, "x = x * 10")
    assert f"> {script}({line})scaled()\n-> {text}\n" in shown
    assert f"{line:3}  ->\t        {text}\n" in shown
    for number, source in enumerate(EAGER.splitlines()[3:8], 4):
        if number != line:
            assert f"{number:3}  \t{source}\n" in shown
    assert "(Pdb) array([1, 2], dtype=int32)\n" in shown
    assert f"  {script}(14)<module>()\n-> print(scaled(autoconv.constant([1, 2])).numpy())\n" in shown
    assert shown.endswith("[10 20]\n")


METHOD = """\
import autoconv


class Halving(autoconv.Module):
    @autoconv.function
    def __call__(self, values):
        if autoconv.reduce_mean(values) > 0:
            return values
        else:
            import pdb
            pdb.set_trace()
            return values // 2


autoconv.config.experimental_run_functions_eagerly(True)
print(Halving()(autoconv.constant([-2, -4])).numpy())
"""


def test_pdb_in_the_else_of_a_method_that_runs_eagerly(tmp_path):
    script = tmp_path / "method.py"
    script.write_text(METHOD)
    shown = transcript(script, ["l", "p self.__class__.__name__", "c"])
    line, text = (11, "pdb.set_trace()") if AT_THE_CALL else (12, "return values // 2")
    assert f"> {script}({line})__call__()\n-> {text}\n" in shown
    assert f"{line:3}  ->\t            {text}\n" in shown
    assert "  7  \t        if autoconv.reduce_mean(values) > 0:\n" in shown
    assert "(Pdb) 'Halving'\n" in shown and shown.endswith("[-1 -2]\n")


TRACED = """\
import autoconv


@autoconv.function
def total(n):
    result = 0
    for i in autoconv.range(n):
        if i > 1:
            twice = i * 2
            breakpoint()
            result += twice
    return result


print(total(autoconv.constant(4)).numpy())
"""


def test_breakpoint_while_tracing(tmp_path):
    script = tmp_path / "traced.py"
    script.write_text(TRACED)
    shown = transcript(script, ["list", "p twice", "where", *["continue"] * 4])
    line, text = (10, "breakpoint()") if AT_THE_CALL else (11, "result += twice")
    assert f"> {script}({line})total()\n-> {text}\n" in shown
    assert f"{line:3}  ->\t            {text}\n" in shown
    assert "  9  \t            twice = i * 2\n" in shown
    assert "(Pdb) <autoconv.Tensor 'while/cond/mul:0' shape=() dtype=int32>\n" in shown
    where = shown.partition("dtype=int32>\n")[2]
    assert f"  {script}(15)<module>()\n-> print(total(autoconv.constant(4)).numpy())\n" in where
    assert f"  {script}(7)total()\n-> for i in autoconv.range(n):\n" in where
    assert f"  {script}(8)total()\n-> if i > 1:\n" in where
    assert shown.endswith("10\n")


STOPPING = """\
import pdb


def total(x, k):
    total = 0
    for i in range(k):
        if i % 2:
            total += x
            breakpoint()
        try:

            def inner(z):
                while z:
                    breakpoint()
                    z -= 1
                return z

            total += inner(i) + len([breakpoint() for _ in range(1)])
        finally:
            pdb.set_trace()
    return total
"""


@pytest.fixture
def stopping(tmp_path, monkeypatch):
    """A module whose function stops at many places, and a function that tells what comes of a call and where it
    stops: (line, function, the user's names)."""
    stops = []

    def note():
        frame = sys._getframe(1)
        named = {name: frame.f_locals[name] for name in ("x", "k", "total", "i", "z") if name in frame.f_locals}
        stops.append((frame.f_lineno, frame.f_code.co_name, named))

    monkeypatch.setattr(sys, "breakpointhook", note)
    monkeypatch.setattr(pdb, "set_trace", note)

    def stops_of(function):
        stops.clear()
        return function(2, 3), [*stops]

    path = tmp_path / "stopping.py"
    path.write_text(STOPPING)
    return module_of(STOPPING, path, "stopping"), stops_of


def test_compiled_functions_stop_where_python_does(stopping):
    module, stops_of = stopping
    expected = stops_of(module.total)
    compiled = autoconv.compile(module.total)
    assert [stops_of(compiled) for _ in range(3)] == [expected] * 3
    assert "total calls set_trace(), which works on the lines of plain Python" in compiled.explain()
    caller = autoconv.compile(lambda x, k: module.total(x, k) + k)
    assert [stops_of(caller)[1] for _ in range(3)] == [expected[1]] * 3


def test_a_name_that_no_debugger_has_is_traced():
    class Machine:
        breakpoint = 3

    compiled = autoconv.compile(lambda x: x + Machine.breakpoint)
    assert compiled(2) == 5 and "1 trace" in compiled.explain()


def test_to_graph_stops_where_python_does(stopping):
    module, stops_of = stopping
    assert stops_of(autoconv.autograph.to_graph(module.total)) == stops_of(module.total)


def test_converted_modules_stop_where_python_does(stopping, tmp_path):
    module, stops_of = stopping
    text = convert_source(STOPPING, module.__file__, Options(source_path="stopping.py")).text
    result, stops = stops_of(module_of(text, tmp_path / "stopping_graph.py", "stopping_graph").total)
    expected, where = stops_of(module.total)
    assert result == expected and [stop[1:] for stop in stops] == [stop[1:] for stop in where]


class Stops(bdb.Bdb):
    """A debugger that records hits of breakpoints in one file: (line, function, requested local names)."""

    def __init__(self, file, lines, names=()):
        super().__init__()
        self.hits = []
        self.names = names
        for line in lines:
            assert self.set_break(str(file), line) is None

    def user_line(self, frame):
        if self.break_here(frame):
            found = {name: frame.f_locals.get(name) for name in self.names}
            self.hits.append((frame.f_lineno, frame.f_code.co_name, *found.values()))
        self.set_continue()

    def lines_of(self, function, *arguments):
        self.runcall(function, *arguments)
        self.clear_all_breaks()
        return self.hits


BRANCHES = """\
def walk(x):
    steps = 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps
"""


def module_of(text, path, name):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


@pytest.fixture
def walk_file(tmp_path):
    path = tmp_path / "walk.py"
    path.write_text(BRANCHES)
    return path


def test_breakpoints_in_a_traced_function(walk_file):
    traced = autoconv.function(module_of(BRANCHES, walk_file, "walk").walk)
    hits = Stops(walk_file, [2, 5, 7, 9]).lines_of(traced, autoconv.constant(6))
    assert {line for line, *_ in hits} == {2, 5, 7, 9}
    assert {name for _, name, *_ in hits} == {"walk"}


def test_breakpoints_in_a_converted_module_on_disk(walk_file, tmp_path):
    text = convert_source(BRANCHES, str(walk_file), Options(source_path="walk.py")).text
    module = module_of(text, tmp_path / "walk_graph.py", "walk_graph")
    hits = Stops(walk_file, [5, 7], ["x"]).lines_of(module.walk, 6)
    assert hits == [
        (5, "walk", 6),
        (7, "walk", 3),
        (5, "walk", 10),
        (7, "walk", 5),
        *((5, "walk", n) for n in (16, 8, 4, 2)),
    ]


def test_breakpoints_in_modules_of_the_import_hook(walk_file, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    with autoconv.importing.converted("walk"):
        import walk
    del sys.modules["walk"]
    assert Stops(walk_file, [7], ["x"]).lines_of(walk.walk, 6) == [(7, "walk", 3), (7, "walk", 5)]


def test_breakpoints_set_at_the_prompt(tmp_path):
    script = tmp_path / "typed.py"
    script.write_text(
        EAGER.replace("        import pdb\n        pdb.set_trace()\n", "        y = x\n").partition("autoconv.config")[
            0
        ]
    )
    with script.open("a") as file:
        file.write("scaled(autoconv.constant([1, 2]))\n")
    shown = transcript(["-m", "pdb", script], [f"break {script}:8", "continue", "p y", "next", "continue", "quit"])
    assert f"> {script}(8)scaled()\n-> x = x * 10\n" in shown
    assert "(Pdb) <autoconv.Tensor 'x:0' shape=(2,) dtype=int32>\n" in shown


def test_post_mortem_of_an_error_of_a_graph(tmp_path):
    """The last frame is at the user's line, and pdb shows its source."""
    script = tmp_path / "dead.py"
    script.write_text(
        textwrap.dedent(
            """\
            import pdb
            import sys

            import autoconv


            @autoconv.function
            def f(x):
                return 1 + autoconv.gather([1, 2], x)


            try:
                f(autoconv.constant(5))
            except ValueError:
                pdb.post_mortem(sys.exc_info()[2])
            """
        )
    )
    shown = transcript(script, ["list", "up", "quit"])
    assert f"> {script}(9)f()\n-> return 1 + autoconv.gather([1, 2], x)\n" in shown
    assert "  8  \tdef f(x):\n" in shown
    assert f"> {script}(13)<module>()\n-> f(autoconv.constant(5))\n" in shown
