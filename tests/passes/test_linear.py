"""The number of calls of a conversion grows linearly with the length of a file, and slowly with nesting."""

import cProfile

import pytest

from autoconv.analysis.scopes import scope_of
from autoconv.emit.module import convert_source
from autoconv.syntax.parse import parse


def _line(expression):
    return f"def f(x, y):\n    return {expression}\n"


def _nested_expression(opening, n, middle, closing):
    return _line(opening * n + middle + "".join(closing.format(k) for k in range(n)))


NESTED = {
    "conditional expressions": lambda n: _line("".join(f"{k} if x > {k} else " for k in range(n)) + "y"),
    "conditional expressions in bodies": lambda n: _nested_expression("(", n, "y", " if x > {0} else {0})"),
    "conditional expressions in tests": lambda n: _nested_expression("(x if ", n, "y", " else {0})"),
    "and and or": lambda n: _nested_expression("(x and (x or ", n, "y", "))"),
    "a chain of comparisons": lambda n: _line(" < ".join("x" * (n + 1))),
    "chains in chains": lambda n: _nested_expression("(x < x < ", n, "y", ")"),
    "comparisons": lambda n: _nested_expression("(x < ", n, "y", ")"),
    "lambdas": lambda n: _line("".join(f"lambda a{k}: " for k in range(n)) + "x + a0"),
    "lambdas that are called": lambda n: _nested_expression("(lambda a: ", n, "x", ")({0})"),
    "lambdas in defaults": lambda n: _nested_expression("lambda a=(", n, "x", "): a"),
    "list comprehensions": lambda n: _nested_expression("[", n, "x", " for a{0} in x]"),
    "generator expressions": lambda n: _nested_expression("(", n, "x", " for a{0} in x)"),
    "iterables of comprehensions": lambda n: _nested_expression("[a for a in ", n, "x", "]"),
    "displays": lambda n: _nested_expression("[*", n, "x", "]"),
    "calls": lambda n: _nested_expression("x(", n, "x", ")"),
    "methods": lambda n: _nested_expression("", n, "x", ".a()"),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_expressions(name):
    """Twice the depth takes at most four times the calls: each level looks up the names of the levels below it."""
    few, more, most = (_calls(NESTED[name](n)) for n in (5, 10, 20))
    assert more < 4 * few and most < 4.2 * more, (few, more, most)


def test_nested_functions():
    def source(n):
        heads = "".join("    " * k + f"def f{k}(a{k}):\n" for k in range(n))
        ends = "".join("    " * k + f"return f{k}\n" for k in range(n - 1, 0, -1))
        return heads + "    " * n + "return a0\n" + ends

    few, more, most = (_calls(source(n)) for n in (5, 10, 20))
    assert more < 4 * few and most < 4 * more


LONG = {
    "statements": lambda n: "def f(x):\n" + "    x = x + 1\n" * n + "    return x\n",
    "statements of a module": lambda n: "x = 1\n" * n,
    "a dict": lambda n: "d = {" + ", ".join(f"{k}: 'a'" for k in range(n)) + "}\n",
    "a list": lambda n: _line("[" + "x, " * n + "]"),
    "operators": lambda n: _line("x" + " + x" * n),
    "a text": lambda n: _line("f'" + "{x}" * n + "'"),
    "functions": lambda n: "".join(f"def f{k}(x):\n    return 1 if x else 2\n" for k in range(n)),
}


@pytest.mark.parametrize("name", LONG)
def test_long_files(name):
    few, more = (_calls(LONG[name](n)) for n in (40, 80))
    assert more < 2.1 * few


def test_the_names_of_a_scope_are_computed_once(monkeypatch):
    """The free names of each of 30 nested lambdas are computed once."""
    function = parse(NESTED["lambdas"](30), "f.py").body[0]
    scopes = []
    monkeypatch.setattr("autoconv.analysis.scopes._find_free_names", _recording_free_names(scopes))
    scope_of(function)
    assert len(scopes) == 30 and len({id(node) for node in scopes}) == 30


@pytest.mark.parametrize(
    ("source", "captured"),
    [
        ("lambda: lambda: x", {"x"}),
        ("lambda x: lambda: x", set()),
        ("[lambda: x for y in y]", {"x"}),
        ("[[lambda: x for a in y] for b in y]", {"x"}),
        ("[a for a in [b for b in [(lambda: x)]]]", {"x"}),
        ("[a for a in (x for b in y)]", {"x", "y"}),
        ("[a for a in (lambda: y)()]", {"y"}),
        ("[0 for y[(lambda: x)()] in y]", {"x"}),
    ],
)
def test_captured_names(source, captured):
    assert scope_of(parse(_line(source), "f.py").body[0]).captured == captured


def _recording_free_names(recorded):
    from autoconv.analysis import scopes

    original = scopes._find_free_names

    def found(scope, known):
        recorded.append(scope)
        return original(scope, known)

    return found


def _calls(source):
    with cProfile.Profile() as profile:
        convert_source(source, "f.py")
    return sum(entry.callcount for entry in profile.getstats())
