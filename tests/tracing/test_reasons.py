"""Reasons of plain runs in `explain`: each reason once, with a count, in terms of the program."""

import autoconv as ac
from autoconv.tracing.views.explain import Explanation, Reasons


def test_a_reason_is_listed_once_with_its_count():
    def f(n):
        total = 1
        for i in range(1, n):
            total *= i
        return total

    compiled = ac.compile(f)
    for n in (5, 30, 31, 32):
        assert compiled(n) == f(n)
    (line,) = [line for line in compiled.explain().splitlines() if "plain Python" in line]
    assert "one call: the Python int" in line and line.endswith("; and 2 more like it")


def test_reasons_are_kept_by_line_and_old_ones_are_dropped_first():
    reasons = Reasons()
    for i in range(400):
        reasons.append(f"file.py:{i}: reason")
    reasons.append("file.py:399: reason")
    assert "file.py:0: reason" not in reasons and "file.py:399: reason" in reasons
    assert list(reasons)[-1] == "file.py:399: reason (2 times)" and len(list(reasons)) == 256
    listed = Explanation("f")
    listed.plain.append("why")
    assert listed.text() == "f: 0 traces\n  plain Python: why"


def test_a_reason_about_aliases_names_the_variables():
    def by_name(x):
        a = [x]
        b = a if x > 0 else [2.0]
        return a, b, b is a

    def by_statement(x):
        first = {"a": [x]}
        if x > 0:
            second = first["a"]
        else:
            second = [1.0]
        second.append(x)
        return first, second

    for function in (by_name, by_statement):
        compiled = ac.compile(function)
        for x in (1.5, -1.5):
            assert compiled(x) == function(x)
        assert "a tensor decides whether" not in compiled.explain()
