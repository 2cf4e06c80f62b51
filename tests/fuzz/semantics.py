"""Lists, heaps, deques, dicts and sets of tuples, and statements whose parts have effects: plain against compiled.

    AUTOCONV_TIERS=native python tests/fuzz/semantics.py --programs 500 [--seed 0]

The items are numbers or tuples of one structure. Statements change containers in indices, unpackings, chained
comparisons, comprehensions with `:=`, properties, class bodies, generators with `finally`, and nested functions with
`nonlocal`; they raise exceptions halfway, delete names, and assign slices of other lengths. A quarter of the programs
begin with an unknown call, so that their loops are compiled by themselves. Results, arguments and globals are compared
as one graph, over calls with other sizes and, in the last, with items of other classes.
"""

from __future__ import annotations

import collections
import copy
import heapq
import itertools
import random
import sys
import time
from typing import Any

from differential.counting import compare_calls, load_program, run_command

STRUCTURES: tuple[Any, ...] = (
    "i", "f", ("i", "i"), ("i", "i"), ("i", "f"), ("f", "i"), ("i", ("i", "b")), ("f", "f"), ("b", "i"), ("i",),
    (("i", "f"), "i"), ("i", "i", "f"),
)  # fmt: skip
SCALARS = {
    "i": ("n", "k", "k + 1", "n - k", "k * 7 % 5", "-1", "0", "len({l})", "k // 2", "c", "tick(k)", "int(x)", "o.size",
          "bump()", "(w := k)", "w"),
    "f": ("x", "0.5", "x * k", "k * 0.5", "x + n", "-0.0", "x / (k + 1)", "float(k)", "f"),
    "b": ("k > 1", "n % 2 == 0", "x > 0.5", "not k", "-1 < tick(k) < n"),
}  # fmt: skip
ITEMS = ("{l}[-1]", "{l}[0]", "{l}[k % max(1, len({l}))]", "{l}.pop()", "max({l})", "min({l})", "{l}[k]", "t", "t",
         "max({l}, key=key)", "next(iter({l}), t)", "d.get({t}, t)", "max({t}, t)", "sorted({l}, key=key)[-1]",
         "last(*{l})", "o.top")  # fmt: skip
CONDITIONS = (
    "{l}", "not {l}", "len({l}) > 1", "k % 2", "x > 0.5", "t < {t}", "{t} in {l}", "{l} and {l}[-1] > {t}", "t in d",
    "{l} == {m}", "0 < tick(k) < tick(n) < 4", "tick(1) <= bump() != k", "{t} in seen", "t == {l}[0]", "f < 2.5",
    "(w := k) > 1 or w", "any(v == t for v in {l})", "o.size > 2", "{l} is {m}",
)  # fmt: skip
STATEMENTS = (
    "{l}.append({t})", "{l}.append({t})", "t = {t}", "t = {t}", "t = {l}.pop(0)", "{l}[k] = {t}", "{l}[0] = {t}",
    "{l}.insert(k, {t})", "{l}.extend({m})", "{l} += [{t}]", "{l}.sort()", "{l}.sort(key=key)", "del {l}[k]",
    "{l}.sort(reverse=True)", "{l}.reverse()", "{l}.remove({t})", "del {l}[::2]", "{l}[1:2] = {m}", "{l}[k:] = [{t}]",
    "{l}[::2] = {m}", "{l}[tick(0)] = {t}", "{l}[len({l}) - 1], t = t, {t}", "t, *rest = {l}", "*rest, t = {m}",
    "(t, k), c = ({t}, bump()), 2", "{l}[k], {l}[0] = {l}[0], {t}", "heapq.heapify({l})", "heapq.heappush({l}, {t})",
    "t = heapq.heappop({l})", "t = heapq.heappushpop({l}, {t})", "t = heapq.heapreplace({l}, {t})", "del t",
    "e.append({t})", "e.appendleft({t})", "t = e.popleft()", "t = e.pop()", "e.extend({l})", "e = deque({l})",
    "d[t] = k", "d[{t}] = d.get({t}, 0) + 1", "d[{t}] += 1", "del d[t]", "d.setdefault({t}, []).append(k)",
    "seen.add({t})", "seen.discard(t)", "k = d.pop(t, k)", "out.append(len(seen))", "out.append(sorted(seen))",
    "tally[k % 3] += bump()", "tally[{t}] += 1", "tally.pop(k, 0)", "del tally[k % 3]", "k, c = tally.popitem()",
    "out.append(tally.most_common(2))", "sums[c % 3] += x", "f += sums.get(k, 0)", "groups[k % 4].append({t})",
    "links.setdefault(c % 3, []).append(k)", "links[k % 3] = links.get(k, [])", "del links[c % 3]", "groups.clear()",
    "for a, b in links.items(): c += a + len(b)", "for b in groups.values(): c += len(b)", "k = links[c % 3][-1]",
    "marks.add(k * 7 % 9)", "marks.discard(k)", "marks.remove(c)", "k = marks.pop()", "for k in marks: c += k",
    "for k in tally: del tally[k]", "counts[tick(k) % 3] += bump()", "counts[bump() % 3] -= tick(k)",
    "counts[k], counts[0] = tick(1), tick(2)",
    "counts[1:2] = [tick(v) for v in range(n)]", "f += 0.5", "f *= 0.5", "c += 1", "c -= k", "k = int(f)",
    "out.append([w := v for v in {l}])", "out.append([w for v in counts if (w := v + 1) > 1])", "out.append(t)",
    "out.append(sum(counts) + c)", "out.append({{key(v): v for v in {l}}})", "out.append(last(t, *{l}))",
    "out.append(list(generate({l})))", "out.append(next(generate({l})))", "for t in generate({l}): c += 1",
    "o.size = k", "o.size += tick(1)", "o.size -= bump()", "out.append(o.size)", "o.items.append(t)", "t = o.top",
    "o.items[o.size % 2] = t", "out.append(pairs(**{{'a': k, 'b': bump()}}))", "a, b = (tick(v) for v in range(n))",
    "out.append((a, b))", "a = b = bump()", "out.append(Inner(k).doubled)",
    "out.append([*zip({l}, counts)])", "out.append(min({l}, key=lambda v: (key(v), c)))", "bump()", "{l} = {l}[:]",
    "{l} = sorted({l})", "{l} = [v for v in {l} if key(v) > 0]", "{l} = [{t} for k in range(n)]", "{l} = {l} + [{t}]",
)  # fmt: skip
_TALLIES = ("Counter()", "defaultdict(int)")
RESULTS = ("t", "out, c", "counts, f", "p, q, h", "d", "e", "seen, k", "o", "out, d, t", "q, c, f", "list(d.items())",
           "tally, list(tally), c", "groups, links", "list(marks), sums")
