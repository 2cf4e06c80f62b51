"""Functions that reach something which was there before and have Python run one of its methods, or write to it: what
`fuzz/effects.py` compiles. A program is one of a product: path, kind, effect, context, arguments."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# How something is reached: what is set up, the expression, and what puts another one in its place ("" for nothing).
PATHS: dict[str, tuple[str, str, str]] = {
    "global": ("O = new()", "O", "O = new()"),
    "item": ("BOX = [new(), new()]", "BOX[1]", "BOX[1] = new()"),
    "picked": ("BOX = [new(), new()]", "BOX[k % 2]", "BOX[1] = new()"),
    "last": ("BOX = [new(), new()]", "BOX[-1:][0]", "BOX.append(new())"),
    "dict": ("TABLE = {'k': new(), 'l': new()}", "TABLE['k']", "TABLE['k'] = new()"),
    "get": ("TABLE = {'k': new()}", "TABLE.get('k')", "TABLE['k'] = new()"),
    "values": ("TABLE = {'k': new()}", "list(TABLE.values())[0]", "TABLE['k'] = new()"),
    "tuple": ("PAIR = (new(), new())", "PAIR[1]", "PAIR = (new(), new())"),
    "nested": ("NESTED = [[new(), new()], 3]", "NESTED[0][1]", "NESTED[0][1] = new()"),
    "chain": ("HOLDER = Holder(Holder(new()))", "HOLDER.part.part", "HOLDER.part = Holder(new())"),
    "items of an attribute": ("HOLDER = Holder([new()])", "HOLDER.part[0]", "HOLDER.part[0] = new()"),
    "attribute of an item": ("BOX = [Holder(new())]", "BOX[0].part", "BOX[0].part = new()"),
    "slot": ("HOLDER = Slotted(new())", "HOLDER.part", "HOLDER.part = new()"),
    "property": ("HOLDER = Giving(new())", "HOLDER.given", "HOLDER.part = new()"),
    "method": ("HOLDER = Giving(new())", "HOLDER.give()", "HOLDER.part = new()"),
    "namespace": ("SPACE = types.SimpleNamespace(part=new())", "SPACE.part", "SPACE.part = new()"),
    "module": ("MODULE = types.ModuleType('settings')\nMODULE.part = new()", "MODULE.part", "MODULE.part = new()"),
    "class": ("class Kind:\n    part = new()", "Kind.part", "Kind.part = new()"),
    "class of an object": ("class Kind:\n    part = new()\nKEPT = Kind()", "KEPT.part", "Kind.part = new()"),
    "closure": ("", "part", "part = new()"),
    "called closure": ("", "give()", "part = new()"),
    "called": ("BOX = [new(), new()]", "pick(BOX, 1)", "BOX[1] = new()"),
    "comprehension": ("BOX = [new(), new()]", "[q for q in BOX][1]", "BOX[1] = new()"),
    "dict comprehension": ("BOX = [new(), new()]", "dict((i, q) for i, q in enumerate(BOX))[1]", "BOX[1] = new()"),
    "generator": ("BOX = [new(), new()]", "next(q for q in BOX)", "BOX[0] = new()"),
    "next": ("BOX = [new(), new()]", "next(iter(BOX))", "BOX[0] = new()"),
    "mapped": ("BOX = [new(), new()]", "list(map(lambda q: q, BOX))[1]", "BOX[1] = new()"),
    "filtered": ("BOX = [new(), new()]", "list(filter(lambda q: True, BOX))[1]", "BOX[1] = new()"),
    "sorted": ("BOX = [new(), new()]", "sorted(BOX, key=lambda q: 1)[1]", "BOX[1] = new()"),
    "zipped": ("BOX = [new(), new()]", "list(zip(BOX, (1, 2)))[1][0]", "BOX[1] = new()"),
    "reversed": ("BOX = [new(), new()]", "list(reversed(BOX))[0]", "BOX[1] = new()"),
    "copied": ("BOX = [new(), new()]", "BOX.copy()[1]", "BOX[1] = new()"),
    "listed": ("BOX = [new(), new()]", "list(BOX)[1]", "BOX[1] = new()"),
    "unpacked": ("BOX = [new(), new()]", "[*BOX][1]", "BOX[1] = new()"),
    "added": ("BOX = [new(), new()]", "(BOX + [1])[1]", "BOX[1] = new()"),
    "lambda": ("BOX = [new(), new()]", "(lambda: BOX[1])()", "BOX[1] = new()"),
    "partial": ("BOX = [new(), new()]\nPICK = functools.partial(pick, BOX)", "PICK(1)", "BOX[1] = new()"),
    "getter": ("BOX = [new(), new()]", "operator.itemgetter(1)(BOX)", "BOX[1] = new()"),
    "getattr": ("HOLDER = Holder(new())", "getattr(HOLDER, 'part')", "HOLDER.part = new()"),
    "globals": ("O = new()", "globals()['O']", "O = new()"),
    "default": ("BOX = [new(), new()]\ndef given(part=BOX[1]):\n    return part", "given()", ""),
    "argument": ("", "o", ""),
    "item of an argument": ("", "many[1]", ""),
    "comprehension of an argument": ("", "[q for q in many][0]", ""),
}
ARGUMENTS = ("none", "beside", "used")  # whether objects come in besides


class Kind(NamedTuple):
    """`method` is what the class has, `statement` what gives `v` where `expression` does not do. With `make`, there is
    no class, and what is reached is made by that."""

    method: str = ""
    expression: str = ""
    statement: str = ""
    make: str = ""


def _of(signature: str, answer: str, expression: str = "", statement: str = "", before: str = "") -> Kind:
    return Kind(f"{before}def {signature}:\n    EFFECT\n    {answer}", expression, statement)


def _writing(make: str, statement: str) -> Kind:
    return Kind(make=make, statement=statement + "\nv = len(OBJECT)")


_KEPT = "def {0}(self, v):\n    EFFECT\n"
KINDS: dict[str, Kind] = {
    "method": _of("hit(self)", "return N", "OBJECT.hit()"),
    "kept method": _of("hit(self)", "return N", statement="hit = OBJECT.hit\nv = hit()"),
    "static method": _of("hit()", "return 1", "OBJECT.hit()", before="@staticmethod\n"),
    "class method": _of("hit(cls)", "return 2", "OBJECT.hit()", before="@classmethod\n"),
    "property": _of("hits(self)", "return N", "OBJECT.hits", before="@property\n"),
    "property by getattr": _of("hits(self)", "return N", "getattr(OBJECT, 'hits')", before="@property\n"),
    "property by attrgetter": _of("hits(self)", "return N", "operator.attrgetter('hits')(OBJECT)", "", "@property\n"),
    "property by hasattr": _of("hits(self)", "return N", "hasattr(OBJECT, 'hits')", before="@property\n"),
    "cached property": _of("hits(self)", "return N", "OBJECT.hits", before="@functools.cached_property\n"),
    "__getattr__": _of("__getattr__(self, name)", "return N", "OBJECT.anything"),
    "__getattribute__": Kind(
        "def __getattribute__(self, name):\n    global SEEN\n    SEEN += 1\n"
        "    return object.__getattribute__(self, name)", "OBJECT.count",
    ),
    "getitem": _of("__getitem__(self, i)", "return N", "OBJECT[0]"),
    "getitem gone over": _of("__getitem__(self, i)", "if i > 1: raise IndexError\n    return N", "sum(OBJECT)"),
    "setitem": _of("__setitem__(self, i, value)", "pass", statement="OBJECT[0] = 2\nv = 1"),
    "delitem": _of("__delitem__(self, i)", "pass", statement="del OBJECT[0]\nv = 1"),
    "item += 1": _of("__getitem__(self, i)", "return N\ndef __setitem__(self, i, v):\n    self.count = v", "", (
        "OBJECT[0] += 1\nv = 1")),
    "len": _of("__len__(self)", "return N", "len(OBJECT)"),
    "truth by len": _of("__len__(self)", "return N", "(2 if OBJECT else 3)"),
    "truth": _of("__bool__(self)", "return N % 2 == 0", "(2 if OBJECT else 3)"),
    "not": _of("__bool__(self)", "return N % 2 == 0", "(2 if not OBJECT else 3)"),
    "any": _of("__bool__(self)", "return N % 2 == 0", "any([OBJECT])"),
    "iter": _of("__iter__(self)", "return iter((N, 2))", "sum(OBJECT)"),
    "list": _of("__iter__(self)", "return iter((N, 2))", "list(OBJECT)[0]"),
    "for": _of("__iter__(self)", "return iter((N, 2))", statement="v = 0\nfor e in OBJECT:\n    v += e"),
    "generator": _of("__iter__(self)", "yield N\n    yield 2", "sum(OBJECT)"),
    "for over a generator": _of("__iter__(self)", "yield N\n    yield 2", "", "v = 0\nfor e in OBJECT:\n    v += e"),
    "comprehension": _of("__iter__(self)", "return iter((N, 2))", "[e + 1 for e in OBJECT][0]"),
    "unpack": _of("__iter__(self)", "return iter((N, 2))", statement="a, b = OBJECT\nv = a + b"),
    "star": _of("__iter__(self)", "return iter((N, 2))", "max(*OBJECT)"),
    "zip": _of("__iter__(self)", "return iter((N, 2))", "list(zip(OBJECT, OBJECT))[0][0]"),
    "in by iter": _of("__iter__(self)", "return iter((N, 2))", "(2 if 3 in OBJECT else 3)"),
    "dict of": _of("keys(self)", "return ['a']\ndef __getitem__(self, name):\n    return 5", "dict(OBJECT)['a']"),
    "**": _of("keys(self)", "return ['a']\ndef __getitem__(self, name):\n    return 5", "dict(**OBJECT)['a']"),
    "next": _of("__next__(self)", "return N", "next(OBJECT)"),
    "reversed": _of("__reversed__(self)", "return iter((N, 2))", "list(reversed(OBJECT))[0]"),
    "in": _of("__contains__(self, x)", "return N % 2 == 0", "(2 if 1 in OBJECT else 3)"),
    "not in": _of("__contains__(self, x)", "return N % 2 == 0", "(2 if 1 not in OBJECT else 3)"),
    "+": _of("__add__(self, other)", "return N + other", "(OBJECT + 1)"),
    "+ x": _of("__add__(self, other)", "return N + other", "(OBJECT + x)"),
    "x +": _of("__radd__(self, other)", "return N + other", "(x + OBJECT)"),
    "sum": _of("__radd__(self, other)", "return N + other", "sum([OBJECT])"),
    "+=": _of("__iadd__(self, other)", "return N + other", statement="v = OBJECT\nv += 1"),
    "-": _of("__neg__(self)", "return -N", "-OBJECT"),
    "abs": _of("__abs__(self)", "return N", "abs(OBJECT)"),
    "divmod": _of("__divmod__(self, other)", "return (N, 1)", "divmod(OBJECT, 2)[0]"),
    "round": _of("__round__(self, digits=None)", "return N", "round(OBJECT)"),
    "@": _of("__matmul__(self, other)", "return N", "(OBJECT @ 2)"),
    "<": _of("__lt__(self, other)", "return N % 2 == 0", "(2 if OBJECT < 1 else 3)"),
    "> mirrored": _of("__lt__(self, other)", "return N % 2 == 0", "(2 if 1 > OBJECT else 3)"),
    "==": _of("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT == 1 else 3)"),
    "!=": _of("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT != 1 else 3)"),
    "in by ==": _of("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT in [1, 2] else 3)"),
    "sorted by <": _of("__lt__(self, other)", "return N % 2 == 0", "len(sorted([OBJECT, OBJECT]))"),
    "max by <": _of("__gt__(self, other)", "return N % 2 == 0", "(max([OBJECT, OBJECT]) is None)"),
    "call": _of("__call__(self, *args)", "return N", "OBJECT()"),
    "key": _of("__call__(self, v)", "return N * 0 + v", "sorted([2, 1], key=OBJECT)[0]"),
    "map": _of("__call__(self, v)", "return N + v", "sum(map(OBJECT, [1, 2]))"),
    "reduce": _of("__call__(self, a, b)", "return N + a + b", "functools.reduce(OBJECT, [1, 2, 3])"),
    "filter": _of("__call__(self, v)", "return N % 2 == 0", "len(list(filter(OBJECT, [1, 2])))"),
    "float": _of("__float__(self)", "return float(N)", "float(OBJECT)"),
    "int": _of("__int__(self)", "return int(N)", "int(OBJECT)"),
    "index": _of("__index__(self)", "return int(N % 3)", "[4, 5, 6][OBJECT]"),
    "range": _of("__index__(self)", "return int(N % 3)", "len(range(OBJECT))"),
    "hash": _of("__hash__(self)", "return int(N)", "hash(OBJECT)"),
    "key of a dict": _of("__hash__(self)", "return int(N)", "len({OBJECT: 1})"),
    "str": _of("__str__(self)", "return str(N)", "str(OBJECT)"),
    "repr": _of("__repr__(self)", "return str(N)", "repr([OBJECT])"),
    "f-string": _of("__str__(self)", "return str(N)", 'f"{OBJECT} of"'),
    "format": _of("__format__(self, how)", "return str(N)", 'f"{OBJECT:>3}"'),
    "% text": _of("__str__(self)", "return str(N)", "('%s of' % OBJECT)"),
    "join": _of("__iter__(self)", "return iter(('a', str(N)))", "','.join(OBJECT)"),
    "math": _of("__float__(self)", "return float(N)", "math.floor(math.sqrt(OBJECT))"),
    "floor": _of("__floor__(self)", "return N", "math.floor(OBJECT)"),
    "array": _of("__array__(self, dtype=None, copy=None)", "return np.array([1.0, N])", "float(np.sum(OBJECT))"),
    "isinstance": Kind("", "isinstance(OBJECT, Counted)"),
    "with": Kind("def __enter__(self):\n    EFFECT\n    return N\ndef __exit__(self, *_):\n    EFFECT", "",
                 "with OBJECT as v:\n    pass"),
    "get of a descriptor": Kind("d = Described()", "OBJECT.d"),
    "set of a descriptor": Kind("d = Described()", "", "OBJECT.d = 3\nv = OBJECT.count"),
    "set of a property": Kind("@property\ndef v(self):\n    return N\n@v.setter\n" + _KEPT.format("v") + "    pass", "",
                              "OBJECT.v = 4\nv = 1"),
    "property += 1": Kind("@property\ndef v(self):\n    return N\n@v.setter\n" + _KEPT.format("v") + "    pass", "",
                          "OBJECT.v += 1\nv = 1"),
    "property = property + 1": Kind(
        "@property\ndef v(self):\n    return self.kept\n@v.setter\n" + _KEPT.format("v") + "    self.kept = v", "",
        "OBJECT.v = OBJECT.v + 1\nv = OBJECT.v"),
    "property by setattr": Kind("@property\ndef v(self):\n    return N\n@v.setter\n" + _KEPT.format("v") + "    pass",
                                "", "setattr(OBJECT, 'v', 4)\nv = 1"),
    "__setattr__": Kind(
        "def __setattr__(self, name, v):\n    object.__setattr__(self, name, v)\n    if name == 'w':\n"
        "        object.__setattr__(self, 'count', self.count + 1)", "", "OBJECT.w = 4\nv = OBJECT.count"),
    "attribute": Kind("", "", "OBJECT.count = OBJECT.count + 1\nv = OBJECT.count"),
    "attribute += x": Kind("", "", "OBJECT.count += x\nv = OBJECT.count"),
    "new attribute": Kind("", "", "OBJECT.fresh = 5\nv = OBJECT.fresh"),
    "append to attribute": Kind("", "", "OBJECT.log.append(x)\nv = len(OBJECT.log)"),
    "item of attribute": Kind("", "", "OBJECT.table['n'] += 2\nv = OBJECT.table['n']"),
    "append": _writing("[1, 2]", "OBJECT.append(7)"),
    "append x": _writing("[1, 2]", "OBJECT.append(x)"),
    "extend": _writing("[1, 2]", "OBJECT.extend([7, 8])"),
    "pop": _writing("list(range(60))", "OBJECT.pop()"),
    "store": _writing("[1, 2]", "OBJECT[0] = x"),
    "add to item": _writing("[1, 2]", "OBJECT[0] += 1"),
    "sort": _writing("[3, 1, 2]", "OBJECT.sort()"),
    "slice": _writing("[3, 1, 2]", "OBJECT[1:2] = [5, 6]"),
    "store in dict": _writing("{'a': 1}", "OBJECT['b'] = x"),
    "update": _writing("{'a': 1}", "OBJECT.update(c=3)"),
    "add to set": _writing("{1, 2}", "OBJECT.add(len(OBJECT))"),
    "deque": _writing("collections.deque([1])", "OBJECT.append(7)"),
    "defaultdict": _writing("collections.defaultdict(int)", "OBJECT['a'] += 1"),
    "Counter": _writing("collections.Counter('aab')", "OBJECT['a'] += 1"),
    "inner list": _writing("[[1], [2]]", "OBJECT[0].append(7)"),
    "inner of comprehension": _writing("[[1], [2]]", "[q for q in OBJECT][0].append(7)"),
    "inner of loop": _writing("[[1], [2]]", "for q in OBJECT:\n    q.append(7)"),
    "array item": _writing("np.arange(3.0)", "OBJECT[0] = x"),
    "array +=": _writing("np.arange(3.0)", "OBJECT[:] += 1"),
    "bytearray": _writing("bytearray(b'ab')", "OBJECT.append(7)"),
    "shuffled": _writing("[1, 2, 3, 4]", "random.shuffle(OBJECT)"),
    "shuffled by NumPy": _writing("[1, 2, 3, 4]", "np.random.shuffle(OBJECT)"),
    "shuffled array": _writing("np.arange(4.0)", "np.random.shuffle(OBJECT)"),
    "iterator": Kind(make="iter(range(100))", statement="v = next(OBJECT)"),
    "count": Kind(make="itertools.count()", statement="v = next(OBJECT)"),
    "generator object": Kind(make="(i * 2 for i in range(100))", statement="v = next(OBJECT)"),
    "Random": Kind(make="random.Random(4)", statement="v = OBJECT.random()"),
    "randint": Kind(make="random.Random(4)", statement="v = OBJECT.randint(1, 9)"),
    "RandomState": Kind(make="np.random.RandomState(4)", statement="v = OBJECT.rand()"),
    "Generator": Kind(make="np.random.default_rng(4)", statement="v = float(OBJECT.random())"),
    "file": Kind(make="io.StringIO()", statement="OBJECT.write('a')\nv = 1"),
}  # fmt: skip

# What the method does, and what it is then counted by.
EFFECTS: dict[str, tuple[str, str]] = {
    "none": ("pass", "self.count"),
    "count": ("self.count += 1", "self.count"),
    "count by x": ("self.count += 1 if self.count < 3 else 2", "self.count"),
    "append": ("self.log.append(len(self.log))", "len(self.log)"),
    "table": ("self.table['n'] = self.table['n'] + 1", "self.table['n']"),
    "global": ("global SEEN; SEEN += 1", "SEEN"),
    "global list": ("LOG.append(len(LOG))", "len(LOG)"),
    "class": ("Counter.total += 1", "Counter.total"),
    "array": ("self.array[0] += 1", "int(self.array[0])"),
    "print": ("print('touched')", "self.count"),
    "draw": ("drawn = random.randint(1, 5)", "drawn"),
    "draw of NumPy": ("drawn = int(np.random.randint(1, 5))", "drawn"),
    "uniform": ("drawn = int(np.random.rand() * 5)", "drawn"),
    "stream": ("drawn = next(STREAM)", "drawn"),
    "setter": ("self.kept_v = self.kept_v + 1", "self.kept"),
    "setattr": ("setattr(self, 'count', self.count + 1)", "self.count"),
    "dict": ("self.__dict__['count'] += 1", "self.count"),
    "helper": ("self.helper()", "self.count"),
    "raise": ("self.count += 1\nif self.count > 4:\n    raise ValueError(self.count)", "self.count"),
    "time": ("drawn = int(time.time() > 0) + len(os.environ) * 0", "drawn"),
}  # fmt: skip

# Where it happens: `DO` is a statement that gives `v`, `VALUE` an expression.
CONTEXTS: dict[str, str] = {
    "straight": "DO\nreturn x + v, v",
    "twice": "DO\na = v\nDO\nreturn x, a, v",
    "branch": "y = x\nif x > 2:\n    DO\n    y = v\nreturn y",
    "branches": "if x > 2:\n    DO\n    y = v\nelse:\n    DO\n    y = x\nreturn y, v",
    "loop": "y = [x]\nfor i in range(k):\n    DO\n    y.append(v)\nreturn y",
    "known loop": "y = [x]\nfor i in range(3):\n    DO\n    y.append(v)\nreturn y",
    "while": "n = 0\nlast = None\nwhile n < k:\n    DO\n    last = v\n    n += 1\nreturn n, last",
    "break": "last = None\nfor i in range(5):\n    DO\n    last = v\n    if i >= k - 1:\n        break\nreturn last, x",
    "early": "if x > 2:\n    DO\n    return v\nreturn x",
    "try": "try:\n    DO\n    if x < 2: raise ValueError('low')\nexcept ValueError as e:\n    v = str(e)\nreturn v",
    "handler": "v = 0\ntry:\n    if x < 2:\n        raise ValueError('low')\nexcept ValueError:\n    DO\nreturn v, x",
    "finally": "try:\n    y = x\n    if x < 2:\n        return y\nfinally:\n    DO\nreturn v",
    "callee": "def inner(x):\n    DO\n    return v\nreturn inner(x), inner(x)",
    "method": "class Local:\n    def run(self, x):\n        DO\n        return v\nreturn Local().run(x)",
    "recursion": "def down(n, x):\n    if n <= 0: return 0\n    DO\n    return 1 + down(n - 1, x)\nreturn down(k, x)",
    "known recursion": "def down(n):\n    if not n: return []\n    DO\n    return [v] + down(n - 1)\nreturn down(2), x",
    "comprehension": "return [(VALUE, i) for i in range(k)], x",
    "known comprehension": "return [(VALUE, i) for i in range(2)], x",
    "condition of a comprehension": "return [i for i in range(3) if VALUE], x",
    "generator expression": "return list((VALUE, x) for i in range(2))",
    "generator function": "def many():\n    for i in range(2):\n        DO\n        yield v\nreturn list(many()), x",
    "map": "return list(map(lambda e: (VALUE, e), [x, 2]))",
    "filter": "return list(filter(lambda e: VALUE, [x, 2]))",
    "key": "return sorted([x, 1, 3], key=lambda e: (VALUE is None, e))",
    "lambda": "return (lambda: VALUE)(), x",
    "max": "return max([0, x], [1, VALUE])",
    "conditional expression": "return VALUE if x > 2 else x",
    "and": "return x > 2 and VALUE",
    "or": "return x > 2 or VALUE",
    "test": "return 1 if VALUE else x",
    "equal": "return VALUE == 2, x == VALUE",
    "f-string": 'return f"""{VALUE} {x}"""',
    "tuple": "return VALUE, x, VALUE",
    "dict": "return {'a': VALUE, 'b': x, 'c': VALUE}",
    "argument": "def same(a, b=0, *c, d=1):\n    return a, b, c, d\nreturn same(x, VALUE, VALUE, d=VALUE)",
    "default": "def inner(a=VALUE):\n    return a\nreturn inner(), inner(), x",
    "walrus": "return (w := VALUE), w, x",
    "unused": "VALUE\nreturn x + 1",
    "assert": "assert VALUE is not None\nreturn x",
    "item": "ys = [0, x]\nys[0] = VALUE\nreturn ys",
    "attribute": "h = Holder(x)\nh.part = VALUE\nreturn h.part",
    "array": "y = np.ones(3) * x\nDO\nreturn y, v",
    "after an array": "y = np.zeros(2)\nfor i in range(k):\n    y[i % 2] += x\nDO\nreturn y.tolist(), v",
    "match": "match x > 2:\n    case True:\n        DO\n        return v\n    case _:\n        return x",
    "with": "with contextlib.suppress(ValueError):\n    DO\n    return v\nreturn x",
}  # fmt: skip

_HEAD = '''
import collections, contextlib, copy, functools, io, itertools, math, operator, os, random, time, types
import numpy as np

SEEN = 0
LOG = []
MADE = []
STREAM = itertools.count()


class Holder:
    def __init__(self, part):
        self.part = part


class Giving(Holder):
    @property
    def given(self):
        return self.part

    def give(self):
        return self.part


class Slotted:
    __slots__ = ("part",)

    def __init__(self, part):
        self.part = part


def pick(many, i):
    return many[i]

'''
_CLASSES = '''
class Described:
    def __get__(self, owner, kind=None):
        self = owner
        EFFECT
        return N

    def __set__(self, owner, value):
        self = owner
        EFFECT


class Asked(type):
    def __instancecheck__(cls, self):
        global SEEN
        SEEN += 1
        return SEEN % 2 == 0


class Counted(metaclass=Asked):
    pass


class Counter:
    total = 0

    def __init__(self):
        self.count = 0
        self.kept = 0
        self.log = []
        self.table = {"n": 0}
        self.array = np.zeros(2)

    def helper(self):
        self.count += 1

    @property
    def kept_v(self):
        return self.kept

    @kept_v.setter
    def kept_v(self, value):
        self.kept = value

    METHOD


'''


class Program(NamedTuple):
    """One of the product, by names."""

    path: str
    kind: str
    effect: str
    context: str
    arguments: str

    def source(self) -> str:
        setup, reached, replacement = PATHS[self.path]
        kind = KINDS[self.kind]
        lines = [_HEAD, "" if kind.make else self._classes(kind.method)]
        lines += [f"def new():\n    MADE.append({kind.make or 'Counter()'})\n    return MADE[-1]\n", setup, ""]
        if kind.statement:
            lines.append(f"def done(o, x):\n{_indented(kind.statement.replace('OBJECT', 'o'), 1)}\n    return v\n")
            value, named = f"done({reached}, x)", kind.statement.replace("OBJECT", "o_")
            inline, on_argument = f"o_ = {reached}\n{named}", f"o_ = o\n{named}"
        else:
            value = kind.expression.replace("OBJECT", reached)
            inline, on_argument = f"v = {value}", f"v = {kind.expression.replace('OBJECT', 'o')}"
        body = _put(CONTEXTS[self.context].replace("VALUE", value), "DO", inline)
        body = f"{on_argument}\n{body}" if self.arguments == "used" else body
        written = replacement.partition(" = ")[0]
        scope = "nonlocal part" if written == "part" else f"global {written}" if written.isidentifier() else "pass"
        return "\n".join(lines) + (
            "\n\ndef make(part):\n    def give():\n        return part\n\n"
            f"    def program(x, k, o=None, many=()):\n{_indented(body, 2)}\n\n"
            f"    def replace():\n        {scope}\n        {replacement or 'pass'}\n\n    return program, replace\n"
        )

    def _classes(self, method: str) -> str:
        effect, number = EFFECTS[self.effect]
        return re.sub(r"\bN\b", number, _put(_put(_CLASSES, "METHOD", method or "pass"), "EFFECT", effect))

    def has_objects(self) -> bool:
        """Whether objects are among the arguments."""
        return self.arguments != "none" or "argument" in self.path


_TABLES = (PATHS, KINDS, EFFECTS, CONTEXTS, ARGUMENTS)


def product() -> Iterator[Program]:
    """All programs."""
    return filter(_differs, itertools.starmap(Program, itertools.product(*_TABLES)))


def pairs(draws: random.Random) -> Iterator[Program]:
    """Programs in which each two entries of two tables come together, with others that are drawn."""
    tables = [list(table) for table in _TABLES]
    seen: set[Any] = set()
    for one, other in itertools.combinations(range(len(tables)), 2):
        for entries in itertools.product(tables[one], tables[other]):
            if (one, other, *entries) in seen:
                continue
            chosen = [draws.choice(table) for table in tables]
            chosen[one], chosen[other] = entries
            program = Program(*chosen)
            seen.update((i, j, program[i], program[j]) for i, j in itertools.combinations(range(len(tables)), 2))
            if _differs(program):
                yield program


def sample(count: int, draws: random.Random) -> Iterator[Program]:
    """So many of all programs."""
    tables = [list(table) for table in _TABLES]
    drawn = (Program(*map(draws.choice, tables)) for _ in itertools.count())
    return itertools.islice(filter(_differs, drawn), count)


def _differs(program: Program) -> bool:
    """Whether the effect is part of the program, or there is one such program for all effects."""
    kind = KINDS[program.kind].method
    return program.effect == "count" or "EFFECT" in kind or "Described" in kind


def _put(text: str, mark: str, statements: str) -> str:
    """Statements in the place of lines that are `mark`, as deep as these are."""
    lines = []
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        lines += [" " * depth + one for one in statements.split("\n")] if line.strip() == mark else [line]
    return "\n".join(lines)


def _indented(text: str, depth: int) -> str:
    return "\n".join("    " * depth + line for line in text.split("\n"))
