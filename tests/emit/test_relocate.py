"""Converted modules on disk show the lines of the file they came from."""

import importlib.util
import random
import traceback

import pytest

from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source
from autoconv.emit.relocate import decode_lines, encode_lines, relocate

SOURCE = '''\
def check(x):
    if x > 0:
        for i in range(3):
            if i == x:
                raise ValueError("found")
    return x


class Checker:
    def run(self):
        return check(2)
'''


def test_line_maps_round_trip():
    generator = random.Random(0)
    for _ in range(50):
        lines = [generator.choice([0, *range(1, 40)]) for _ in range(generator.randint(0, 60))]
        assert decode_lines(encode_lines(lines)) == lines


def test_moved_code_has_the_mapped_lines_and_runs():
    source = "def f(a):\n    b = a + 1\n\n    return [b * i\n            for i in range(a)]\n"
    namespace = {}
    exec(compile(source, "before.py", "exec"), namespace)
    function = namespace["f"]
    lines = [100 + line * 10 for line in range(1, 6)]
    function.__code__ = relocate(function.__code__, lines, "after.py")
    assert function(3) == [0, 4, 8]
    assert function.__code__.co_filename == "after.py"
    assert {line for _, _, line in function.__code__.co_lines() if line} <= set(lines)
    assert 120 in {line for _, _, line in function.__code__.co_lines()}


def test_tracebacks_of_a_converted_module_show_the_source(tmp_path):
    original, converted = tmp_path / "checks.py", tmp_path / "checks_graph.py"
    original.write_text(SOURCE)
    converted.write_text(convert_source(SOURCE, str(original), Options(source_path="checks.py")).text)
    spec = importlib.util.spec_from_file_location("checks_graph", converted)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["checks_graph"] = module
    try:
        spec.loader.exec_module(module)
        with pytest.raises(ValueError, match="found") as caught:
            module.Checker().run()
    finally:
        del sys.modules["checks_graph"]
    frames = [
        (frame.lineno, frame.name)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == str(original)
    ]
    assert frames[0] == (11, "run")
    assert frames[-1] == (5, "check")
    assert {name for _, name in frames} == {"run", "check"}
