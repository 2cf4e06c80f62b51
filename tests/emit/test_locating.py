"""A function's source is found by parsing the statements around its line, whatever else the file holds."""

import ast
import linecache
from pathlib import Path

import pytest

from autoconv.emit.function import locate_source
from autoconv.errors import ConversionError

AFTER_A_BACKSLASH = "a = 1; \\\n  f = lambda x: x + a\n"
OLD_LINES = "a = 1\rdef f(x):\r    return x + a\r"
ON_ONE_LINE = "a = [\n1]; f = lambda x: (\n  x)\nb = 2\n"
DECORATED = "\n\n@staticmethod\n# why\n@staticmethod\ndef f(x):\n    return x\nf = f.__func__.__func__\n"


def define(source: str):
    name = f"<located {hash(source)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    namespace = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("source", [AFTER_A_BACKSLASH, OLD_LINES, ON_ONE_LINE, DECORATED])
def test_the_node_is_that_of_the_whole_file(source):
    node, class_name, _, lines = locate_source(define(source))
    every = [ast.dump(item, include_attributes=True) for item in ast.walk(ast.parse(source))]
    assert ast.dump(node, include_attributes=True) in every
    assert class_name == "" and lines == source.splitlines()


def test_every_function_of_a_file():
    path = Path(__file__)
    whole = {
        (node.name, node.lineno): ast.dump(node, include_attributes=True)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    for function in (define, test_every_function_of_a_file, Held.method):
        node, class_name, _, _ = locate_source(function)
        assert ast.dump(node, include_attributes=True) == whole[node.name, node.lineno]
        assert class_name == ("Held" if function is Held.method else "")


class Held:
    def method(self):
        return self


@pytest.mark.parametrize("now", ["a = 1\n", "", "a = (\n", "\n\n\ndef g(x):\n    return x\n"])
def test_a_file_that_was_changed(now):
    f = define("\n\n\ndef f(x):\n    return x\n")
    name = f.__code__.co_filename
    linecache.cache[name] = len(now), None, now.splitlines(True) or ["\n"], name
    with pytest.raises(ConversionError, match="any more"):
        locate_source(f)


def test_a_memory_error_is_not_reported_as_deep_nesting(monkeypatch):
    def doubled(x):
        return x * 2

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr("ast.parse", no_memory)
    with pytest.raises(MemoryError):
        locate_source(doubled)
