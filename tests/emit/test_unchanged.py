"""Functions with nothing to convert are recognised by their text and run unchanged, without importing the converter."""

import ast
import inspect
import linecache
import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import autoconv as ac
from autoconv.emit.module import convert_source
from autoconv.emit.unchanged import is_unchanged
from autoconv.nn import relu

WEIGHT = 2.0


def arithmetic(x, y):
    """A docstring."""
    z = x * WEIGHT + y**2
    w = v = -z
    return w @ x.T, v


def nothing(x):
    return


def calls(x, y=1.0):
    z = ac.tanh(x) + y
    return relu(ac.nn.softmax(z * 0.5, axis=-1)), (
        z
    )


def branches(x):
    return x if x > 0 else -x


def compares(x):
    return x > 0


def negates(x):
    return not x


def loops(x):
    for _ in range(3):
        x = x + 1
    return x


def helper(x):
    return x


def calls_another(x):
    return helper(x)


def calls_a_method(x):
    return x.sum()


def calls_a_builtin(x):
    return abs(x)


def item(x):
    return x[0]


def inner(x):
    return lambda: x


def changes(x):
    x += 1
    return x


def kind(x):
    return x.__class__


def texts(x):
    return f"{x}"


def collects(x):
    return [x, x]


def generates(x):
    yield x


def without_call_marks(text):
    """Return converted code with each `ag__.call(f)` replaced by f."""

    class Unmarked(ast.NodeTransformer):
        def visit_Call(self, node):
            self.generic_visit(node)
            return node.args[0] if ast.unparse(node.func) == "ag__.call" else node

    return ast.dump(Unmarked().visit(ast.parse(text)).body[-1])


@pytest.mark.parametrize("function", [arithmetic, nothing, calls])
def test_functions_that_conversion_would_not_change(function):
    assert is_unchanged(function, allows_package_calls=True)
    assert is_unchanged(function, allows_package_calls=False) == (function is not calls)
    text = textwrap.dedent(inspect.getsource(function))
    assert without_call_marks(convert_source(text, "f.py").text) == ast.dump(ast.parse(text).body[0])


@pytest.mark.parametrize(
    "function",
    [
        branches, compares, negates, loops, calls_another, calls_a_method, calls_a_builtin, item, inner, changes, kind,
        texts, collects, generates, lambda x: x,
    ],
)  # fmt: skip
def test_functions_that_may_need_conversion(function):
    assert not is_unchanged(function, allows_package_calls=True)


def test_a_name_that_is_rebound_is_examined_again():
    namespace = {"tool": ac.tanh}
    source = "def f(x):\n    return tool(x)\n"
    linecache.cache["<bound anew>"] = len(source), None, source.splitlines(True), "<bound anew>"
    exec(compile(source, "<bound anew>", "exec"), namespace)
    traced = ac.function(namespace["f"])
    assert is_unchanged(namespace["f"], allows_package_calls=True)
    np.testing.assert_allclose(traced(ac.constant(0.5)), np.tanh(0.5))
    namespace["tool"] = branches
    assert not is_unchanged(namespace["f"], allows_package_calls=True)
    assert [float(traced(ac.constant(v))) for v in (0.5, -2.0)] == [0.5, 2.0]


def test_a_function_of_no_module_may_be_called(tmp_path):
    """Code that `exec` runs in a dict without `__name__` defines functions whose `__module__` is None."""
    path = tmp_path / "program.py"
    path.write_text("def helper(x):\n    return x * x\n\n\ndef caller(x):\n    return helper(x)\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    assert namespace["helper"].__module__ is None
    assert ac.function(namespace["caller"])(ac.constant(3.0)).numpy() == 9.0


def test_neither_gast_nor_the_passes_are_imported(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import autoconv as ac\n\n\n"
        "@ac.function\n"
        "def f(x):\n"
        "    return ac.nn.softmax(x * 2.0) + 1\n\n\n"
        "f(ac.constant([1.0, 2.0]))\n"
        "print(sorted({'gast', 'autoconv.passes', 'autoconv.emit.function'} & set(sys.modules)))\n"
    )
    found = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_tracebacks_end_in_the_users_line():
    @ac.function
    def wrong(x, y):
        z = x * 2
        return ac.matmul(z, y)

    with pytest.raises(ValueError, match="inner dimensions") as caught:
        wrong(ac.constant([[1.0, 2.0]]), ac.constant([[1.0, 2.0]]))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "return ac.matmul(z, y)"
