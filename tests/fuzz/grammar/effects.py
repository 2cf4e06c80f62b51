"""The programs of `fuzz/effects.py`: functions that run a method of an existing object, or write to it.

A program is an element of a product: path, kind, effect, context, arguments.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# Ways to reach an object: the statements that set it up, the expression, and the statement that replaces the object by
# another ("": none). In some expressions `@q` stands for the expression of the kind, applied to the variable `q`.
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
    "dataclass": ("HOLDER = Record(new())", "HOLDER.part", "HOLDER.part = new()"),
    "frozen dataclass": ("HOLDER = Frozen(new())", "HOLDER.part", "HOLDER = Frozen(new())"),
    "named tuple": ("PAIR = Pair(new(), new())", "PAIR.second", "PAIR = Pair(new(), new())"),
    "deque": ("BOX = collections.deque([new(), new()])", "BOX[1]", "BOX[1] = new()"),
    "default dict": ("TABLE = collections.defaultdict(new)", "TABLE[k % 2]", "TABLE[0] = new()"),
    "array of objects": (  # NumPy itself asks an object for attributes, but for none where it fills an array
        "BOX = np.empty(2, dtype=object)\nBOX[0] = new()", "BOX[0]", "BOX[0] = new()",
    ),
    "either": ("BOX = [new(), new()]", "(BOX[0] if x > 2 else BOX[1])", "BOX[1] = new()"),
    "weak reference": ("O = new()\nREF = weakref.ref(O) if hasattr(O, '__weakref__') else lambda: O", "REF()", ""),
    "inner class": ("class Outer:\n    class Inner:\n        part = new()", "Outer.Inner.part", ""),
    "in a comprehension": ("BOX = [new(), new()]", "[@q for q in BOX][1]", "BOX[1] = new()"),
    "in a comprehension over pairs": ("BOX = [new(), new()]", "[@q for i, q in enumerate(BOX)][1]", "BOX[1] = new()"),
    "in a comprehension of items": ("TABLE = {'k': new()}", "[@q for n, q in TABLE.items()][0]", "TABLE['k'] = new()"),
    "in a set comprehension": ("BOX = [new(), new()]", "len({(id(q), repr(@q)) for q in BOX})", "BOX[1] = new()"),
    "in a dict comprehension": ("BOX = [new(), new()]", "{i: @q for i, q in enumerate(BOX)}[1]", "BOX[1] = new()"),
    "in a generator": ("BOX = [new(), new()]", "list(@q for q in BOX)[1]", "BOX[1] = new()"),
    "in a condition": ("BOX = [new(), new()]", "len([q for q in BOX if @q])", "BOX[1] = new()"),
    "in a lambda": ("BOX = [new(), new()]", "(lambda q: @q)(BOX[1])", "BOX[1] = new()"),
    "in a map": ("BOX = [new(), new()]", "list(map(lambda q: @q, BOX))[1]", "BOX[1] = new()"),
    "in a filter": ("BOX = [new(), new()]", "len(list(filter(lambda q: @q, BOX)))", "BOX[1] = new()"),
    "in a key": ("BOX = [new(), new()]", "len(sorted(BOX, key=lambda q: str(@q)))", "BOX[1] = new()"),
    "in star arguments": ("BOX = [new(), new()]", "(lambda p, *q: @q[0])(*BOX)", "BOX[1] = new()"),
    "in named arguments": ("TABLE = {'q': new()}", "(lambda q: @q)(**TABLE)", "TABLE['q'] = new()"),
    "in a comprehension of an argument": ("", "[@q for q in many][1]", ""),
}
ARGUMENTS = ("none", "beside", "used")  # the objects among the arguments: none, some, or some that the program uses


class Kind(NamedTuple):
    """A use of the object: an expression, or statements that assign its value to `v`.

    `method` is the text of the method of the object's class. With `make` there is no class: this expression makes the
    object.
    """

    method: str = ""
    expression: str = ""
    statement: str = ""
    make: str = ""
    base: str = "object"


def _method(signature: str, result: str, expression: str = "", statement: str = "", decorator: str = "") -> Kind:
    return Kind(f"{decorator}def {signature}:\n    EFFECT\n    {result}", expression, statement)


def _write(make: str, statement: str) -> Kind:
    return Kind(make=make, statement=statement + "\nv = len(OBJECT)")


_SETTER = "def {0}(self, v):\n    EFFECT\n"
KINDS: dict[str, Kind] = {
    "method": _method("hit(self)", "return N", "OBJECT.hit()"),
    "kept method": _method("hit(self)", "return N", statement="hit = OBJECT.hit\nv = hit()"),
    "static method": _method("hit()", "return 1", "OBJECT.hit()", decorator="@staticmethod\n"),
    "class method": _method("hit(cls)", "return 2", "OBJECT.hit()", decorator="@classmethod\n"),
    "property": _method("hits(self)", "return N", "OBJECT.hits", decorator="@property\n"),
    "property by getattr": _method("hits(self)", "return N", "getattr(OBJECT, 'hits')", decorator="@property\n"),
    "property by attrgetter": _method(
        "hits(self)", "return N", "operator.attrgetter('hits')(OBJECT)", decorator="@property\n"),
    "property by hasattr": _method("hits(self)", "return N", "hasattr(OBJECT, 'hits')", decorator="@property\n"),
    "cached property": _method("hits(self)", "return N", "OBJECT.hits", decorator="@functools.cached_property\n"),
    "__getattr__": _method("__getattr__(self, name)", "return N", "OBJECT.anything"),
    "__getattribute__": Kind(
        "def __getattribute__(self, name):\n    global SEEN\n    SEEN += 1\n"
        "    return object.__getattribute__(self, name)", "OBJECT.count",
    ),
    "getitem": _method("__getitem__(self, i)", "return N", "OBJECT[0]"),
    "getitem gone over": _method("__getitem__(self, i)", "if i > 1: raise IndexError\n    return N", "sum(OBJECT)"),
    "setitem": _method("__setitem__(self, i, value)", "pass", statement="OBJECT[0] = 2\nv = 1"),
    "delitem": _method("__delitem__(self, i)", "pass", statement="del OBJECT[0]\nv = 1"),
    "item += 1": _method("__getitem__(self, i)", "return N\ndef __setitem__(self, i, v):\n    self.count = v", "", (
        "OBJECT[0] += 1\nv = 1")),
    "len": _method("__len__(self)", "return N", "len(OBJECT)"),
    "truth by len": _method("__len__(self)", "return N", "(2 if OBJECT else 3)"),
    "truth": _method("__bool__(self)", "return N % 2 == 0", "(2 if OBJECT else 3)"),
    "not": _method("__bool__(self)", "return N % 2 == 0", "(2 if not OBJECT else 3)"),
    "any": _method("__bool__(self)", "return N % 2 == 0", "any([OBJECT])"),
    "iter": _method("__iter__(self)", "return iter((N, 2))", "sum(OBJECT)"),
    "list": _method("__iter__(self)", "return iter((N, 2))", "list(OBJECT)[0]"),
    "for": _method("__iter__(self)", "return iter((N, 2))", statement="v = 0\nfor e in OBJECT:\n    v += e"),
    "generator": _method("__iter__(self)", "yield N\n    yield 2", "sum(OBJECT)"),
    "for over a generator": _method(
        "__iter__(self)", "yield N\n    yield 2", statement="v = 0\nfor e in OBJECT:\n    v += e"),
    "comprehension": _method("__iter__(self)", "return iter((N, 2))", "[e + 1 for e in OBJECT][0]"),
    "unpack": _method("__iter__(self)", "return iter((N, 2))", statement="a, b = OBJECT\nv = a + b"),
    "star": _method("__iter__(self)", "return iter((N, 2))", "max(*OBJECT)"),
    "zip": _method("__iter__(self)", "return iter((N, 2))", "list(zip(OBJECT, OBJECT))[0][0]"),
    "in by iter": _method("__iter__(self)", "return iter((N, 2))", "(2 if 3 in OBJECT else 3)"),
    "dict of": _method("keys(self)", "return ['a']\ndef __getitem__(self, name):\n    return 5", "dict(OBJECT)['a']"),
    "**": _method("keys(self)", "return ['a']\ndef __getitem__(self, name):\n    return 5", "dict(**OBJECT)['a']"),
    "next": _method("__next__(self)", "return N", "next(OBJECT)"),
    "reversed": _method("__reversed__(self)", "return iter((N, 2))", "list(reversed(OBJECT))[0]"),
    "in": _method("__contains__(self, x)", "return N % 2 == 0", "(2 if 1 in OBJECT else 3)"),
    "not in": _method("__contains__(self, x)", "return N % 2 == 0", "(2 if 1 not in OBJECT else 3)"),
    "+": _method("__add__(self, other)", "return N + other", "(OBJECT + 1)"),
    "+ x": _method("__add__(self, other)", "return N + other", "(OBJECT + x)"),
    "x +": _method("__radd__(self, other)", "return N + other", "(x + OBJECT)"),
    "sum": _method("__radd__(self, other)", "return N + other", "sum([OBJECT])"),
    "+=": _method("__iadd__(self, other)", "return N + other", statement="v = OBJECT\nv += 1"),
    "-": _method("__neg__(self)", "return -N", "-OBJECT"),
    "abs": _method("__abs__(self)", "return N", "abs(OBJECT)"),
    "divmod": _method("__divmod__(self, other)", "return (N, 1)", "divmod(OBJECT, 2)[0]"),
    "round": _method("__round__(self, digits=None)", "return N", "round(OBJECT)"),
    "@": _method("__matmul__(self, other)", "return N", "(OBJECT @ 2)"),
    "<": _method("__lt__(self, other)", "return N % 2 == 0", "(2 if OBJECT < 1 else 3)"),
    "> mirrored": _method("__lt__(self, other)", "return N % 2 == 0", "(2 if 1 > OBJECT else 3)"),
    "==": _method("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT == 1 else 3)"),
    "!=": _method("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT != 1 else 3)"),
    "in by ==": _method("__eq__(self, other)", "return N % 2 == 0", "(2 if OBJECT in [1, 2] else 3)"),
    "sorted by <": _method("__lt__(self, other)", "return N % 2 == 0", "len(sorted([OBJECT, OBJECT]))"),
    "max by <": _method("__gt__(self, other)", "return N % 2 == 0", "(max([OBJECT, OBJECT]) is None)"),
    "call": _method("__call__(self, *args)", "return N", "OBJECT()"),
    "key": _method("__call__(self, v)", "return N * 0 + v", "sorted([2, 1], key=OBJECT)[0]"),
    "map": _method("__call__(self, v)", "return N + v", "sum(map(OBJECT, [1, 2]))"),
    "reduce": _method("__call__(self, a, b)", "return N + a + b", "functools.reduce(OBJECT, [1, 2, 3])"),
    "filter": _method("__call__(self, v)", "return N % 2 == 0", "len(list(filter(OBJECT, [1, 2])))"),
    "float": _method("__float__(self)", "return float(N)", "float(OBJECT)"),
    "int": _method("__int__(self)", "return int(N)", "int(OBJECT)"),
    "index": _method("__index__(self)", "return int(N % 3)", "[4, 5, 6][OBJECT]"),
    "range": _method("__index__(self)", "return int(N % 3)", "len(range(OBJECT))"),
    "hash": _method("__hash__(self)", "return int(N)", "hash(OBJECT)"),
    "key of a dict": _method("__hash__(self)", "return int(N)", "len({OBJECT: 1})"),
    "str": _method("__str__(self)", "return str(N)", "str(OBJECT)"),
    "repr": _method("__repr__(self)", "return str(N)", "repr([OBJECT])"),
    "f-string": _method("__str__(self)", "return str(N)", 'f"{OBJECT} of"'),
    "format": _method("__format__(self, how)", "return str(N)", 'f"{OBJECT:>3}"'),
    "% text": _method("__str__(self)", "return str(N)", "('%s of' % OBJECT)"),
    "join": _method("__iter__(self)", "return iter(('a', str(N)))", "','.join(OBJECT)"),
    "math": _method("__float__(self)", "return float(N)", "math.floor(math.sqrt(OBJECT))"),
    "floor": _method("__floor__(self)", "return N", "math.floor(OBJECT)"),
    "array": _method("__array__(self, dtype=None, copy=None)", "return np.array([1.0, N])", "float(np.sum(OBJECT))"),
    "method of x": _method("hit(self, y)", "return N + y", "OBJECT.hit(x)"),
    "method as key": _method("hit(self, y)", "return N * 0 + y", "sorted([2, 1], key=OBJECT.hit)[0]"),
    "method mapped": _method("hit(self, y)", "return N + y", "sum(map(OBJECT.hit, [1, 2]))"),
    "method by partial": _method("hit(self, y)", "return N + y", "functools.partial(OBJECT.hit, 2)()"),
    "method by methodcaller": _method("hit(self, y)", "return N + y", "operator.methodcaller('hit', 2)(OBJECT)"),
    "method by its class": _method("hit(self, y)", "return N + y", "Counter.hit(OBJECT, 2)"),
    "method of super": Kind("def hit(self):\n    return super().measure() + 1", "OBJECT.hit()", base="Parent"),
    "property of super": Kind("@property\ndef hit(self):\n    return super().hits + 1", "OBJECT.hit", base="Parent"),
    "generator method": _method("hits(self)", "yield N\n    yield N", "list(OBJECT.hits())[-1]"),
    "next of a generator method": _method("hits(self)", "yield N\n    yield N", "next(OBJECT.hits())"),
    "yield from": _method("__iter__(self)", "yield from (N, 2)", "max(OBJECT)"),
    "getitem of x": _method("__getitem__(self, i)", "return N + i", "OBJECT[x]"),
    "getitem of a slice": _method("__getitem__(self, i)", "return N", "OBJECT[1:k]"),
    "call of x": _method("__call__(self, y)", "return N + y", "OBJECT(x)"),
    "x in": _method("__contains__(self, y)", "return N % 2 == 0", "(2 if x in OBJECT else 3)"),
    "x <": _method("__gt__(self, y)", "return N % 2 == 0", "(2 if x < OBJECT else 3)"),
    "x ==": _method("__eq__(self, y)", "return N % 2 == 0", "(2 if x == OBJECT else 3)"),
    "x **": _method("__rpow__(self, y)", "return N", "x ** OBJECT"),
    "k @": _method("__rmatmul__(self, y)", "return N", "(k @ OBJECT)"),
    "%": _method("__mod__(self, y)", "return N", "OBJECT % k"),
    "<<": _method("__lshift__(self, y)", "return N", "(OBJECT << 1)"),
    "~": _method("__invert__(self)", "return N", "~OBJECT"),
    "&": _method("__and__(self, y)", "return N", "(OBJECT & x)"),
    "|": _method("__ror__(self, y)", "return N", "(3 | OBJECT)"),
    "operator.add": _method("__add__(self, y)", "return N", "operator.add(OBJECT, x)"),
    "operator.lt": _method("__lt__(self, y)", "return N", "operator.lt(OBJECT, x)"),
    "operator.getitem": _method("__getitem__(self, y)", "return N", "operator.getitem(OBJECT, 2)"),
    "NotImplemented": _method("__add__(self, y)", "return NotImplemented\ndef __radd__(self, y):\n    return 3",
                              "(OBJECT + OBJECT if False else 2 + OBJECT)"),
    "== of lists": _method("__eq__(self, y)", "return N % 2 == 0", "([OBJECT] == [1])"),
    "< of tuples": _method("__lt__(self, y)", "return N % 2 == 0", "((OBJECT, 1) < (1, 2))"),
    "count by ==": _method("__eq__(self, y)", "return N % 2 == 0", "[1, OBJECT, 1].count(2)"),
    "get by hash": _method("__hash__(self)", "return int(N)", "{1: 2}.get(OBJECT, 3)"),
    "set by hash": _method("__hash__(self)", "return int(N)", "len({OBJECT, OBJECT})"),
    "complex": _method("__complex__(self)", "return complex(N)", "complex(OBJECT).real"),
    "trunc": _method("__trunc__(self)", "return int(N)", "math.trunc(OBJECT)"),
    "ceil": _method("__ceil__(self)", "return N", "math.ceil(OBJECT)"),
    "bytes": _method("__bytes__(self)", "return bytes([int(N) % 9])", "bytes(OBJECT)[0]"),
    "fspath": _method("__fspath__(self)", "return str(N)", "os.fspath(OBJECT)"),
    "dir": _method("__dir__(self)", "return ['a', str(N)]", "len(dir(OBJECT)[-1])"),
    "copy": _method("__copy__(self)", "return N", "copy.copy(OBJECT)"),
    "deepcopy": _method("__deepcopy__(self, memo)", "return N", "copy.deepcopy(OBJECT)"),
    "text by format": _method("__str__(self)", "return str(N)", "'{} of'.format(OBJECT)"),
    "printed": _method("__str__(self)", "return str(N)", statement="print(OBJECT, x)\nv = 1"),
    "enumerate": _method("__iter__(self)", "return iter((N, 2))", "list(enumerate(OBJECT))[0][1]"),
    "chain": _method("__iter__(self)", "return iter((N, 2))", "list(itertools.chain(OBJECT, [1]))[0]"),
    "accumulate": _method("__call__(self, a, b)", "return N + a + b", "list(itertools.accumulate([1, 2], OBJECT))[-1]"),
    "extend by": _method("__iter__(self)", "return iter((N, 2))", "", "ys = [1]\nys.extend(OBJECT)\nv = ys[1]"),
    "all": _method("__iter__(self)", "return iter((N, 2))", "all(OBJECT)"),
    "starred display": _method("__iter__(self)", "return iter((N, 2))", "[1, *OBJECT][1]"),
    "starred target": _method("__iter__(self)", "return iter((N, 2))", "", "v, *rest = OBJECT"),
    "fromkeys": _method("__iter__(self)", "return iter((N, 2))", "len(dict.fromkeys(OBJECT))"),
    "array + x": _method("__array__(self, dtype=None, copy=None)", "return np.array([1.0, N])",
                         "(np.asarray(OBJECT) + x).tolist()[1]"),
    "ufunc": _method("__array_ufunc__(self, ufunc, method, *a, **named)", "return N", "np.add(OBJECT, 1.0)"),
    "ufunc of x": _method("__array_ufunc__(self, ufunc, method, *a, **named)", "return N", "np.multiply(x, OBJECT)"),
    "array +": _method("__array_ufunc__(self, ufunc, method, *a, **named)", "return N", "np.ones(2) + OBJECT"),
    "array function": _method("__array_function__(self, f, kinds, a, named)", "return N", "np.sum(OBJECT)"),
    "context manager": _method("held(self)", "yield N", "", "with OBJECT.held() as v:\n    pass",
                               "@contextlib.contextmanager\n"),
    "match": _method("h(self)", "return N", "", "match OBJECT:\n    case Counter(h=h):\n        v = h", "@property\n"),
    "match of positions": _method(
        "hits(self)", "return N\n__match_args__ = ('hits',)", "", "match OBJECT:\n    case Counter(h):\n        v = h",
        "@property\n"),
    "delattr": _method("__delattr__(self, name)", "pass", "", "del OBJECT.w\nv = 1"),
    "del of a property": Kind("@property\ndef v(self):\n    return N\n@v.deleter\ndef v(self):\n    EFFECT", "",
                              "del OBJECT.v\nv = 1"),
    "cached by lru_cache": _method("hit(self)", "return N", "OBJECT.hit()", decorator="@functools.lru_cache\n"),
    "decorated": _method("hit(self)", "return N", "OBJECT.hit()", decorator="@passed\n"),
    "instance's function": Kind("def __getattr__(self, name):\n    def hit():\n        EFFECT\n        return N\n"
                                "    return hit", "OBJECT.any_of_them()"),
    "__missing__": _method("__missing__(self, key)", "return N", "OBJECT['absent']")._replace(base="dict"),
    "getitem of a list": _method("__getitem__(self, i)", "return N", "OBJECT[0]")._replace(base="list"),
    "len of a list": _method("__len__(self)", "return N", "len(OBJECT)")._replace(base="list"),
    "append of a list": _method(
        "append(self, v)", "super().append(v)", statement="OBJECT.append(3)\nv = len(OBJECT)")._replace(base="list"),
    "iter of a dict": _method("__iter__(self)", "return iter((N, 2))", "list(OBJECT)[0]")._replace(base="dict"),
    "float's subclass": _method("__add__(self, y)", "return N", "(OBJECT + 1)")._replace(base="float"),
    "str's subclass": _method("__str__(self)", "return str(N)", 'f"{OBJECT}"')._replace(base="str"),
    "isinstance": Kind("", "isinstance(OBJECT, Counted)"),
    "with": Kind("def __enter__(self):\n    EFFECT\n    return N\ndef __exit__(self, *_):\n    EFFECT", "",
                 "with OBJECT as v:\n    pass"),
    "get of a descriptor": Kind("d = Described()", "OBJECT.d"),
    "set of a descriptor": Kind("d = Described()", "", "OBJECT.d = 3\nv = OBJECT.count"),
    "set of a property": Kind(
        "@property\ndef v(self):\n    return N\n@v.setter\n" + _SETTER.format("v") + "    pass", "",
        "OBJECT.v = 4\nv = 1"),
    "property += 1": Kind("@property\ndef v(self):\n    return N\n@v.setter\n" + _SETTER.format("v") + "    pass", "",
                          "OBJECT.v += 1\nv = 1"),
    "property = property + 1": Kind(
        "@property\ndef v(self):\n    return self.kept\n@v.setter\n" + _SETTER.format("v") + "    self.kept = v", "",
        "OBJECT.v = OBJECT.v + 1\nv = OBJECT.v"),
    "property by setattr": Kind("@property\ndef v(self):\n    return N\n@v.setter\n" + _SETTER.format("v") + "    pass",
                                "", "setattr(OBJECT, 'v', 4)\nv = 1"),
    "__setattr__": Kind(
        "def __setattr__(self, name, v):\n    object.__setattr__(self, name, v)\n    if name == 'w':\n"
        "        object.__setattr__(self, 'count', self.count + 1)", "", "OBJECT.w = 4\nv = OBJECT.count"),
    "attribute": Kind("", "", "OBJECT.count = OBJECT.count + 1\nv = OBJECT.count"),
    "attribute += x": Kind("", "", "OBJECT.count += x\nv = OBJECT.count"),
    "new attribute": Kind("", "", "OBJECT.fresh = 5\nv = OBJECT.fresh"),
    "append to attribute": Kind("", "", "OBJECT.log.append(x)\nv = len(OBJECT.log)"),
    "item of attribute": Kind("", "", "OBJECT.table['n'] += 2\nv = OBJECT.table['n']"),
    "append": _write("[1, 2]", "OBJECT.append(7)"),
    "append x": _write("[1, 2]", "OBJECT.append(x)"),
    "extend": _write("[1, 2]", "OBJECT.extend([7, 8])"),
    "pop": _write("list(range(60))", "OBJECT.pop()"),
    "store": _write("[1, 2]", "OBJECT[0] = x"),
    "add to item": _write("[1, 2]", "OBJECT[0] += 1"),
    "sort": _write("[3, 1, 2]", "OBJECT.sort()"),
    "slice": _write("[3, 1, 2]", "OBJECT[1:2] = [5, 6]"),
    "store in dict": _write("{'a': 1}", "OBJECT['b'] = x"),
    "update": _write("{'a': 1}", "OBJECT.update(c=3)"),
    "add to set": _write("{1, 2}", "OBJECT.add(len(OBJECT))"),
    "deque": _write("collections.deque([1])", "OBJECT.append(7)"),
    "defaultdict": _write("collections.defaultdict(int)", "OBJECT['a'] += 1"),
    "Counter": _write("collections.Counter('aab')", "OBJECT['a'] += 1"),
    "inner list": _write("[[1], [2]]", "OBJECT[0].append(7)"),
    "inner of comprehension": _write("[[1], [2]]", "[q for q in OBJECT][0].append(7)"),
    "inner of loop": _write("[[1], [2]]", "for q in OBJECT:\n    q.append(7)"),
    "array item": _write("np.arange(3.0)", "OBJECT[0] = x"),
    "array +=": _write("np.arange(3.0)", "OBJECT[:] += 1"),
    "bytearray": _write("bytearray(b'ab')", "OBJECT.append(7)"),
    "shuffled": _write("[1, 2, 3, 4]", "random.shuffle(OBJECT)"),
    "shuffled by NumPy": _write("[1, 2, 3, 4]", "np.random.shuffle(OBJECT)"),
    "shuffled array": _write("np.arange(4.0)", "np.random.shuffle(OBJECT)"),
    "iterator": Kind(make="iter(range(100))", statement="v = next(OBJECT)"),
    "count": Kind(make="itertools.count()", statement="v = next(OBJECT)"),
    "generator object": Kind(make="(i * 2 for i in range(100))", statement="v = next(OBJECT)"),
    "Random": Kind(make="random.Random(4)", statement="v = OBJECT.random()"),
    "randint": Kind(make="random.Random(4)", statement="v = OBJECT.randint(1, 9)"),
    "RandomState": Kind(make="np.random.RandomState(4)", statement="v = OBJECT.rand()"),
    "Generator": Kind(make="np.random.default_rng(4)", statement="v = float(OBJECT.random())"),
    "file": Kind(make="io.StringIO()", statement="OBJECT.write('a')\nv = 1"),
    "insert": _write("[1, 2]", "OBJECT.insert(1, x)"),
    "remove": _write("[1, 2] * 20", "OBJECT.remove(1)"),
    "clear": _write("[1, 2]", "OBJECT.clear()"),
    "reverse": _write("[1, 2, 3]", "OBJECT.reverse()"),
    "+= of a list": _write("[1, 2]", "OBJECT += [x]"),
    "*= of a list": _write("[1]", "OBJECT *= 2"),
    "delete": _write("list(range(60))", "del OBJECT[0]"),
    "delete of a slice": _write("list(range(60))", "del OBJECT[:2]"),
    "swap": _write("[1, 2]", "OBJECT[0], OBJECT[1] = OBJECT[1], OBJECT[0]"),
    "setdefault": _write("{'a': 1}", "OBJECT.setdefault('b', []).append(x)"),
    "pop of a dict": _write("{'a': 1, 'b': 2}", "OBJECT.pop('a', None)"),
    "popitem": _write("{i: i for i in range(60)}", "OBJECT.popitem()"),
    "|= of a dict": _write("{'a': 1}", "OBJECT |= {'b': x}"),
    "|= of a set": _write("{1, 2}", "OBJECT |= {len(OBJECT)}"),
    "discard": _write("{1, 2}", "OBJECT.discard(1)"),
    "OrderedDict": _write("collections.OrderedDict(a=1, b=2)", "OBJECT.move_to_end('a')"),
    "heap": _write("[1, 2]", "heapq.heappush(OBJECT, 0)"),
    "insort": _write("[1, 2]", "bisect.insort(OBJECT, x)"),
    "setitem by operator": _write("[1, 2]", "operator.setitem(OBJECT, 0, x)"),
    "array out": _write("np.arange(3.0)", "np.add(OBJECT, x, out=OBJECT)"),
    "array at": _write("np.arange(3.0)", "np.add.at(OBJECT, [0, 0], 1)"),
    "array fill": _write("np.arange(3.0)", "OBJECT.fill(x)"),
    "array sort": _write("np.array([3.0, 1.0])", "OBJECT.sort()"),
    "array of a view": _write("np.arange(4.0)", "w = OBJECT[1:]\nw[0] += 1"),
    "two-dimensional array": _write("np.zeros((2, 3))", "OBJECT[1] += x"),
    "array.array": _write("array.array('d', [1.0])", "OBJECT.append(x)"),
    "memoryview": _write("memoryview(bytearray(b'ab'))", "OBJECT[0] = 7"),
    "choice of Generator": Kind(make="np.random.default_rng(4)", statement="v = int(OBJECT.choice([1, 2, 3]))"),
    "shuffle of Generator": Kind(make="np.random.default_rng(4)", statement="w = [1, 2]\nOBJECT.shuffle(w)\nv = w[0]"),
    "send": Kind(make="sent()", statement="next(OBJECT)\nv = OBJECT.send(2)"),
    "cycle": Kind(make="itertools.cycle([1, 2, 3])", statement="v = next(OBJECT)"),
    "taken by for": Kind(make="iter(range(100))", statement="for v in OBJECT:\n    break"),
    "taken by zip": Kind(make="iter(range(100))", statement="v = list(zip([1, 2], OBJECT))[-1][1]"),
    "taken by in": Kind(make="iter(range(100))", statement="v = 3 in OBJECT"),
    "taken by islice": Kind(make="iter(range(100))", statement="v = list(itertools.islice(OBJECT, 2))[1]"),
}  # fmt: skip

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
