"""New objects that leave the call by two ways, as a result and in an outer object, are one object, as in Python."""

import itertools
import linecache
import random
import types
from dataclasses import dataclass

import pytest

import autoconv as ac

PRELUDE = """
from collections import deque
from dataclasses import dataclass

@dataclass
class Data:
    v: object

@dataclass(frozen=True)
class Frozen:
    v: object

@dataclass(slots=True)
class Slots:
    v: object

class Plain:
    def __init__(self, v):
        self.v = v

outer, last = [], None
"""
EXPRESSIONS = ("Data(k)", "Frozen(k)", "Data([k])", "Slots(k)", "Plain(k)", "[k]", "{'a': k}", "{k}", "deque([k])")
STATEMENTS = {
    "held.append(n)": "held[-1]",
    "held[0] = n": "held[0]",
    "held += [n]": "held[-1]",
    "held.insert(0, n)": "held[0]",
    "box.v = n": "box.v",
    "box.v = [n]": "box.v[0]",
    "box.v = Data(n)": "box.v.v",
    "setattr(box, 'v', n)": "box.v",
    "table['a'] = n": "table['a']",
    "table.setdefault('q', n)": "table['q']",
    "outer.append(n)": "outer[-1]",
    "global last; last = n": "last",
    "if k > 0: held.append(n)": "held[-1]",
    "for i in range(k): held.append(n)": "held[-1]",
}
RESULTS = {
    "n": "r", "(n, k)": "r[0]", "[k, n]": "r[1]", "(n, n)": "r[1]", "Data(n)": "r.v", "n if k > 1 else (n, 2)": "r",
}  # fmt: skip


def build_source(expression, statement, result):
    return f"{PRELUDE}\ndef f(held, box, table, k):\n    n = {expression}\n    {statement}\n    return {result}\n"


def load_module(source):
    name = f"<two names {len(linecache.cache)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module = types.ModuleType("two_names")
    exec(compile(source, name, "exec"), vars(module))
    return module


def run_and_compare_identity(module, function, statement, result, k):
    held, box, table = [0, k], module.Plain(0), {}
    known = dict(vars(module), held=held, box=box, table=table, r=function(held, box, table, k))
    known["last"] = module.last
    return eval(f"{STATEMENTS[statement]} is {RESULTS[result]}, {STATEMENTS[statement]}.__class__.__name__", known)


COMBINATIONS = list(itertools.product(EXPRESSIONS, STATEMENTS, RESULTS))


@pytest.mark.parametrize(("expression", "statement", "result"), random.Random(3).sample(COMBINATIONS, 50))
@pytest.mark.search
def test_a_new_object_of_two_ways_is_one_object(expression, statement, result):
    module = load_module(build_source(expression, statement, result))
    compiled = ac.compile(module.f)
    for k in (3, 4, 2):
        expected = run_and_compare_identity(module, module.f, statement, result, k)
        assert run_and_compare_identity(module, compiled, statement, result, k) == expected


@dataclass
class Point:
    x: float


def test_a_dataclass_of_two_names_is_an_object_of_the_graph():
    def f(items, x):
        point = Point(x)
        items.append(point)
        return [point], point

    compiled = ac.compile(f)
    for x in (1.5, 2.5):
        held = []
        in_list, alone = compiled(held, x)
        assert in_list[0] is alone is held[0] and alone == Point(x)
    assert compiled.experimental_get_tracing_count() == 1 and "plain Python" not in compiled.explain()
    assert "object<Point>" in compiled.explain() and "heap" not in compiled.explain()
