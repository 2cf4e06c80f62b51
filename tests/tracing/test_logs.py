"""Logs by AUTOCONV_LOGS and verbosity, and the setting of numeric checks."""

import os
import re
import subprocess
import sys

import pytest

import autoconv as ac

PROGRAM = """
import autoconv

@autoconv.function
def f(x, n):
    if x > n:
        x = x * n
    return x

f(autoconv.constant(5), 2)
f(autoconv.constant(5), 3)
f(autoconv.constant(7), 3)
"""


@pytest.fixture
def run_and_read_log(forker, tmp_path):
    """Return a function that runs the program and returns its standard error."""

    def run(**environment):
        file = tmp_path / "program.py"
        file.write_text(PROGRAM)
        environment = {**os.environ, "AUTOCONV_BACKEND": "reference", **environment}  # needs no machine code
        completed = forker.run([file], env=environment)
        assert completed.returncode == 0, completed.stderr
        return completed.stderr

    return run


def test_retraces(run_and_read_log):
    lines = run_and_read_log(AUTOCONV_LOGS="retraces").splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        r"\[autoconv retraces\] f: trace 1, first call, called at .*program.py:10:1; it took [\d.]+ ms", lines[0]
    )
    assert "f: trace 2, n is Literal[3], was Literal[2], called at " in lines[1]
    assert "program.py:11:1; it took" in lines[1]


def test_graph_and_passes(run_and_read_log):
    text = run_and_read_log(AUTOCONV_LOGS="graph,passes")
    assert "[autoconv graph] __inference_f_" in text
    assert "[autoconv graph]   %cond = cond(" in text
    assert re.search(r"\[autoconv passes\] .*program.py: control_flow: [\d.]+ ms", text)
    assert re.search(r"\[autoconv passes\] __inference_f_\d+: fold: \d+ nodes, [\d.]+ ms", text)
    assert "retraces" not in text


def test_no_log_by_default_and_a_warning_for_unknown_names(run_and_read_log):
    assert run_and_read_log() == ""
    text = run_and_read_log(AUTOCONV_LOGS="retrace")
    assert "there is no log 'retrace'; there are retraces, graph, passes" in text


@pytest.mark.parametrize("name", ["AUTOCONV_VERBOSITY", "AUTOGRAPH_VERBOSITY"])
def test_verbosity_from_the_environment(run_and_read_log, name):
    text = run_and_read_log(**{name: "3"})
    assert "Converted call: <function f at 0x" in text
    assert "ag__.if_stmt" in text


def test_verbosity_on_standard_output(capsys):
    @ac.function
    def f(x):
        if x > 0:
            x = x + 1
        return x

    ac.autograph.set_verbosity(3, True)
    try:
        f(ac.constant(1))
    finally:
        ac.autograph.set_verbosity(0, False)
    out = capsys.readouterr().out
    assert "Converted call: <function " in out
    assert "kwargs: {}" in out and "ag__.if_stmt" in out


def test_checks_of_numerics_follow_their_setting():
    @ac.function
    def f(x):
        y = x - 3.0
        return ac.math.log(y)

    x = ac.constant(2.0)
    assert str(f(x).numpy()) == "nan"
    ac.debugging.enable_check_numerics()
    try:
        with pytest.raises(ac.errors.InvalidArgumentError) as caught:
            f(x)
        with pytest.raises(ac.errors.InvalidArgumentError, match='eagerly-executing op "Log"'):
            ac.math.log(ac.constant(-1.0))
        assert f(ac.constant(4.0)).numpy() == 0.0
    finally:
        ac.debugging.disable_check_numerics()
    assert 'output 0 of graph op "Log" (# of outputs: 1)' in str(caught.value)
    assert "return ac.math.log(y)" in str(caught.value)
    assert str(f(x).numpy()) == "nan"


def test_functions_that_run_eagerly_can_be_stepped_through():
    program = """
import autoconv

@autoconv.function
def f(x):
    y = x + 1
    breakpoint()
    return y

autoconv.config.run_functions_eagerly(True)
print(f(autoconv.constant(1)))
"""
    completed = subprocess.run(
        [sys.executable, "-c", program], input="p int(y)\nw\nc\n", capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert "(Pdb) 2" in completed.stdout
    assert "autoconv.Tensor(2, shape=(), dtype=int32)" in completed.stdout
