"""The methods and operators of Python's own types and of subclasses of these, compiled and compared with plain Python.

    python tests/fuzz/methods.py --programs 4000 [--seed 0] [--show]

A program applies one method (of the object, or of its class), operator, builtin or text format to a list, dict, set,
string, tuple, number, deque, Counter, OrderedDict, defaultdict, dataclass, or object of a subclass of one, with or
without a condition on a number. It is called three times. The results are compared, the arguments after the call, and
the classes and texts of exceptions.
"""

from __future__ import annotations

import argparse
import collections
import copy
import itertools
import random
import re
import sys
import time

from differential.compare import TooLongError, limit_time, load

import autoconv as ac

PRELUDE = """import operator
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field


class Items(list):
    pass


class Odd(list):
    def __getitem__(self, at):
        return list.__getitem__(self, at) * 2

    def __len__(self):
        return list.__len__(self) + 1

    def __contains__(self, item):
        return item == 7


class Table(dict):
    def __missing__(self, key):
        return key


class Other(dict):
    def __getitem__(self, key):
        return 9

    def get(self, key, default=None):
        return 8


class Order(OrderedDict):
    pass


class Pair(tuple):
    def __add__(self, other):
        return ("added", other)


class Text(str):
    def upper(self):
        return "UP"


class Whole(int):
    def __add__(self, other):
        return "added"


class Unit(float):
    pass


class Rounded(float):
    def __repr__(self):
        return f"{float(self):.0f}"


class Caseless(str):
    def __eq__(self, other):
        return str.lower(self) == str.lower(other)

    def __hash__(self):
        return hash(str.lower(self))


Named = namedtuple("Named", "x y")


@dataclass
class Point:
    x: int
    y: int = 2


@dataclass(order=True, frozen=True)
class Ranked:
    x: int
    y: float = 0.5


"""
# For each class, three objects with different contents.
VALUES = {
    "list": ["[3, 1, 2]", "[1, 2, 2, 5]", "[0]"],
    "nested": ["[[1], [2, 3]]", "[[0], [4]]", "[[5], []]"],
    "dict": ["{'a': 1, 'b': 2}", "{'a': 3, 'b': 4}", "{'b': 0}"],
    "numbers": ["{1: 2.5, 2: 3.5}", "{1: 0.5, 3: 1.5}", "{}"],
    "set": ["{1, 2, 3}", "{2, 5}", "{1}"],
    "frozenset": ["frozenset({1, 2})", "frozenset({3})", "frozenset()"],
    "str": ["'abc a'", "'aXb'", "''"],
    "bytes": ["b'abc'", "b'a1'", "b''"],
    "tuple": ["(1, 2, 3)", "(4, 2, 2)", "(0, 1, 1)"],
    "int": ["5", "-3", "0"],
    "float": ["2.5", "-1.5", "4.0"],
    "bool": ["True", "False", "True"],
    "complex": ["(1+2j)", "(0.5-1j)", "(2+0j)"],
    "range": ["range(4)", "range(1, 9, 2)", "range(0)"],
    "OrderedDict": ["OrderedDict(a=1, b=2)", "OrderedDict(a=3, b=1)", "OrderedDict(b=1)"],
    "defaultdict": ["defaultdict(int, {'a': 1})", "defaultdict(int, {'a': 2})", "defaultdict(int)"],
    "deque": ["deque([1, 2, 3])", "deque([4, 2])", "deque([0])"],
    "Counter": ["Counter('aab')", "Counter('abb')", "Counter()"],
    "Items": ["Items([3, 1, 2])", "Items([1, 2])", "Items([2])"],
    "Odd": ["Odd([3, 1, 2])", "Odd([1, 2])", "Odd([2])"],
    "Table": ["Table(a=1, b=2)", "Table(a=3)", "Table()"],
    "Other": ["Other(a=1, b=2)", "Other(a=3)", "Other()"],
    "Order": ["Order(a=1, b=2)", "Order(a=3, b=4)", "Order(a=1)"],
    "Pair": ["Pair((1, 2))", "Pair((3, 4))", "Pair((5, 6))"],
    "Text": ["Text('ab')", "Text('xay')", "Text('')"],
    "Whole": ["Whole(5)", "Whole(-3)", "Whole(0)"],
    "Unit": ["Unit(2.5)", "Unit(-1.5)", "Unit(4.0)"],
    "Rounded": ["Rounded(1.2)", "Rounded(1.4)", "Rounded(-0.6)"],
    "Caseless": ["Caseless('a')", "Caseless('A')", "Caseless('ab')"],
    "Named": ["Named(1, 2)", "Named(3, 4)", "Named(5, 6)"],
    "Point": ["Point(1)", "Point(3, 4)", "Point(0, 0)"],
    "Ranked": ["Ranked(1)", "Ranked(3, 4.5)", "Ranked(0, -1.0)"],
}
ARGUMENTS = [
    ("1", "2", "0"), ("0", "-1", "1"), ("2.5", "0.5", "-1.0"), ("'a'", "'b'", "'a'"), ("True", "False", "True"),
    ("None", "None", "None"), ("[1, 2]", "[3]", "[]"), ("(1, 2)", "(3, 4)", "(5, 6)"), ("{'a': 5}", "{'b': 6}", "{}"),
    ("{1, 2}", "{3}", "set()"), ("(1+1j)", "(2-1j)", "1j"), ("b'a'", "b'b'", "b''"),
]  # fmt: skip


