"""The programs of `fuzz/allocations.py`: a few lines for each kind of value and statement."""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

PRELUDE = """
import math
from dataclasses import dataclass
from collections import namedtuple
import numpy as np
import autoconv as ac

Pair = namedtuple("Pair", "first second")

@dataclass
class Point:
    x: float
    y: float

class Counter:
    def __init__(self, count):
        self.count = count
        self.seen = []

counter = Counter(0)
table = {"a": 1.0, "b": 2.0}
vector = np.arange(4.0)
"""
# Each program begins with a comment: its name, its parameters and their arguments. The lines below are its body.
TEXT = """
# scalars: x, n = 2.5, 70000
return x * n + 1.5, n // 3, x > n, n
# one float: x = 2.5
return x * 0.5
# complex: z = 1.5 + 2j
return z * z + 1, abs(z)
# loop: x, n = 1.5, 30
t = 0.0
for i in range(n):
    t += x * i
return t, n * 1000
# branches: x = 0.5
if x > 1:
    return x, 'large'
if x < 0:
    return None
return [x, -x]
# several arms: x = 0.5
if x > 1:
    return {'large': x}
return (x, [x * 2], {'small': x})
# arrays: a, b = np.arange(5.0), np.ones(5)
c = a * b + 1
return c, c.sum(), a[0]
# large arrays: a = np.arange(20000.0)
b = a * 2
return b, b[::2] + 1, b.sum()
# pooled arrays in a loop: a, n = np.arange(20000.0), 4
for i in range(n):
    a = np.sin(a) + i
return a
# an argument is written: a = np.arange(6.0)
a[1:3] += 1
for i in range(3):
    a[i] = a[i + 1] * 2
return a, a[1:]
# an argument is given back: a = np.arange(6.0)
return a, a
# views: a = np.arange(6.0).reshape(2, 3)
b = a.T
b[0] = 3
return b, a[::-1], b.reshape(-1)
# a constant array: x = 2.5
return vector, vector * x
# linear algebra: a = np.eye(3) * 2 + 1
return np.linalg.inv(a), a @ a, np.linalg.solve(a, a[0])
# fourier: a = np.arange(8.0)
return np.fft.fft(a), np.fft.irfft(np.fft.rfft(a))
# sorts: a = np.array([3.0, 1, 2, 1])
return np.sort(a), np.unique(a), np.argsort(a), np.cumsum(a)
# masks: a = np.arange(4.0)
return a[a > 1], np.nonzero(a), np.where(a > 1, a, -a)
# new arrays: n, x = 5, 2.0
a = np.zeros(n)
for i in range(n):
    a[i] = x * i
return a, np.linspace(0, x, n)
# numbers of arrays: a = np.arange(4, dtype=np.int32)
return a[1], a.max(), a.argmax(), float(a[0]), int(a[2])
# complex arrays: a = np.arange(3) + 1j
return a * 2j, a.real, np.abs(a)
# a list of numbers: q, x = [1.0, 2.0, 3.0], 2.0
q2 = []
for v in q:
    q2.append(v * x)
return q2, len(q2), max(q2)
# a list that grows: n, x = 40, 0.5
q = []
for i in range(n):
    q.append(x + i)
return q, q[-1]
# a list is changed: q, x = [1.0, 2.0], 3.0
q.append(x)
q[0] = q[1] + x
return q
# rows: q = [[1, 2], [3, 4], [5, 6]]
t = 0
for row in q:
    for v in row:
        t += v
return t, [sum(row) for row in q]
# lists of objects: q = ['b', '', 'a']
return [v for v in q if v], q[::-1], sorted(q)
# tuples: q, x = (1.0, (2.0, 3)), 1.5
a, (b, c) = q
return (a + x, b), (c, q)
# named tuples: p, x = Pair(1.0, 2.0), 3.0
return Pair(p.first + x, p), p.second * 2
# dicts: d, x = {'a': 1.0, 'b': 2.0}, 3.0
d2 = dict(d)
d2['c'] = x
for k in d:
    x += d[k]
return d2, x
# a dict is filled: n = 6
d = {}
for i in range(n):
    d[i] = i * i
return d, sum(d.values())
# sets: n = 9
s = set()
for i in range(n):
    s.add(i % 3)
return s, len(s), 2 in s
# objects: p, x = Point(1.0, 2.0), 3.0
p.x += x
q = Point(p.y, x)
return q, p.x
# objects from outside: x = 3.0
counter.count = counter.count + 1
return counter.count * 0 + x
# text: s, n = 'abc', 3
t = ''
for i in range(n):
    t += s
return t, s.upper(), len(s), f'{n}: {s}'
# formatted numbers: x, n = 2.5, 7
return f'{x:.2f} {n}', str(n), repr(x)
# prints: x, n = 2.5, 2
print('x', x)
for i in range(n):
    print(i, x)
return x
# raises: x = 2.5
try:
    if x > 1:
        raise ValueError(f'large {x}')
except ValueError as e:
    return str(e), x
return 0
# handles: q, i = [1.0, 2.0], 5
try:
    return q[i]
except IndexError:
    return -1.0
# big integers: n = 25
t = 1
for i in range(1, n):
    t *= i
return t
# recursion: n, x = 7, 0.5
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
return fib(n) + x
# recursion over objects: q, n = [1, [2, [3]]], 4
def flat(q):
    return [q] if isinstance(q, int) else [v for p in q for v in flat(p)]
return flat(q), n + 1
# generators: n = 5
def squares(n):
    for i in range(n):
        yield i * i
return sum(squares(n)), list(squares(3))
# closures: x = 2.0
def add(y):
    return x + y
return add(1.0), list(map(add, [1.0, 2.0]))
# random: x = 2.0
ac.random.set_seed(3)
return x + float(ac.random.stateless_uniform([2], seed=[1, 2])[0]) * 0
# math: x = 2.75
return math.sqrt(x), math.floor(x), math.hypot(x, 2.0), round(x, 1)
# strings and arrays: a, s = np.arange(3.0), 'key'
return {s: a * 2, 'n': len(a)}
# many results: x = 2.5
return x, x + 1, [x, (x, {'a': x, 'b': [x, x]})], (x,), {}
# nothing: x = 2.5
x + 1
# tensors: x = ac.constant(2.0)
return ac.constant([1.0, 2.0]) * x, {'a': x + 1}
"""
PROGRAMS: dict[str, tuple[str, str, str]] = {}  # parameters, body, arguments
for _part in TEXT.strip().removeprefix("# ").split("\n# "):
    _head, _, _body = _part.partition("\n")
    _name, _, _call = _head.partition(": ")
    _parameters, _, _arguments = _call.partition(" = ")
    PROGRAMS[_name] = _parameters, _body, _arguments


def make_program(name: str, number: int = 0) -> tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]:
    """Return a new function of a program, and a function that makes its arguments; each number gives another file."""
    parameters, body, arguments = PROGRAMS[name]
    lines = "\n".join("    " + line for line in body.split("\n"))
    source = f"{PRELUDE}\ndef program({parameters}):\n{lines}\n\ndef arguments():\n    return ({arguments},)\n"
    file = f"<allocations {name} {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = sys.modules["allocations_program"] = types.ModuleType("allocations_program")
    exec(compile(source, file, "exec"), vars(module))
    return module.program, module.arguments