HEADS = ("while f < 3.5:", "for k in range(n):", "for t in {l}:", "for k in counts:", "for k, t in enumerate({l}):",
         "while {l}:", "for t in sorted({l}, key=key):", "for t in d:")  # fmt: skip
HEAD = """
LOG = []


def tick(value):
    LOG.append(value)
    return value


def key(item):
    return -item[0] if isinstance(item, tuple) and not isinstance(item[0], tuple) else 0


def last(*items, default=None):
    return items[-1] if items else default


def pairs(b, *, a):
    return a * 2 + b


def generate(items):
    try:
        for item in items:
            yield item
    finally:
        LOG.append("closed")


class Owner:
    def __init__(self, items):
        self.items = items
        self.reads = 0

    @property
    def size(self):
        self.reads += 1
        return self.reads + len(self.items)

    @size.setter
    def size(self, value):
        del self.items[max(value, 0):]
        self.reads = value

    @property
    def top(self):
        return self.items[-1]


def program(p, h, o, n, x):
"""
BUMP = """
def bump():
    nonlocal c
    c += 1
    return c
""".strip().splitlines()
INNER = """
class Inner:
    doubled = [v * 2 for v in range(n)]
    total = sum(doubled)
    def __init__(self, k):
        self.doubled = self.total + k
""".strip().splitlines()