def _split(text: str) -> list[str]:
    return text.split()


_EXCLUDED_METHODS = frozenset(_split(
    "__class__ __new__ __init_subclass__ __subclasshook__ __reduce__ __reduce_ex__ __getstate__ __sizeof__ __dir__ "
    "__getattribute__ __setattr__ __delattr__ __init__ __class_getitem__ __doc__ __module__ __dict__ __weakref__ "
    "__getnewargs__ __copy__ __deepcopy__ __buffer__ __release_buffer__ __post_init__ __match_args__ __slots__ "
    "__replace__ __static_attributes__ __firstlineno__ _replace _make _asdict"
))  # fmt: skip
# Python's messages about a wrong number of arguments, which depend on the kind of call.
_ARITY_ERROR = re.compile(r"(\w+\.)?\w+\(\) takes .*")
_BINARY = _split("+ - * / // % ** @ & | ^ << >> < <= == != > >= in is")
_BUILTINS = _split("abs len list tuple sorted reversed repr str bool hash int float iter set sum min max any all round")
_OTHER_EXPRESSIONS = (
    "q[a]", "q[0]", "q[-1:]", "q[::2]", "-q", "+q", "~q", "not q", "divmod(q, a)", "[x for x in q]", "next(iter(q))",
    "q[a:b]", "dict(q)", "q and a", "q or a",
)  # fmt: skip
_FORMATS = ("f'{q}'", "f'{q!r:>30}'", "'%r' % (q,)", "'%s' % q", "'{}'.format(q)", "f'{q}{a}'")


