"""Constructs that meet in one program: classes, functions, patterns and text, over elements of arrays of all dtypes.

    AUTOCONV_TIERS=native python tests/fuzz/constructs.py --programs 500 [--seed 0]

A program draws a few forms out of these: operators, items, properties and attributes of the program's own classes,
defaults that change, `nonlocal`, `:=`, starred parts, `match`, `while` with `else`, `try` in loops with exits, format
specifications, slices with negative steps, views given to helpers, in-place operators with broadcasting, and sorts,
heaps, comparisons and overflows of elements with NaN. The arrays are float64, float32, float16, int64, int32, uint8,
bool or complex128. Results, arguments, attributes of classes, defaults, output and warnings are compared.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import enum
import heapq
import io
import random
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

DTYPES = (
    "float64", "float64", "float64", "float32", "float16", "int64", "int64", "int32", "uint8", "bool", "complex128",
)  # fmt: skip
SIZES = (5, 5, 3, 1, 0, 8)
MODULE = "construct_programs"  # where the dataclasses of programs look for their module; `programs` is a file here
sys.modules.setdefault(MODULE, types.ModuleType(MODULE))
# The classes and functions of the module that the program belongs to.
PRELUDE = Path(__file__).with_name("grammar") / "construct_module.py"
NUMBERS = (
    "s", "n", "k", "1", "0.5", "-2", "x[{i}]", "x[{i}]", "y[{i}]", "M[{i}, {j}]", "x.sum()", "len(x)", "x[-1]",
    "l[{i}]", "x[{i}] + x[{j}]", "x[{i}] * x[{j}]", "x[{i}] - y[{i}]", "x[{i}] * 3", "x[{i}] + 200", "x[{i}] / 2",
    "s + x[{i}]", "max(s, x[{i}])", "min(x[{i}], y[{i}])", "abs(x[{i}])", "x[{i}] // 2", "x[{i}] % 3", "-x[{i}]",
    "x[{i}] ** 2", "v[{i}]", "v.total", "v.scale", "Vector.made", "len(v)", "v @ v", "v(s)", "v(s, n, *l, a=1)",
    "Vector.half(s)", "w[{i}]", "w.depth", "Stack.depth", "p.a", "p.b", "pair.first", "pair[1]", "c.value",
    "remember(n)", "remember(s)", "known(n)", "known(k)", "search(x, s)", "search(l, 2)", "collatz(n)", "(k := k + 1)",
    "float(x[{i}])", "int(s)", "round(s, 1)", "sum(l)", "sum(x)", "max(x)", "min(x)", "max(l, key=lambda t: -t)",
    "bump()", "bump(2)", "sorted(x)[0]", "np.max(x)", "np.min(y)", "x.mean()", "next(running(x, s), 0)",
    "sum(running(l))", "heapq.nsmallest(1, l)[0]", "first_of(s, n)", "x[::-1][{i}]", "x[n::-1].sum()", "l[::-2][0]",
    "sum(x[i] for i in range(len(x)))", "q.popleft()", "x.argmax()", "bool(v)", "(s if {c} else n)", "x.dtype.type(3)",
    "np.float32(s)", "np.uint8(200) + x[{i}]", "int(x[{i}])", "compose(abs, lambda t: t + n)(s)", "x[{i}].real",
    "x.item({i})", "functions[n % 2](s)", "np.sqrt(x[{i}])", "hash(n)", "divmod(n, 3)[1]", "n << 2", "n ^ k", "~n",
    "(x[{i}] > 0) + 1", "x[{i}] & 3", "x[{i}] << 1", "pow(n, 2, 5)", "len(str(n))",
)  # fmt: skip
VECTORS = (
    "x", "y", "x[::-1]", "x + y", "x * 2", "x - s", "y[::-1]", "-x", "x[x > 0]", "np.sort(x)", "x.copy()", "v.items",
    "M[0]", "M[:, 0]", "M.T[0]", "x[1:]", "x[:-1]", "x[-2::-1]", "x[::2]", "np.where(x > y, x, y)", "(v + x).items",
    "abs(x)", "np.cumsum(x)", "x.astype('float16')", "x.astype('uint8')", "np.array(l)", "np.array([*running(l)])",
    "x[np.argsort(x)]", "np.array(sorted(x))", "M.sum(axis=0)", "M[::-1, 0]", "change(x[1:])", "change(x[::-2], 1)",
    "x * v.scale", "np.maximum(x, s)", "np.array([t for t in v])", "(-v).items", "x / 3", "x ** 2", "x % 2", "x // 3",
    "np.unique(x)", "x > s", "x == x",
)  # fmt: skip
CONDITIONS = (
    "n > 2", "s > 1", "x[{i}] > 0", "x[{i}] == y[{i}]", "x[{i}] < s", "k % 2", "s in x", "n in l", "s in v", "v",
    "not v", "v == w", "(k := k + 1) % 3", "len(x) > 3", "x[{i}] != x[{i}]", "0 < n < 4", "0 <= x[{i}] <= 2",
    "isinstance(s, float)", "p.b is None", "pair == (s, 1)", "mode is Mode.UP", "x.any()", "(x > s).all()", "s and n",
    "s or k", "n is None", "isinstance(x[{i}], float)", "(t := x[{i}]) > 1", "v < w", "hasattr(c, 'other')",
    "type(s) is int", "any(t > 2 for t in x)", "all(t < 3 for t in l)",
)  # fmt: skip
STATEMENTS = (
    "s = {e}", "s = {e}", "s += {e}", "s -= {e}", "s = s * 0.5", "n, k = k, n", "x[{i}] = {e}", "x[{i}] += {e}",
    "x[{i}] -= {e}", "x[{i}] *= 2", "M[{i}, {j}] = {e}", "M[{i}] = {e}", "M += x[:1]", "M *= {e}", "M[:, {j}] += {e}",
    "M[{i}] -= M[{j}]", "x += {e}", "x += x[::-1]", "x[1:] -= x[:-1]", "x[::-1] = {vec}", "x[:] = {vec}", "y = {vec}",
    "r = {vec}", "x[::2] = {e}", "x[-1:0:-1] += {e}", "v[{i}] = {e}", "v[{i}] += {e}", "del v[0]", "v += {e}",
    "v = v + {e}", "v = {e} + v", "v = v * 2", "v = -v", "v.total = {e}", "v.scale = {e}", "v.scale += 1",
    "Vector.made += 1", "Vector.names.append(n)", "v.names.append(s)", "w.push({e})", "w = w.push(n)", "w.depth += 1",
    "Stack.depth = n", "p.a = {e}", "p = p.moved({e})", "p.b = None", "p = Point({e})",
    "pair = pair._replace(first={e})", "pair = Pair({e})", "c.value = {e}", "c.value += 1", "c.other = {e}",
    "change(x)", "change(x[1:], {e})", "change(x[::-1], where=n)", "change(M[{i}], *l[:2], key=n)", "change(M[:, 0])",
    "change(M.T[0], by={e})", "r = change(x.copy(), {e})", "r = first_of(*x)", "r = first_of(*l, last=s)", "a, *b = l",
    "*a, b = x", "a, b = pair", "(a, b), k = (n, s), k + 1", "l.append({e})", "l[{i}] = {e}", "l += [{e}]",
    "l[::-1] = l", "l[::2] = l[::-2]", "l.sort()", "l.sort(key=lambda t: (t % 2, -t))", "l = sorted(l, reverse=True)",
    "heapq.heappush(l, n)", "s = heapq.heappop(l)", "heapq.heapify(l)", "r = sorted(x)",
    "r = sorted(x, key=lambda t: -t)", "x.sort()", "r = np.sort(x)[::-1]", "r = np.argsort(x)", "r = [*v]",
    "r = [*running(x)]", "r = list(x)[::-1]", "r = x.tolist()", "r = {vec}, {e}", "r = f'{{s:.3f}} {{n:>4d}}'",
    "r = f'{{n!r}}|{{k:+d}}|{{s}}'", "r = '%d %s' % (n, s)", "r = '{{:08.2f}}'.format(s)", "r = f'{{v:x}}'",
    "r = f'{{x[{i}]:.2f}}'", "r = str(x[{i}])", "r = f'{{x[{i}]}}'", "print({e})", "print(n, s, sep='-')",
    "out.append({e})", "out.append({e})", "out.append(({e}, n))", "out.append({vec})", "out.append(s)",
    "out.append(v)", "out.append(p)", "out.append(pair)", "known({e})", "remember(s)", "d[n] = {e}",
    "d[k] = d.get(k, 0) + 1", "d.setdefault(n, []).append({e})", "out.append([t * 2 for t in x if t > 0])",
    "out.append({{t: i for i, t in enumerate(l)}})", "out.append([(t := t_ + n) for t_ in l])", "bump()", "bump({e})",
    "counts[{i}] += 1", "functions.append(lambda t: t + n)", "functions[0] = lambda t, k=k: t * k", "q.append({e})",
    "q.appendleft(n)", "mode = Mode.DOWN", "mode = Mode(n % 2 + 1)", "x = {vec}", "x = x + {e}", "x = x.copy()",
    "M = M + x[:1]", "M = M.T", "x, y = y, x", "y[...] = {e}", "y[y > {e}] = {e}", "x[x != x] = 0", "x[[0, -1]] = {e}",
    "x[...] *= {e}", "np.add(x, {e}, out=x)", "x -= x.mean()", "x /= {e}", "x //= 2", "x **= 2", "x %= 3", "x |= 1",
    "x <<= 1", "np.add.at(x, [0, 0], {e})", "y = x[::-1]; y[0] = {e}", "y = M[0]; y += {e}", "a, b = divmod({e}, 3)",
    "a = b = {e}", "s: float = {e}", "assert {c}, n", "del d[n]", "global LOG; LOG = {e}", "s = max(x, default=n)",
    "r = max(x, key=abs)", "r = min(zip(x, y))", "r = dict(zip(l, x))", "r = [*map(lambda t, u: t + u, x, y)]",
    "r = [*filter(None, x)]", "r = [*zip(x, l)]", "r = [*enumerate(x[::-1], n)]", "r = [*reversed(x)]", "r = tuple(x)",
    "r = {{*l}}", "r = sum(x, start=s)", "r = x.max(), x.min()", "r = [[{e} for i in range(2)] for j in range(n)]",
    "r = (*l, *x)", "r = {{**d, n: s}}", "r = x[n % 2:][::-1]",
)  # fmt: skip
HEADS = (
    "for i in range(len(x)):", "for i in range(n):", "for t in x:", "for t in l:", "for t in v:",
    "for i, t in enumerate(x):", "for t, u in zip(x, y):", "for t in running(l):", "for row in M:",
    "for i in range(len(x) - 1, -1, -1):", "for t in reversed(l):", "while k < 6:", "while s < 6.5:", "while {c}:",
    "while (k := k + 1) < 7:", "for i in range(40):", "for t in x[::-1]:", "for t in list(d):", "while l:",
    "while True:", "for i in range(0, len(x), 2):", "for t in sorted(x):", "for (a, b) in [(n, s), (k, 1)]:",
    "while v.scale < 5:",
)  # fmt: skip
ADVANCES = {"while k < 6:": "k += 1", "while s < 6.5:": "s = s + 0.75", "while l:": "t = l.pop()",
            "while v.scale < 5:": "v.scale += 1"}  # fmt: skip
ERRORS = (
    "IndexError", "(ValueError, IndexError)", "Exception", "ZeroDivisionError", "(KeyError, TypeError)",
    "ArithmeticError",
)  # fmt: skip
RESULTS = (
    "s", "x", "out", "s, n, k", "x, y", "M", "r", "l, out", "v", "p, pair", "d", "r, s", "out, x, M", "c", "w", "q",
    "functions[0](n)", "counts, r",
)  # fmt: skip
SUBJECTS = {
    "n": ("0", "1 | 2", "int(a) if a > 3", "_", "-1", "3 as a", "float()"),
    "s": ("0", "float(a)", "int(a)", "2.5 | 1.5", "_", "bool()"),
    "(n, s)": ("(0, a)", "(a, 0 | 1)", "[1, *b]", "(a, b) if a == b", "(int(), float())", "_"),
    "l": ("[]", "[a]", "[a, b]", "[a, *_, b]", "[0, *b]", "[a, b, *_] if a < b"),
    "p": ("Point(a=0)", "Point(a, b)", "Point(b=None)", "Point(a=int(a))", "_"),
    "pair": ("Pair(a, 1)", "(a, b)", "Pair(first=0)", "_"),
    "mode": ("Mode.UP", "Mode.DOWN", "_"),
    "d": ("{0: a}", "{1: a, **b}", "{}", "_"),
    "v": ("Stack()", "Vector(scale=1)", "Vector(scale=a)", "_"),
    "x[0]": ("0", "1 | 2", "float(a)", "_", "a if a > 1", "int()"),
}  # fmt: skip
START = (
    "s, k, i, r, out, d, q = 0, 1, 0, None, [], {}, collections.deque([1, 2])", "counts, mode = [0, 1, 2], Mode.UP",
    "v, w = Vector(x), Stack(y.copy())", "p, pair, c = Point(n, 1), Pair(s), Slots(n)",
    "functions = [abs, lambda t: t * 2]",
)  # fmt: skip
BUMP = ["def bump(by=1):", "    nonlocal k, s", "    k += 1", "    s = s + by", "    return k"]


class Writer:
    """The writer of one program, and the dtypes of its arrays."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(f"constructs {seed}")
        self.dtypes = [self.draw.choice(DTYPES)] * 3
        if self.draw.random() < 0.3:
            self.dtypes[1] = self.draw.choice(DTYPES)
        self.loops = 0
        # Most programs use a few forms only: the more forms, the sooner one of them has the whole call run plain.
        self.statements = self.draw.sample(STATEMENTS, self.draw.choice([4, 8, 12, 30]))
        self.numbers = self.draw.sample(NUMBERS, self.draw.choice([6, 12, 30]))
        self.conditions = self.draw.sample(CONDITIONS, 5)

    def fill(self, form: str) -> str:
        positions = ["0", "-1", "n % 3", "k % 2", "i", "len(x) - 1", "1"]
        fields = {
            "i": self.draw.choice(positions), "j": self.draw.choice(["0", "1", "-1", "k % 3"]),
            "e": self.fill(self.draw.choice(self.numbers)) if "{e}" in form else "",
            "c": self.fill(self.draw.choice(self.conditions)) if "{c}" in form else "",
            "vec": self.fill(self.draw.choice(VECTORS)) if "{vec}" in form else "",
        }  # fmt: skip
        return form.format(**fields)

    def condition(self) -> str:
        return self.fill(self.draw.choice(self.conditions))

    def block(self, depth: int) -> list[str]:
        return ["    " + line for _ in range(self.draw.randint(1, 3)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        if depth < 3 and self.draw.random() < (0.45, 0.35, 0.2)[depth]:
            forms = [self.conditional, self.loop, self.loop, self.handler, self.match, self.manager]
            return self.draw.choice(forms)(depth + 1)
        line = self.fill(self.draw.choice(self.statements))
        return line.split("; ")

    def conditional(self, depth: int) -> list[str]:
        otherwise = ["else:", *self.block(depth)] if self.draw.random() < 0.5 else []
        return [f"if {self.condition()}:", *self.block(depth), *otherwise]

    def match(self, depth: int) -> list[str]:
        subject = self.draw.choice(list(SUBJECTS))
        patterns = self.draw.sample(SUBJECTS[subject], self.draw.randint(1, 3))
        patterns.sort(key=lambda pattern: pattern == "_")
        lines = [f"match {subject}:"]
        for pattern in patterns:
            lines += [f"    case {pattern}:", *("    " + line for line in self.block(depth))]
        return lines

    def manager(self, depth: int) -> list[str]:
        return ["with Managed(out) as managed:", *self.block(depth)]

    def handler(self, depth: int) -> list[str]:
        handled = self.draw.choice(["out.append(type(error).__name__)", "s = -1", "out.append(str(error))"])
        lines = ["try:", *self.block(depth), f"except {self.draw.choice(ERRORS)} as error:", f"    {handled}"]
        if self.draw.random() < 0.3:
            lines += ["else:", *self.block(depth)]
        if self.draw.random() < 0.3:
            lines += ["finally:", *self.block(depth)]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        steps = f"g{self.loops}"
        head = self.draw.choice(HEADS)
        advance = [f"    {ADVANCES[head]}"] if head in ADVANCES else []
        bound = [f"    {steps} += 1", f"    if {steps} > 9:", "        break"] if head.startswith("while") else []
        leave = self.draw.choice(["break", "continue", "return s, out", "raise ValueError(n)"])
        exits = [f"    if {self.condition()}:", f"        {leave}"] if self.draw.random() < 0.4 else []
        otherwise = ["else:", *self.block(depth)] if self.draw.random() < 0.25 else []
        start = [f"{steps} = 0"] if bound else []
        return [*start, self.fill(head), *bound, *advance, *self.block(depth), *exits, *otherwise]

    def program(self) -> str:
        start = self.draw.choice(["0", "0", "0.5", "f", "n"])
        body = [line for _ in range(self.draw.randint(2, 6)) for line in self.statement(0)]
        result = self.draw.choice(RESULTS)
        text = "\n".join([*body, result])
        lines = [*START, *(BUMP if "bump(" in text else []), *body, f"return {result}"]
        lines[0] = lines[0].replace("= 0,", f"= {start},", 1)
        return "def program(x, y, M, l, n, f):\n" + "".join(f"    {line}\n" for line in lines)


def program(seed: int) -> str:
    return Writer(seed).program()


def _array(draw: np.random.Generator, dtype: str, shape: tuple[int, ...], call: int) -> np.ndarray:
    """Return an array of small numbers with ties, in every third call with NaN, or with numbers near limits."""
    array = np.abs(draw.integers(-4, 7, shape)) if dtype == "uint8" else draw.integers(-4, 7, shape)
    array = array.astype(dtype)
    if array.dtype.kind in "fc":
        array /= array.dtype.type(2)
        if call % 3 == 2:
            array[draw.random(shape) < 0.25] = draw.choice([np.nan, np.inf, -0.0])
    elif dtype != "bool" and call % 3 == 2:
        array[draw.random(shape) < 0.25] = np.iinfo(dtype).max - draw.integers(0, 3)
    return array


def arguments(number: int) -> list[tuple[Any, ...]]:
    """Return the arguments of six calls."""
    dtypes, draw = Writer(number).dtypes, np.random.default_rng(number)
    calls: list[tuple[Any, ...]] = []
    for call in range(6):
        size = SIZES[(number + call) % len(SIZES)] if number % 2 else 5
        x, y, m = (_array(draw, dtype, (3, size)[rank:], call) for dtype, rank in zip(dtypes, (1, 1, 0), strict=True))
        numbers = [int(item) for item in draw.integers(-2, 6, (0, 2, 4, 5)[call % 4])]
        calls.append((x, y, m, numbers, int(draw.integers(0, 6)), float(draw.choice([0.5, 2.0, -1.5]))))
    return calls


def describe(value: Any, earlier: dict[int, Any]) -> Any:
    """Describe a value; a mutable object that occurred before is described by its number."""
    if isinstance(value, (bool, int, float, complex, np.generic, str, type(None))):
        return type(value).__name__, value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (type, enum.Enum)) or (callable(value) and not hasattr(value, "items")):
        return repr(value).split(" at 0x")[0]
    if not isinstance(value, tuple):
        if id(value) in earlier:
            return list(earlier).index(id(value))
        earlier[id(value)] = value
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, [describe(item, earlier) for item in value.ravel()]
    if isinstance(value, dict):
        return "dict", [(describe(key, earlier), describe(item, earlier)) for key, item in value.items()]
    if hasattr(value, "__slots__") and not isinstance(value, tuple):
        return type(value).__name__, [describe(getattr(value, name, "absent"), earlier) for name in value.__slots__]
    if hasattr(value, "__dict__"):
        return type(value).__name__, describe(vars(value), earlier)
    return type(value).__name__, [describe(item, earlier) for item in value]


def outcome(function: Any, call: tuple[Any, ...]) -> Any:
    """Call the function with copies of the arguments; return its result or exception, and its effects."""
    names = getattr(function, "__wrapped__", function).__globals__
    names["Vector"].made, names["Vector"].names[:], names["Stack"].depth, names["LOG"] = 0, [], 0, 0
    names["remember"].__defaults__[0].clear()
    names["known"].__defaults__[0].clear()
    call = copy.deepcopy(call)
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()) as output:
        warnings.simplefilter("always")
        try:
            result: Any = "returned", function(*call)
        except Exception as error:
            result = "raised", type(error).__name__, str(error)
    classes = [names["Vector"].made, names["Vector"].names, names["Stack"].depth, names["LOG"]]
    defaults = [*names["remember"].__defaults__, *names["known"].__defaults__]
    texts = sorted({str(warning.message) for warning in caught})
    return describe([result, call, classes, defaults, texts, output.getvalue()], {})


def agree(expected: Any, found: Any) -> bool:
    """Return whether two descriptions agree; floats may differ as the order of a sum decides."""
    if isinstance(expected, tuple) and len(expected) == 2 and isinstance(expected[1], (float, complex)):
        if expected[0] != found[0]:
            return False
        tolerance = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(expected[0], 1e-9)
        return bool(np.isclose(expected[1], found[1], rtol=tolerance, atol=tolerance, equal_nan=True))
    if isinstance(expected, (tuple, list)):
        return isinstance(found, type(expected)) and len(expected) == len(found) and all(map(agree, expected, found))
    return type(expected) is type(found) and bool(expected == found)


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran, "too long", "no program" or "WRONG", and details."""
    source = f"{PRELUDE.read_text()}\n\n{source}"
    names = {"__name__": MODULE, "heapq": heapq, "collections": collections}
    kinds = ("plain", "compiled")
    try:
        plain, second = (load_program(source, f"<constructs {number} {kind}>", **names) for kind in kinds)
    except SyntaxError:
        return "no program", ""
    return compare_calls(plain, second, arguments(number), outcome, agree, seconds=1)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
