"""Snippets on autograph: code shown, functions converted, arguments traced, the debugger in the user's own lines."""

import subprocess
import sys

import autoconv as tf


def f(x):
    if x < 0:
        x = -x
    return x


def test_to_code_shows_the_function():
    code = tf.autograph.to_code(f)
    assert code.startswith("def tf__f(x):")
    assert "ag__.if_stmt(x < 0" in code
    compile(code, "shown", "exec")


def test_to_graph():
    converted_f = tf.autograph.to_graph(f)
    assert converted_f.__name__ == "tf__f"
    assert repr(converted_f(tf.constant(-2))) == "<autoconv.Tensor: shape=(), dtype=int32, numpy=2>"
    assert converted_f(-2) == 2


def test_trace_prints_its_arguments(capsys):
    for i in tf.range(10):
        tf.autograph.trace(i)
    expected = "".join(f"autoconv.Tensor({i}, shape=(), dtype=int32)\n" for i in range(10))
    assert capsys.readouterr().out == expected


def test_trace_inside_a_function_prints_once(capsys):
    @tf.function
    def g(x):
        tf.autograph.trace(x)
        return x

    g(tf.constant(1))
    g(tf.constant(2))
    assert capsys.readouterr().out == 'Tensor("x:0", shape=(), dtype=int32)\n'


DEBUGGED = """\
import autoconv as tf





@tf.function
def f(x):
  if x > 0:
    import pdb
    pdb.set_trace()
    x = x + 1
  return x

tf.config.experimental_run_functions_eagerly(True)
f(tf.constant(1))
"""


def test_pdb_stops_in_the_function(tmp_path):
    script = tmp_path / "debugged.py"
    script.write_text(DEBUGGED)
    completed = subprocess.run(
        [sys.executable, str(script)], input="l\nc\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert completed.returncode == 0, completed.stderr
    stop = "x = x + 1" if sys.version_info < (3, 13) else "pdb.set_trace()"  # from 3.13 on pdb stops at the call
    assert f"-> {stop}" in completed.stdout
    assert f"->\t    {stop}" in completed.stdout
    assert "  8  \tdef f(x):" in completed.stdout


def test_set_verbosity_shows_converted_calls(capsys):
    @tf.function
    def outer(x):
        return f(x)

    tf.autograph.set_verbosity(3, True)
    try:
        outer(tf.constant(-1))
    finally:
        tf.autograph.set_verbosity(0)
    out = capsys.readouterr().out
    assert "Converted call: <function f at" in out
    assert "    args: (" in out
    assert "ag__.if_stmt(x < 0" in out