class Writer:
    """A writer of a program and of the arguments of its calls."""

    def __init__(self, seed: int, names: dict) -> None:
        self.random = random.Random(seed)
        self.kind = self.random.choice(list(VALUES))
        sample = eval(VALUES[self.kind][0], dict(names))
        self.cls = type(sample)
        self.a, self.b = self.random.choices(ARGUMENTS, k=2)
        if self.random.random() < 0.25:
            self.a = tuple(VALUES[self.kind])
        self.expression = self.random_expression()

    def random_expression(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            names = [name for name in dir(self.cls) if name not in _EXCLUDED_METHODS]
            methods = [name for name in names if callable(getattr(self.cls, name))]
            name = self.random.choice(methods)
            arguments = self.random.choice(["", "", "a", "a", "a", "a, b", "b, a"])
            if self.random.random() < 0.3:
                return f"{self.cls.__name__}.{name}(q{', ' if arguments else ''}{arguments})"
            return f"q.{name}({arguments})"
        if kind < 0.75:
            operator = self.random.choice(_BINARY)
            return self.random.choice([f"q {operator} a", f"a {operator} q", f"q {operator} q"])
        if kind < 0.88:
            return f"{self.random.choice(_BUILTINS)}(q)"
        if kind < 0.95:
            return self.random.choice(_OTHER_EXPRESSIONS)
        return self.random.choice(_FORMATS)

    def source(self) -> str:
        change = self.random.random()
        lines = [f"found = {self.expression}"]
        if change < 0.1 and " " in self.expression:
            operator = self.random.choice(["+", "-", "*", "&", "|"])
            lines = ["found = q", f"found {operator}= a"]
        elif change < 0.15:
            lines = [self.random.choice(["q[a] = b", "del q[a]", "q[0] = a", "q.x = a"]), "found = None"]
        if self.random.random() < 0.35:
            lines = ["found = 0", "if k > 1:", *("    " + line for line in lines)]
        body = "\n".join("    " + line for line in [*lines, "return found, q, a"])
        return f"{PRELUDE}def program(q, a, b, k):\n{body}\n"

    def calls(self, names: dict) -> list:
        return [
            tuple(eval(text, dict(names)) for text in (value, a, b, str(3 - call)))
            for call, (value, a, b) in enumerate(zip(VALUES[self.kind], self.a, self.b, strict=True))
        ]


def outcome(function, arguments):
    """The result or the exception of a call, and its arguments afterwards, in a form that compares."""
    try:
        with limit_time(20):
            result = ("returns", comparable(function(*arguments)))
    except TooLongError:
        return "too long"
    except Exception as error:
        result = "raises", type(error).__name__, _ARITY_ERROR.sub("", str(error))
    return result, comparable(arguments)


def comparable(value, depth=0):
    """Convert a value to text and tuples: its class, and its items by the methods of Python's own class."""
    kind = type(value)
    if kind.__module__.startswith("autoconv"):
        return "LEAK", kind.__name__
    if isinstance(value, (tuple, list, collections.deque)) and depth < 6:
        base = next(base for base in (tuple, list, collections.deque) if isinstance(value, base))
        items = [comparable(item, depth + 1) for item in base.__iter__(value)]
        return kind.__name__, *items, *_attributes(value, depth)
    if isinstance(value, dict) and depth < 6:
        items = [(comparable(key, depth + 1), comparable(item, depth + 1)) for key, item in dict.items(value)]
        return kind.__name__, *(list(value) if isinstance(value, collections.OrderedDict) else ()), *items
    if isinstance(value, (set, frozenset)):  # whose order may differ
        return kind.__name__, *sorted(map(repr, kind.__mro__[-2].__iter__(value)))
    if isinstance(value, collections.abc.Iterator):
        return "iterator", *(comparable(item, depth + 1) for item in itertools.islice(value, 50))
    if kind.__name__ in ("method", "builtin_function_or_method", "method-wrapper", "function"):
        return (kind.__name__,)
    if hasattr(value, "__dataclass_fields__"):
        return kind.__name__, comparable(vars(value), depth + 1)
    return kind.__name__, repr(value)


def _attributes(value, depth):
    return (comparable(vars(value), depth + 1),) if getattr(value, "__dict__", None) else ()


def check(seed: int) -> tuple[str, str, float]:
    """Compare the calls of a program; return "same" or "WRONG", details, and the seconds of the longest call."""
    classes = load(PRELUDE, "<classes>")
    writer = Writer(seed, classes)
    source = writer.source()
    names = load(source, f"<method program {seed}>")
    compiled, longest = ac.compile(names["program"]), 0.0
    for arguments in writer.calls(names):
        # Hashes and texts that depend on addresses differ from object to object.
        expected = outcome(names["program"], copy.deepcopy(arguments))
        start = time.process_time()
        actual = outcome(compiled, copy.deepcopy(arguments))
        longest = max(longest, time.process_time() - start)
        if expected != actual and " at 0x" not in str(expected):
            lines = source.partition("def program")[2]
            return "WRONG", f"{arguments}\nexpected {expected}\nfound    {actual}\n{lines}{compiled.explain()}", longest
    return "same", "", longest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong, longest = 0, 0.0
    for seed in range(options.seed, options.seed + options.programs):
        kind, details, seconds = check(seed)
        longest = max(longest, seconds)
        if kind == "WRONG":
            wrong += 1
            print(f"--- program {seed}: {details}", flush=True)
    print(f"{options.programs} programs of 3 calls, {wrong} wrong, longest call {longest:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
