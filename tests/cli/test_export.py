"""`autoconv export`: files for other runtimes."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

PROGRAM = """
import autoconv


def halved(x, n):
    for _ in autoconv.range(n):
        x = x / 2.0
    return x


@autoconv.compile
def doubled(a):
    a *= 2
    return a.sum()


@autoconv.compile
def scaled(a, by, more=1.0):
    return a * by + more
"""

HEAT = """
import autoconv


@autoconv.compile
def heat(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "model.py").write_text(PROGRAM)
    return tmp_path


def test_stablehlo_is_written_to_standard_output(command, program):
    completed = command("export", "model.py:halved", "--spec", "float32[?,3] int32[]", cwd=program)
    assert completed.returncode == 0, completed.stderr
    assert "@main(%arg0: tensor<?x3xf32>, %arg1: tensor<i32>) -> (tensor<?x3xf32>, tensor<i32>)" in completed.stdout


def test_a_file_is_written_once(command, program):
    arguments = ("export", "model.py:halved", "--spec", "float32[3] int32[]", "-o", "out.mlir")
    completed = command(*arguments, cwd=program)
    assert completed.returncode == 0, completed.stderr
    assert (program / "out.mlir").read_text().startswith("module {")
    assert command(*arguments, cwd=program).returncode == 2
    assert command(*arguments, "--force", cwd=program).returncode == 0
    missing = command(*arguments[:-1], "nowhere/out.mlir", cwd=program)
    assert missing.returncode == 2
    assert "nowhere is not a folder" in missing.stderr


def test_an_onnx_model_runs(command, program):
    runtime = pytest.importorskip("onnxruntime")
    completed = command(
        "export", "model.py:halved", "--spec", "float32[?] int32[]", "--format", "onnx", "-o", "out.onnx", cwd=program
    )
    assert completed.returncode == 0, completed.stderr
    session = runtime.InferenceSession((program / "out.onnx").read_bytes())
    found, word = session.run(None, {"x": np.float32([8, 4]), "n": np.array(2, np.int32)})
    assert found.tolist() == [2.0, 1.0]
    assert word == 0
    damaged = bytearray((program / "out.onnx").read_bytes())
    damaged[len(damaged) // 2] ^= 4
    (program / "out.onnx").write_bytes(damaged)
    with pytest.raises(autoconv.errors.DataLossError):
        autoconv.onnx.load(program / "out.onnx")


def test_arrays_of_compiled_functions_have_open_sizes(command, program):
    runtime = pytest.importorskip("onnxruntime")
    (program / "heat.py").write_text(HEAT)
    completed = command(
        "export", "heat.py:heat", "--spec", "float64[n] int64[]", "--format", "onnx", "-o", "heat.onnx", cwd=program
    )
    assert completed.returncode == 0, completed.stderr
    session = runtime.InferenceSession((program / "heat.onnx").read_bytes())
    u = np.random.default_rng(0).random(9)
    expected = u
    for _ in range(5):
        new = expected.copy()
        new[1:-1] += 0.1 * (expected[2:] - 2 * expected[1:-1] + expected[:-2])
        expected = new
    found, word = session.run(None, {"u": u, "steps": np.array(5)})
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert word == 0


def test_arrays_that_are_written_are_results(command, program):
    completed = command("export", "model.py:doubled", "--spec", "float64[3]", cwd=program)
    assert completed.returncode == 0, completed.stderr
    assert "@main(%arg0: tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>, tensor<i32>)" in completed.stdout


@pytest.mark.parametrize(("spec", "type_"), [("float64[4] 3.0", "tensor<4xf64>"), ("float64[?] 3", "tensor<?xf64>")])
def test_given_numbers_are_part_of_the_module(command, program, spec, type_):
    completed = command("export", "model.py:scaled", "--spec", spec, cwd=program)
    assert completed.returncode == 0, completed.stderr
    assert f"@main(%arg0: {type_}) -> ({type_}, tensor<i32>)" in completed.stdout