class _Writer:
    """The writer of one program over items of one structure."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.structure = self.draw.choice(STRUCTURES)
        self.lists = self.draw.choice([("p",), ("p", "q"), ("q",), ("h", "q"), ("p", "h"), ("p", "q", "h")])
        self.loops = 0
        # Most programs use a few forms only: the more forms, the sooner one of them has the whole call run plain.
        self.statements = self.draw.sample(STATEMENTS, self.draw.choice([5, 10, 15, 40]))
        self.conditions = self.draw.sample(CONDITIONS, 5)

    def fill(self, form: str) -> str:
        return form.format(l=self.draw.choice(self.lists), m=self.draw.choice(self.lists), t=self.item())

    def item(self, structure: Any = None) -> str:
        """An expression for an item, or for a part with that structure."""
        if structure is None and self.draw.random() < 0.35:
            return self.draw.choice(ITEMS).format(l=self.draw.choice(self.lists), t=self.item(self.structure))
        structure = structure or self.structure
        if isinstance(structure, tuple):
            return "(" + "".join(f"{self.item(part)}, " for part in structure) + ")"
        return self.draw.choice(SCALARS[structure]).format(l=self.draw.choice(self.lists))

    def block(self, depth: int) -> list[str]:
        lines = [line for _ in range(self.draw.randint(1, 3)) for line in self.statement(depth)]
        return ["    " + line for line in lines]

    def statement(self, depth: int) -> list[str]:
        if depth < 3 and self.draw.random() < (0.45, 0.3, 0.15)[depth]:
            form = self.draw.choice([self.conditional, self.loop, self.loop, self.handler])
            return form(depth + 1)
        return [self.fill(self.draw.choice(self.statements))]

    def condition(self) -> str:
        return self.fill(self.draw.choice(self.conditions))

    def conditional(self, depth: int) -> list[str]:
        otherwise = ["else:", *self.block(depth)] if self.draw.random() < 0.5 else []
        return [f"if {self.condition()}:", *self.block(depth), *otherwise]

    def handler(self, depth: int) -> list[str]:
        final = ["finally:", *self.block(depth)] if self.draw.random() < 0.3 else []
        handled = self.draw.choice(["LookupError", "(KeyError, ValueError)", "Exception", "(TypeError, ValueError)"])
        return ["try:", *self.block(depth), f"except {handled} as error:", "    out.append(str(error))", *final]

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        steps = f"g{self.loops}"
        head = self.draw.choice([f"while {self.condition()}:", *HEADS])
        bound = [f"    {steps} += 1", f"    if {steps} > 9:", "        break"]
        advance = {"while f < 3.5:": ["    f += 0.75"], "while {l}:": ["    t = {l}.pop()"]}.get(head, [])
        lines = [head, *advance]
        name = self.draw.choice(self.lists)
        leave = [f"    if {self.condition()}:", f"        {self.draw.choice(['break', 'continue', 'return t, c'])}"]
        leave = leave if self.draw.random() < 0.3 else []
        lines = [line.replace("{l}", name) for line in lines]
        return [f"{steps} = 0", lines[0], *bound, *lines[1:], *self.block(depth), *leave]

    def program(self) -> str:
        item = self.item(self.structure).replace("w", "k").replace("(k := k)", "k")
        lines = ["time.time()"] * (self.draw.random() < 0.25)
        lines += ["c, k, f, w = 0, n, 0.0, 1", "counts, out, rest = [0, 1, 2], [], []", *BUMP]
        lines += INNER * (self.draw.random() < 0.1)
        lines += [f"q = {self.draw.choice(['[]', f'[{item}]', 'p[:]', f'[{item} for k in range(n)]'])}"]
        lines += [f"t = {item}", "e, d, seen = deque(), {}, set()", "links, marks = {}, set()"]
        lines += [f"tally, groups, sums = {self.draw.choice(_TALLIES)}, defaultdict(list), defaultdict(float)"]
        lines += [line for _ in range(self.draw.randint(2, 6)) for line in self.statement(0)]
        lines.append(f"return {self.draw.choice(RESULTS)}")
        return HEAD.lstrip() + "".join(f"    {line}\n" for line in lines)


def program(seed: int) -> str:
    return _Writer(seed).program()


def _value(structure: Any, draw: random.Random, is_odd: bool) -> Any:
    if isinstance(structure, tuple):
        return tuple(_value(part, draw, is_odd) for part in structure)
    if is_odd and draw.random() < 0.1:
        return draw.choice([2**70, float("nan"), 0.25, True, 3, -0.0, 2**62])
    numbers: dict[str, list[Any]] = {"i": [*range(-3, 7)], "f": [0.5, 1.25, -0.0, 0.0, 2.0], "b": [True, False]}
    return draw.choice(numbers[structure])


def arguments(number: int) -> list[tuple[Any, ...]]:
    """Return the arguments of six calls; the last two have items of other classes."""
    structure, draw = _Writer(number).structure, random.Random(number + 1)
    calls = []
    for call in range(6):
        sizes = draw.choices([0, 1, 3, 5, 9], k=3)
        p, heap, items = ([_value(structure, draw, call > 3) for _ in range(size)] for size in sizes)
        calls.append((p, heap, items, draw.choice([0, 1, 2, 3, 5]), draw.choice([0.25, 1.5, -2.0])))
    return calls


def describe(value: Any, numbers: dict[int, int]) -> Any:
    """Describe a value; an object that occurred before is described by its number, but for tuples."""
    if hasattr(value, "__dict__") or isinstance(value, (list, dict, set, collections.deque)):
        if id(value) in numbers:
            return numbers[id(value)]
        numbers[id(value)] = len(numbers)
    if isinstance(value, dict):
        entries = [(describe(key, numbers), describe(item, numbers)) for key, item in value.items()]
        return type(value).__name__, repr(getattr(value, "default_factory", None)), entries
    if hasattr(value, "__dict__"):
        return type(value).__name__, describe(vars(value), numbers)
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [describe(item, numbers) for item in value]
    if isinstance(value, set):
        return "set", sorted(map(repr, value))
    return type(value).__name__, repr(value)


def outcome(function: Any, call: tuple[Any, ...]) -> Any:
    """Call the function with copies of the arguments; return its result or exception, the copies, and the log."""
    names = getattr(function, "__wrapped__", function).__globals__
    names["LOG"].clear()
    p, heap, items, n, x = copy.deepcopy(call)
    owner = names["Owner"](items)
    try:
        result: Any = "returned", function(p, heap, owner, n, x)
    except Exception as error:
        result = "raised", type(error).__name__, str(error)
    return describe([result, p, heap, owner, names["LOG"]], {})


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran, "too long" or "WRONG", and details."""
    names = {name: getattr(collections, name) for name in ("Counter", "defaultdict", "deque")}
    names |= {"heapq": heapq, "itertools": itertools, "time": time}
    plain, second = (load_program(source, f"<semantics {number} {kind}>", **names) for kind in ("plain", "compiled"))
    return compare_calls(plain, second, arguments(number), outcome, seconds=1)


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
