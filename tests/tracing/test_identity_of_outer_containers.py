"""Outer containers that a function reaches by some path are returned as themselves, also after they are rebound."""

import itertools
import linecache

import pytest

import autoconv

# An expression that reads the container, and the expression that refers to it outside.
PATHS = {
    "G": "G", "C.v": "C.v", "D.v": "C.v", "O.v": "O.v", "L[0]": "L[0]", "M['k']": "M['k']", "O.get()": "O.v",
    "O.property": "O.v", "S.v": "S.v", "default()": "default.__defaults__[0]", "default.v": "default.v",
    "a.v": "O.v", "getattr(C, 'v')": "C.v",
}  # fmt: skip
# The body of a function with the expression READ, and the expression of the container in the result.
USES = {
    "return x * 2, READ": "result[1]",
    "return {k: READ for k in range(2)}, x": "result[0][1]",
    "return (READ if x > 1 else G), x": "result[0] if x > 1 else None",
    "made = Object(); made.w = READ; made.n = x; return made": "result.w",
    "return Pair(READ, x)": "result.first",
    "return sorted([(x, READ)], key=lambda pair: pair[0])": "result[0][1]",
    "return {'x': x} | {'k': READ}": "result['k']",
    "OUT.append(READ); return x": "OUT[-1]",
    "OUTER.w = READ; return x": "OUTER.w",
    "REGISTER[x] = READ; return x": "REGISTER[x]",
    "raise ValueError(READ, x)": "error.args[0]",
    "y = [READ for i in range(x + 1) if i == x]; return y": "result[0]",
    "found = None\n    for i in range(x):\n        if i == 1:\n            found = READ\n    return found, x":
        "result[0] if x > 1 else None",
    "try:\n        return READ, 1 // (x - 1)\n    except ZeroDivisionError:\n        return [READ]": "result[0]",
}  # fmt: skip
KINDS = {"list": "[1, 'a']", "dict": "{'a': 1}", "set": "{1, 2}", "nested": "[[1], {'q': [2]}]"}
PROGRAM = """
import dataclasses

class C:
    v = None

class D(C):
    pass

class Object:
    def get(self):
        return self.v

    @property
    def property(self):
        return self.v

class Slots:
    __slots__ = ("v",)

@dataclasses.dataclass
class Pair:
    first: object
    second: int

def default(part=None):
    return part

O, S, OUTER, OUT, REGISTER = Object(), Slots(), Object(), [], {{}}

def bind():
    global G, L, M
    G, C.v, O.v, L, M, S.v, default.v = {kind}, {kind}, {kind}, [{kind}], {{"k": {kind}}}, {kind}, {kind}
    default.__defaults__ = {kind},

def program(x, a):
    {body}
"""


def cases():
    """Yield each use with every path; the kinds of containers alternate."""
    kinds = itertools.cycle(KINDS.values())
    for (path, container), (statement, result) in itertools.product(PATHS.items(), USES.items()):
        yield statement.replace("READ", path), container, result, next(kinds)


@pytest.mark.search
@pytest.mark.parametrize(("body", "container", "result_text", "kind"), list(cases()))
def test_the_container_is_returned_itself(body, container, result_text, kind):
    source = PROGRAM.format(body=body, kind=kind)
    file = f"<outer container {hash(source)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names = {"__name__": "outer_container"}
    exec(compile(source, file, "exec"), names)
    compiled = autoconv.compile(names["program"])
    names["bind"]()
    for x in range(5):
        result = error = None
        try:
            result = compiled(x, names["O"])
        except ValueError as raised:
            error = raised
        found = eval(result_text, {**names, "result": result, "error": error, "x": x})
        assert found is eval(container, names) or (found is None and "else None" in result_text)
        if x in (2, 3):
            names["bind"]()


def test_constants_that_are_only_read_stay_constants():
    table, texts = {"a": [1, 2], "b": [3]}, ["no", "yes"]

    def program(x, key):
        print(texts[x % 2], len(table[key]), table[key][0] + x, [*table[key], x])
        return texts[x % 2] + key

    compiled = autoconv.compile(program)
    for x in range(4):
        assert compiled(x, "ab"[x % 2]) == program(x, "ab"[x % 2])
    explained = compiled.explain()
    assert "plain Python" not in explained and "Object[" not in explained
