"""Unused results of calls that raise for sizes known only at run time: NumPy's error is raised."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.module_loading import load_module

PROGRAM = """
import numpy as np

def program(x, y):
    v = x[x > 0]
    m = x[:v.shape[0]].reshape(-1, 1) * y
    {call}
    return y + 1
"""


@pytest.mark.parametrize("call", [
    "np.einsum('i,i', v, y)", "np.einsum('i,i->i', v, y)", "np.einsum('ii', m)", "np.einsum('ij,jk', m, m)",
    "np.einsum('...i,i', m, v)", "np.broadcast_to(v, (2, 3))", "np.repeat(v, [1, 2, 3])", "v @ y",
    "np.stack([v, y])", "v.reshape(3)",
])  # fmt: skip
def test_an_unused_result_raises(call, tmp_path):
    path = tmp_path / "calls.py"
    path.write_text(PROGRAM.format(call=call))
    program = load_module(path).program
    compiled = autoconv.compile(program)

    def outcome(function, x):
        try:
            return function(np.array(x), np.arange(3)).tolist()
        except ValueError as error:
            return str(error)

    for x in ([3, 1, 2], [0, 1, 2], [3, 1, 2], [0, 1, 2]):
        assert outcome(compiled, x) == outcome(program, x)
    assert "Python" not in compiled.explain()


@pytest.mark.parametrize("call", [
    "np.einsum('i,i', v, y)", "np.einsum('ij,jk', m, m)", "np.broadcast_to(v, (2, 3))", "np.repeat(v, [1, 2, 3])",
    "v @ y", "np.tensordot(v, y, 1)", "v.reshape(3)", "np.vdot(v, y)", "np.interp(1.5, y, v)", "np.repeat(y, v - 2)",
    "np.correlate(y, v[3:])", "np.convolve(y, v[3:])", "np.nanmax(v[3:] * 0.5)", "np.nanmin(v[3:] * 0.5)",
    "np.average(y, weights=y * (v.shape[0] - 2))", "np.arange(0, 5, v.shape[0] - 2)",
])  # fmt: skip
def test_an_error_after_a_print_is_numpys(call, tmp_path, capsys):
    """The call cannot run again as plain Python, which would print twice."""
    path = tmp_path / "prints.py"
    path.write_text(PROGRAM.format(call=f"print(v.shape)\n    {call}"))
    program = load_module(path).program
    compiled = autoconv.compile(program)
    for x in ([3, 1, 2], [0, 1, 2], [0, 1, 2]):
        found = []
        for function in (program, compiled):
            try:
                function(np.array(x), np.arange(3))
            except (ValueError, ZeroDivisionError) as error:
                found.append((type(error), str(error)))
        assert found[1:] == found[:1]
        first, second = capsys.readouterr().out.splitlines()
        assert first == second
