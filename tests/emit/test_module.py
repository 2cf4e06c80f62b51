"""Whole modules: unchanged parts, renamed imports, added decorators, and a stable text."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source
from autoconv.errors import SourceError, TargetError

SOURCE = '''\
#!/usr/bin/env python
"""The module's docstring."""

from __future__ import annotations

import tensorflow as tf
import tensorflow
from tensorflow.math import sin

LIMIT = 3 if tf else 4


# about f
def f(x: int, y: float = 1.5, *rest, key=LIMIT, **more) -> float:
    """What f does."""
    # decides
    if x > LIMIT:
        return y
    return x * y


class Holder:
    """A class."""

    __slots__ = ("__value",)

    @staticmethod
    def g(x):
        while x > 10:
            x //= 2
        return x

    def put(self, value):
        self.__value = value
        if value is None:
            self.__value = 0
        return self.__value
'''


def test_text_around_the_code_is_kept():
    text = convert_source(SOURCE, "module.py").text
    assert text.startswith(
        '#!/usr/bin/env python\n"""The module\'s docstring."""\nfrom __future__ import annotations\n'
    )
    assert "# about f\ndef f(x: int, y: float=1.5, *rest, key=LIMIT, **more) -> float:\n" in text.replace(
        " = 1.5", "=1.5"
    )
    assert '    """What f does."""\n' in text
    assert "    # decides\n" in text
    assert "    @staticmethod\n    def g(x):\n" in text
    assert "LIMIT = 3 if tf else 4\n" in text


def test_the_converted_module_runs():
    source = SOURCE.replace(
        "import tensorflow as tf\nimport tensorflow\nfrom tensorflow.math import sin\n", "tf = None\n"
    )
    namespace = {"__name__": "converted"}
    exec(compile(convert_source(source, "module.py").text, "converted", "exec"), namespace)
    assert [namespace["f"](x, 2.0) for x in (1, 4, 5)] == [2.0, 8.0, 2.0]
    assert namespace["f"].__doc__ == "What f does."
    holder = namespace["Holder"]()
    assert [holder.put(3), holder.put(None), holder.g(99)] == [3, 0, 6]


def test_imports_are_renamed():
    text = convert_source(SOURCE, "module.py", Options(rename_imports={"tensorflow": "autoconv"})).text
    assert "import autoconv as tf\n" in text
    assert "import autoconv as tensorflow\n" in text
    assert "from autoconv.math import sin\n" in text


def test_functions_are_decorated_by_compile():
    text = convert_source(SOURCE, "module.py", Options(compile_names=frozenset({"f", "Holder.g"}))).text
    assert "@autoconv.compile\ndef f(" in text
    assert "    @staticmethod\n    @autoconv.compile\n    def g(x):" in text
    with pytest.raises(TargetError, match=r"no function 'ff'; did you mean f\?"):
        convert_source(SOURCE, "module.py", Options(compile_names=frozenset({"ff"})))


def test_constructs_are_counted():
    conversion = convert_source(SOURCE, "module.py")
    rows = [(c.kind, c.function, c.form) for c in conversion.constructs]
    assert rows == [("if", "f", "functional"), ("while", "Holder.g", "functional"), ("if", "Holder.put", "functional")]


def test_a_syntax_error_has_a_place():
    with pytest.raises(SourceError) as caught:
        convert_source("def f(:\n    pass\n", "broken.py")
    assert (caught.value.place.file, caught.value.place.line) == ("broken.py", 1)


def test_the_text_does_not_depend_on_the_hash_seed():
    program = (
        "from pathlib import Path; from autoconv.emit.module import convert_source; "
        f"print([convert_source(p.read_text(), str(p)).text for p in sorted(Path({str(_PROGRAMS)!r}).glob('*.py'))])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "77")
    }
    assert len(texts) == 1


_PROGRAMS = Path(__file__).parents[2] / "fixtures" / "programs"


def test_a_thousand_arms(tmp_path):
    arms = "".join(f"    {'if' if i == 0 else 'elif'} x == {i}:\n        y = {i}\n" for i in range(1000))
    guards = "".join(f"    if x == {i}:\n        return {i}\n" for i in range(500))
    source = f"def chain(x):\n    y = -1\n{arms}    return y\n\n\ndef ladder(x):\n{guards}    return -1\n"
    namespace = {"__name__": "converted"}
    exec(compile(convert_source(source, "arms.py").text, "arms", "exec"), namespace)
    for function, last in ((namespace["chain"], 999), (namespace["ladder"], 499)):
        assert [function(x) for x in (0, 250, last, last + 1)] == [0, 250, last, -1]


def test_conversion_leaves_no_trees_for_the_garbage_collector() -> None:
    part = """
    for y in ys:
        try:
            x[y] = y if y > 1 else 2
        except KeyError:
            return x
"""
    source = f"def f(x, ys):\n{part * 5}"
    convert_source(source, "f.py")  # the first conversion fills caches
    gc.collect()
    gc.disable()
    try:
        convert_source(source, "f.py")
        assert gc.collect() < 50
    finally:
        gc.enable()
