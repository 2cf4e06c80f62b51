"""Warnings, profilers, inspect, linecache and code that handles errors see the user's lines."""

import cProfile
import importlib.util
import inspect
import linecache
import pstats
import sys
import traceback
import warnings

import pytest

import autoconv
from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source

LINE = inspect.currentframe().f_lineno


def warns(x, level):
    for i in range(1):
        if x > i:
            warnings.warn("here", stacklevel=level)
    return x


def calls(x, level):
    if x > 0:
        x = warns(x, level) + 1
    return x


def outermost(function, level):
    return function(autoconv.constant(3), level)


@pytest.mark.parametrize("function", [calls, autoconv.function(calls)])
@pytest.mark.parametrize(("level", "line"), [(1, 6), (2, 12), (3, 17)])
def test_warnings_point_to_the_line_that_stacklevel_says(function, level, line):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outermost(function, level)
    assert {(w.filename, w.lineno - LINE) for w in caught} == {(__file__, line)}


@pytest.mark.parametrize(("level", "line"), [(1, 6), (2, 17)])
def test_warnings_of_converted_code_on_plain_values(level, line):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outermost(autoconv.autograph.to_graph(warns), level)
    assert {(w.filename, w.lineno - LINE) for w in caught} == {(__file__, line)}


def test_warnings_in_a_converted_module_on_disk(tmp_path, monkeypatch):
    source = "import warnings\n\n\ndef f(x):\n    if x:\n        warnings.warn('two up', stacklevel=2)\n"
    (tmp_path / "source.py").write_text(source)
    text = convert_source(source, "source.py", Options(source_path="source.py")).text
    (tmp_path / "converted.py").write_text(text)
    spec = importlib.util.spec_from_file_location("converted", tmp_path / "converted.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "converted", module)
    spec.loader.exec_module(module)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.f(True); line = inspect.currentframe().f_lineno  # fmt: skip  # noqa: E702
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]


def helper(x):
    if x > 1:
        return 2 * x
    return x


@autoconv.function
def profiled(x):
    total = 0
    for i in autoconv.range(x):
        total += helper(i)
    return total


def test_profilers_name_the_users_functions():
    profile = cProfile.Profile()
    profile.runcall(profiled, autoconv.constant(3))
    found = {name for file, _, name in pstats.Stats(profile).stats if file == __file__}
    assert found == {"profiled", "helper"}


def test_inspect_shows_the_users_source():
    converted = autoconv.autograph.to_graph(helper)
    expected = "def helper(x):\n    if x > 1:\n        return 2 * x\n    return x\n"
    assert inspect.getsource(converted) == inspect.getsource(helper) == expected
    assert inspect.getsource(profiled).startswith("@autoconv.function\ndef profiled(x):\n")
    assert str(inspect.signature(profiled)) == "(x)"
    assert converted.__code__.co_firstlineno == helper.__code__.co_firstlineno


def test_nothing_generated_is_left_in_linecache():
    before = set(linecache.cache)  # other libraries generate code too
    profiled(autoconv.constant(4))
    added = linecache.cache.keys() - before
    assert not [name for name in added if "generated" in name or "autoconv_" in name.rpartition("/")[2]]


@autoconv.function
def fails(x):
    return autoconv.gather([1, 2], x)


def frames(error):
    """Return (file, function) of the frames of an error and of its causes and contexts."""
    found = []
    while error is not None:
        found += [(f.filename, f.name) for f in traceback.extract_tb(error.__traceback__)]
        error = error.__cause__ or error.__context__
    return found


def test_an_error_that_is_caught_and_raised_anew():
    def handled(x):
        try:
            fails(x)
        except ValueError as error:
            raise RuntimeError("no such row") from error

    with pytest.raises(RuntimeError) as caught:
        handled(autoconv.constant(7))
    here = "test_an_error_that_is_caught_and_raised_anew"
    assert frames(caught.value) == [
        (__file__, here), (__file__, "handled"), (__file__, "handled"), (__file__, "fails"),
    ]  # fmt: skip


def test_every_call_has_a_traceback_of_its_own():
    for _ in range(3):
        with pytest.raises(ValueError, match="is not in") as caught:
            fails(autoconv.constant(7))
        assert [name for _, name in frames(caught.value)][1:] == ["fails"]


@autoconv.function
def raises(x):
    if x > 0:
        raise LookupError("the same one")
    return x


def test_an_exception_of_the_graph_is_new_for_every_call():
    found = []
    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            raises(autoconv.constant(7))
        found.append(caught.value)
        assert [name for _, name in frames(caught.value)][1:] == ["raises"]
    assert found[0] is not found[1]


def test_groups_of_exceptions():
    @autoconv.function
    def several(x):
        for part in range(2):
            if part:
                raise ExceptionGroup("parts", [error_of(part), error_of(2 * part)])
        return x

    with pytest.raises(ExceptionGroup) as caught:
        several(autoconv.constant(1))
    text = "".join(traceback.format_exception(caught.value))
    assert {name for _, name in frames(caught.value)} <= {"several", "test_groups_of_exceptions"}
    assert text.count("line") >= 3 and "autoconv/" not in text.replace(__file__, "")


def error_of(part):
    try:
        if part:
            raise ValueError(part)
    except ValueError as error:
        return error


def test_coroutines_and_generators_of_the_user_are_shown():
    def rows(table):
        for row in table:
            yield 1 // row

    @autoconv.function
    def f(x):
        return x + sum(rows([1, 0]))

    with pytest.raises(ZeroDivisionError) as caught:
        f(autoconv.constant(1))
    assert [name for _, name in frames(caught.value)][1:] == ["f", "rows"]


def test_the_frames_of_a_library_that_the_user_calls_are_shown():
    @autoconv.function
    def f(x):
        import json

        return x + json.loads("{")

    with pytest.raises(ValueError, match="Expecting") as caught:
        f(autoconv.constant(1))
    names = [name for _, name in frames(caught.value)][1:]
    assert names[:2] == ["f", "loads"] and sys.modules["json"].__file__ in [file for file, _ in frames(caught.value)]
