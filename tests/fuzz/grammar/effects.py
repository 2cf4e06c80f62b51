"""The programs of `fuzz/effects.py`: functions that run a method of an existing object, or write to it.

A program is an element of a product: path, kind, effect, context, arguments.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from grammar.object_paths import ARGUMENTS, PATHS
from grammar.object_uses import KINDS

# The statement of the method, and the expression of the number that it returns.
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
    "other object": ("OTHER.part = OTHER.part + 1", "OTHER.part"),
    "global dict": ("NAMES['n'] = NAMES.get('n', 0) + 1", "NAMES['n']"),
    "global set": ("POINTS.add(len(POINTS))", "len(POINTS)"),
    "global array": ("GRID[0] += 1", "int(GRID[0])"),
    "deque": ("QUEUE.append(1); QUEUE.popleft()", "len(QUEUE)"),
    "new attribute": ("self.fresh = getattr(self, 'fresh', 0) + 1", "self.fresh"),
    "pop": ("self.log.append(1); self.log.pop(0); self.count += 1", "self.count"),
    "caught": ("self.count += 1\ntry:\n    raise KeyError(1)\nexcept KeyError:\n    self.kept += 2", "self.kept"),
    "loop": ("for step in range(3):\n    self.count += step", "self.count"),
    "mutable default": ("self.gather()", "len(self.log)"),
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

# The code around the use of the object: `DO` is a statement that assigns its value to `v`, `VALUE` an expression.
CONTEXTS: dict[str, str] = {
    "straight": "DO\nreturn x + v, v",
    "twice": "DO\na = v\nDO\nreturn x, a, v",
    "branch": "y = x\nif x > 2:\n    DO\n    y = v\nreturn y",
    "branches": "if x > 2:\n    DO\n    y = v\nelse:\n    DO\n    y = x\nreturn y, v",
    "loop": "y = [x]\nfor i in range(k):\n    DO\n    y.append(v)\nreturn y",
    "known loop": "y = [x]\nfor i in range(3):\n    DO\n    y.append(v)\nreturn y",
    "array loop": "y = 0\nfor e in np.arange(3.0) * x:\n    DO\n    y += e\nreturn y, v",
    "list loop": "y = []\nfor e in [x, 2, k]:\n    DO\n    y.append((e, v))\nreturn y",
    "continue": "y = [x]\nfor i in range(k):\n    if i % 2:\n        continue\n    DO\n    y.append(v)\nreturn y",
    "for else": "for i in range(k):\n    if i * x > 4:\n        break\nelse:\n    DO\n    return v\nreturn x",
    "loop in a loop": "y = 0\nfor i in range(k):\n    for j in range(2):\n        DO\n        y += j * x\nreturn y, k",
    "branch in a loop": "y = 0\nfor i in range(k):\n    if y < x:\n        DO\n    y += 1\nreturn y",
    "while": "n = 0\nlast = None\nwhile n < k:\n    DO\n    last = v\n    n += 1\nreturn n, last",
    "break": "last = None\nfor i in range(5):\n    DO\n    last = v\n    if i >= k - 1:\n        break\nreturn last, x",
    "early": "if x > 2:\n    DO\n    return v\nreturn x",
    "try": "try:\n    DO\n    if x < 2: raise ValueError('low')\nexcept ValueError as e:\n    v = str(e)\nreturn v",
    "handler": "v = 0\ntry:\n    if x < 2:\n        raise ValueError('low')\nexcept ValueError:\n    DO\nreturn v, x",
    "finally": "try:\n    y = x\n    if x < 2:\n        return y\nfinally:\n    DO\nreturn v",
    "try in a loop": "y = 0\nfor i in range(k):\n    try:\n        DO\n        if i * x > 3: raise KeyError(i)\n"
    "    except KeyError:\n        y -= 1\n    finally:\n        y += x\nreturn y",
    "try with all": "try:\n    DO\n    if x < 2: raise KeyError(1)\nexcept KeyError:\n    DO\nelse:\n    DO\n"
    "finally:\n    DO\nreturn v",
    "callee": "def inner(x):\n    DO\n    return v\nreturn inner(x), inner(x)",
    "method": "class Local:\n    def run(self, x):\n        DO\n        return v\nreturn Local().run(x)",
    "recursion": "def down(n, x):\n    if n <= 0: return 0\n    DO\n    return 1 + down(n - 1, x)\nreturn down(k, x)",
    "known recursion": "def down(n):\n    if not n: return []\n    DO\n    return [v] + down(n - 1)\nreturn down(2), x",
    "comprehension": "return [(VALUE, i) for i in range(k)], x",
    "known comprehension": "return [(VALUE, i) for i in range(2)], x",
    "set comprehension": "return sorted({(repr(VALUE), i) for i in range(2)}), x",
    "dict comprehension": "return {i: VALUE for i in range(k)}, x",
    "nested comprehension": "return [[(VALUE, i, j) for i in range(2)] for j in range(2)], x",
    "condition of a comprehension": "return [i for i in range(3) if VALUE], x",
    "generator expression": "return list((VALUE, x) for i in range(2))",
    "generator function": "def many():\n    for i in range(2):\n        DO\n        yield v\nreturn list(many()), x",
    "inner function": "def outer():\n    def run():\n        DO\n        return v\n    return run\nreturn outer()(), x",
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
    "f-string": 'return f"""{(VALUE)} {x}"""',
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

_PRELUDE = '''
import array, bisect, collections, contextlib, copy, dataclasses, functools, heapq, io, itertools, math, operator, os
import random, time, types, weakref
import numpy as np

SEEN = 0
LOG = []
MADE = []
STREAM = itertools.count()
NAMES = {}
POINTS = set()
GRID = np.zeros(2)
QUEUE = collections.deque([1])
Pair = collections.namedtuple("Pair", ("first", "second"))


class Holder:
    def __init__(self, part):
        self.part = part


OTHER = Holder(0)


@dataclasses.dataclass
class Record:
    part: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    part: object


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


def passed(function):
    @functools.wraps(function)
    def wrapper(*given):
        return function(*given)
    return wrapper


def sent():
    taken = 0
    while True:
        taken = yield taken

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


class CountingMeta(type):
    def __instancecheck__(cls, self):
        global SEEN
        SEEN += 1
        return SEEN % 2 == 0


class Counted(metaclass=CountingMeta):
    pass


class Parent:
    def measure(self):
        EFFECT
        return N

    hits = property(measure)


class Counter(BASE):
    total = 0

    def __init__(self):
        self.count = 0
        self.kept = 0
        self.log = []
        self.table = {"n": 0}
        self.array = np.zeros(2)

    def helper(self):
        self.count += 1

    def gather(self, given=[]):
        given.append(1)
        self.log.append(len(given))

    @property
    def kept_v(self):
        return self.kept

    @kept_v.setter
    def kept_v(self, value):
        self.kept = value

    METHOD


'''


class Program(NamedTuple):
    """An element of the product, by the names of its entries."""

    path: str
    kind: str
    effect: str
    context: str
    arguments: str

    def source(self) -> str:
        setup, access, replacement = PATHS[self.path]
        kind = KINDS[self.kind]
        lines = [_PRELUDE, "" if kind.make else self._classes(kind.method).replace("BASE", kind.base)]
        lines += [f"def new():\n    MADE.append({kind.make or 'Counter()'})\n    return MADE[-1]\n", setup, ""]
        if kind.statement:
            lines.append(f"def done(o, x):\n{_indent(kind.statement.replace('OBJECT', 'o'), 1)}\n    return v\n")
            value, statements = _apply_expression(access, "done(OBJECT, x)"), kind.statement.replace("OBJECT", "o_")
            inline, on_argument = f"o_ = {access}\n{statements}", f"o_ = o\n{statements}"
            inline = f"v = {value}" if "@" in access else inline
        else:
            value = _apply_expression(access, kind.expression)
            inline, on_argument = f"v = {value}", f"v = {kind.expression.replace('OBJECT', 'o')}"
        body = _replace_line(CONTEXTS[self.context].replace("VALUE", value), "DO", inline)
        body = f"{on_argument}\n{body}" if self.arguments == "used" else body
        assigned = replacement.partition(" = ")[0]
        scope = "nonlocal part" if assigned == "part" else f"global {assigned}" if assigned.isidentifier() else "pass"
        return "\n".join(lines) + (
            "\n\ndef make(part):\n    def give():\n        return part\n\n"
            f"    def program(x, k, o=None, many=()):\n{_indent(body, 2)}\n\n"
            f"    def replace():\n        {scope}\n        {replacement or 'pass'}\n\n    return program, replace\n"
        )

    def _classes(self, method: str) -> str:
        effect, number = EFFECTS[self.effect]
        classes = _replace_line(_CLASSES, "METHOD", method or "pass")
        return re.sub(r"\bN\b", number, _replace_line(classes, "EFFECT", effect))

    def has_objects(self) -> bool:
        """Return whether objects are among the arguments."""
        return self.arguments != "none" or "argument" in self.path


_TABLES = (PATHS, KINDS, EFFECTS, CONTEXTS, ARGUMENTS)


def all_programs() -> Iterator[Program]:
    """All programs of the product."""
    return filter(_depends_on_effect, itertools.starmap(Program, itertools.product(*_TABLES)))


def pairwise_programs(generator: random.Random) -> Iterator[Program]:
    """Programs that together contain each pair of entries of two tables; the other entries are random."""
    tables = [list(table) for table in _TABLES]
    covered: set[Any] = set()
    for first, second in itertools.combinations(range(len(tables)), 2):
        for entries in itertools.product(tables[first], tables[second]):
            if (first, second, *entries) in covered:
                continue
            chosen = [generator.choice(table) for table in tables]
            chosen[first], chosen[second] = entries
            program = Program(*chosen)
            covered.update((i, j, program[i], program[j]) for i, j in itertools.combinations(range(len(tables)), 2))
            if _depends_on_effect(program):
                yield program


def sample_programs(count: int, generator: random.Random) -> Iterator[Program]:
    """`count` random programs of the product."""
    tables = [list(table) for table in _TABLES]
    programs = (Program(*map(generator.choice, tables)) for _ in itertools.count())
    return itertools.islice(filter(_depends_on_effect, programs), count)


def _depends_on_effect(program: Program) -> bool:
    """Return whether the effect is part of the program, or this program stands for those of all effects."""
    kind = KINDS[program.kind].method
    return program.effect == "count" or "EFFECT" in kind or "Described" in kind


def _apply_expression(access: str, expression: str) -> str:
    """Apply the expression of a kind to the object that `access` reaches."""
    if "@" not in access:
        return expression.replace("OBJECT", access)
    name = re.search(r"@(q(\[0\])?)", access)[1]
    return access.replace(f"@{name}", f"({expression.replace('OBJECT', name)})")


def _replace_line(text: str, marker: str, statements: str) -> str:
    """Replace lines that are `marker` by statements with the same indentation."""
    lines = []
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        lines += [" " * depth + statement for statement in statements.split("\n")] if line.strip() == marker else [line]
    return "\n".join(lines)


def _indent(text: str, depth: int) -> str:
    return "\n".join("    " * depth + line for line in text.split("\n"))
