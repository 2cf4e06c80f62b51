"""Each fixture program four ways: plain, converted on plain values, converted on eager tensors, and as one graph."""

import contextlib
import functools
import math
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac
from autoconv.emit.module import convert_source
from autoconv.runtime.recording.activity import as_if_traced
from tests.module_loading import load_module

PROGRAMS = sorted((Path(__file__).parents[2] / "fixtures" / "programs").glob("*.py"))
PYTHON = [path for path in PROGRAMS if 'KIND = "python"' in path.read_text()]


@functools.cache
def converted_text(path):
    return convert_source(path.read_text(), str(path)).text


def load(path, folder=None):
    """Return the module at `path`, or its converted form, imported from `folder`."""
    if folder is not None:
        converted = folder / f"{path.stem}_graph.py"
        converted.write_text(converted_text(path))
        path = converted
    return load_module(path)


def as_tensors(value):
    """Convert numbers and nested lists to tensors of 64 bits."""
    array = np.array(value)
    return ac.constant(
        array, ac.float64 if array.dtype.kind == "f" else ac.bool if array.dtype.kind == "b" else ac.int64
    )


def as_inputs(value):
    """Convert lists to tensors for programs over Python numbers; numbers stay numbers and become inputs."""
    return as_tensors(value) if isinstance(value, list) else value


def as_weak_tensors(value):
    """Convert numbers to weak tensors, which follow Python's arithmetic."""
    return as_tensors(value) if isinstance(value, list) else ac.python_number(value)


def assert_agree(found, expected, tolerance):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            assert_agree(f, e, tolerance)
        return
    if expected is None:
        assert found is None
        return
    a, b = np.asarray(found), np.asarray(expected)
    assert a.shape == b.shape
    assert (a.dtype.kind in "iub") == (b.dtype.kind in "iub")
    np.testing.assert_allclose(
        a.astype(float), b.astype(float), rtol=tolerance, atol=max(tolerance * 1e-3, 0.0), equal_nan=True
    )


@pytest.fixture(params=["untraced", "through the operators"])
def form(request):
    """Run converted code on its untraced path, and through operators as under trace."""
    with as_if_traced() if request.param != "untraced" else contextlib.nullcontext():
        yield


@functools.cache
def original_of(path):
    """Return the original module, and the results of its cases."""
    original = load(path)
    return original, plain_results(original, to_argument_for(original))


def plain_results(module, to_argument):
    function = getattr(module, module.ENTRY)
    return [function(*map(to_argument, case)) for case in module.CASES]


def to_argument_for(module):
    return as_tensors if module.KIND == "ops" else lambda value: value


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
@pytest.mark.search
def test_converted_on_plain_values(path, tmp_path):
    original, expected = original_of(path)
    found = plain_results(load(path, tmp_path), to_argument_for(original))
    for f, e in zip(found, expected, strict=True):
        assert_agree(f, e, 0 if original.KIND == "python" else original.TOLERANCE)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
@pytest.mark.search
def test_converted_on_eager_tensors(path, tmp_path):
    original, expected = original_of(path)
    to_argument = as_tensors if original.KIND == "ops" else as_weak_tensors
    found = plain_results(load(path, tmp_path), to_argument)
    for f, e in zip(found, expected, strict=True):
        assert_agree(f, e, original.TOLERANCE)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
@pytest.mark.search
def test_as_one_graph(path, tmp_path):
    original, expected = original_of(path)
    entry = getattr(load(path, tmp_path), original.ENTRY)
    if original.KIND == "ops":
        traced, to_argument = ac.function(entry), as_tensors
    else:
        traced, to_argument = ac.compile(entry), as_inputs
    for case, e in zip(original.CASES, expected, strict=True):
        assert_agree(traced(*map(to_argument, case)), e, original.TOLERANCE)
    assert traced.experimental_get_tracing_count() == 1, traced.explain()
    assert "plain Python" not in traced.explain()
    (concrete,) = traced.concrete_functions
    assert {node.op.name for node in concrete.recorded.walk()}.isdisjoint({"py_call"})
    assert {"cond", "while"} & {node.op.name for node in concrete.recorded.walk()}
    assert math.isfinite(len(concrete.recorded.nodes))
