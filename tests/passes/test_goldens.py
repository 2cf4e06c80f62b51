"""Texts after each pass, as files under fixtures/passes/<pass>/<case>.py.

A file has the program before, `# call:` lines, a line `# becomes`, and the program after the pass that its folder is
named after, and all passes before it. `pytest --update` writes the found texts. The example in a pass's docstring is a
golden of its own for this one pass, or with the passes before it where these change it."""

import copy
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import gast
import pytest

import autoconv.operators as ag__
from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source
from autoconv.emit.unparse import unparse
from autoconv.passes import MUST_PRECEDE, PASSES, run_passes
from autoconv.passes.base import Context
from autoconv.process_state import deep_recursion
from autoconv.runtime.recording.activity import as_if_traced
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import parse, to_ast

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "passes"
NAMES = [row.name for row in PASSES]
CASES = sorted(FOLDER.glob("*/*.py"))
BECOMES = "# becomes\n"
HEADER = "import autoconv.operators as ag__\n__autoconv__ = ag__.module(__name__)\n"

# The pass `exits` determines the regions that keep their statement form; later passes need its result.
NEEDS = {"lifting": {"exits"}, "control_flow": {"exits"}}


@dataclass(frozen=True)
class Golden:
    before: str
    calls: tuple[str, ...]
    after: str


def read(text: str) -> Golden:
    before, _, after = text.partition(BECOMES)
    calls = tuple(re.findall(r"^# call: (.*)$", before, re.MULTILINE))
    return Golden(re.sub(r"^# call: .*\n", "", before, flags=re.MULTILINE), calls, after)


def write(golden: Golden, after: str) -> str:
    calls = "".join(f"# call: {call}\n" for call in golden.calls)
    return golden.before.rstrip("\n") + "\n" + calls + BECOMES + after


def after_pass(before: str, name: str) -> str:
    """Return the text after the passes up to and including `name`, without the import of the operators."""
    text = convert_source(before, "case.py", Options(last_pass=name)).text
    assert HEADER in text
    return text.replace(HEADER, "").strip("\n") + "\n"


def only_pass(text: str, name: str) -> str:
    """Return the text after one pass alone."""
    tree = parse(text, "case.py")
    context = Context("case.py", text.splitlines(), Namer(tree))
    for node in gast.walk(tree):  # the lambdas that passes made are known by identity, else
        if (
            isinstance(node, gast.Call)
            and build.is_operator(node.func, *vars(ag__))
            and node.func.attr != "call"
        ):
            for argument in node.args:
                context.mark_generated(argument)
    skipped = frozenset(NAMES) - {name} - NEEDS.get(name, set())
    with deep_recursion():
        return unparse(to_ast(run_passes(tree, context, skip=skipped))).strip("\n") + "\n"


def outcome(text: str, call: str) -> tuple[str, str, list[str]]:
    """Return the text of the result or error of a call in a new module, and its log."""
    events: list[str] = []

    def log(value):
        events.append(repr(value))
        return value

    names = {"ag__": ag__, "log": log, "Box": SimpleNamespace, "__name__": "case"}
    exec(compile(text, "case.py", "exec", dont_inherit=True), names)
    try:
        return "returned", repr(eval(call, names)), events
    except Exception as error:
        return "raised", f"{type(error).__name__}: {error}", events


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
class TestFile:
    def test_text(self, path, request):
        golden = read(path.read_text())
        after = after_pass(golden.before, path.parent.name)
        if request.config.getoption("--update"):
            path.write_text(write(golden, after))
        else:
            assert after == golden.after

    def test_calls_agree(self, path):
        golden = read(path.read_text())
        assert golden.calls, "a golden without a call shows nothing of what the code does"
        for call in golden.calls:
            assert outcome(golden.after, call) == outcome(golden.before, call), call
            whole, expected = after_pass(golden.before, NAMES[-1]), outcome(golden.before, call)
            assert outcome(whole, call) == expected, call
            with as_if_traced():
                assert outcome(whole, call) == expected, call

    def test_running_the_pass_again_changes_nothing(self, path):
        name = path.parent.name
        after = read(path.read_text()).after
        assert only_pass(after, name) == unparse(to_ast(parse(after, "case.py"))).strip("\n") + "\n"


@pytest.mark.parametrize("row", PASSES, ids=NAMES)
class TestPass:
    def test_docstring_example(self, row):
        golden = read(docstring_example(row))
        assert only_pass(golden.before, row.name) == golden.after

    def test_has_files(self, row):
        assert len(list((FOLDER / row.name).glob("*.py"))) >= 3

    def test_nothing_to_do_leaves_the_text_alone(self, row):
        text = "def f(x):\n    y = x + 1\n    return y\n"
        assert only_pass(text, row.name) == text

    def test_code_outside_of_functions_stays(self, row):
        text = "class C:\n    if 1 < 2 < 3:\n        x = [1][0]\n    for i in (1, 2):\n        assert i\n"
        assert only_pass(text, row.name) == text

    def test_removed_kinds_are_gone(self, row):
        text = "def f(x):\n    for i in x:\n        if i and x:\n            return i\n    return None\n"
        tree = parse(text, "case.py")
        context = Context("case.py", text.splitlines(), Namer(tree))
        tree = run_passes(tree, context, row.name)
        assert not [node for node in gast.walk(tree) if isinstance(node, row.removes)] or not row.removes


def docstring_example(row) -> str:
    """Return the example of a pass's module, the text after the first paragraph of its docstring."""
    text = sys.modules[row.transform.__module__].__doc__
    return textwrap.dedent(text.partition("\n\n")[2]).strip("\n") + "\n"


@pytest.mark.parametrize(("earlier", "later", "why"), MUST_PRECEDE)
def test_order(earlier, later, why):
    assert NAMES.index(earlier) < NAMES.index(later), why


def test_skipped_pass_does_not_run():
    text = "def f(a, b):\n    return a and b\n"
    skipped = convert_source(text, "case.py", Options(last_pass="logic", skip=frozenset(["logic"]))).text
    assert "return a and b" in skipped


def test_passes_do_not_share_nodes():
    """A node at two places of a tree would be rewritten twice."""
    for path in CASES:
        tree = parse(read(path.read_text()).before, "case.py")
        context = Context("case.py", [], Namer(tree))
        for row in PASSES:
            tree = row.transform(tree, context)
            seen: dict[int, gast.AST] = {}
            for node in walk_once(tree):
                assert id(node) not in seen, (
                    f"{path.name}: {row.name} put a {type(node).__name__} in two places"
                )
                seen[id(node)] = node
        copy.deepcopy(tree)


def walk_once(tree):
    leaves = (gast.expr_context, gast.operator, gast.cmpop, gast.unaryop, gast.boolop)
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in gast.iter_child_nodes(node) if not isinstance(child, leaves))
