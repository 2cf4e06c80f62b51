"""Functions that builtins and NumPy call, constructors and draws have their effects on every call under `compile`."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import itertools
import operator
import os
import random
import types

import numpy as np
import pytest

import autoconv

N = 0


def bump(*_):
    global N
    N += 1
    return N


def compare(a, b):
    bump()
    return (a > b) - (a < b)


class Pair(tuple):
    def __new__(cls, *items):
        bump()
        return tuple.__new__(cls, items)


class Refused(ValueError):
    def __init__(self, n):
        bump()
        super().__init__(n)
        self.n = n


class Late(Exception):
    def __new__(cls, n):
        bump()
        return super().__new__(cls, n)


class Kept:
    def __init__(self):
        self.n = 0

    def hit(self, *_):
        self.n += 1
        return self.n


class Meta(type):
    def __call__(cls, *given):
        bump()
        return super().__call__(*given)

    def __len__(cls):
        return bump()

    @property
    def hits(cls):
        return bump()


class Made(metaclass=Meta):
    pass


class New:
    def __new__(cls):
        bump()
        return object.__new__(cls)


class Following:
    def __init_subclass__(cls):
        bump()


class Partial(functools.partial):
    def __call__(self, *given):
        bump()
        return super().__call__(*given)


class Items(list):
    def append(self, item):
        bump()
        list.append(self, item)

    def __getitem__(self, place):
        bump()
        return list.__getitem__(self, place)

    def __len__(self):
        bump()
        return list.__len__(self)


class Table(dict):
    def __missing__(self, key):
        return bump()


class Named(collections.namedtuple("Named", "a b")):
    @property
    def s(self):
        bump()
        return self.a + self.b


@dataclasses.dataclass
class Data:
    a: int

    @property
    def s(self):
        self.a += 1
        return self.a


@dataclasses.dataclass
class Checked:
    a: int

    def __post_init__(self):
        bump()


class Color(enum.Enum):
    RED = 1

    @property
    def s(self):
        return bump()


class Base(abc.ABC):
    n = 0

    @property
    def s(self):
        self.n += 1
        return self.n

    @abc.abstractmethod
    def hit(self):
        """Counts."""


class Concrete(Base):
    def hit(self):
        self.n += 1
        return self.n

    def __len__(self):
        return self.hit()


KEPT, PARTIAL, ITEMS, TABLE = Kept(), Partial(bump), Items(), Table()
NAMED, DATA, ABSTRACT = Named(1, 2), Data(3), Concrete()
DEFAULTS = collections.defaultdict(bump)
CACHED = functools.lru_cache(bump)
BOUND = KEPT.hit
OF_A_FUNCTION = types.MethodType(functools.partial(bump, 1), 3)
WITH_ONE = functools.partial(bump, 1)
CALLER = operator.methodcaller("hit")
GETTER = operator.attrgetter("s")
VECTORISED = np.vectorize(bump)
GENERATOR, DRAWS, STATE = np.random.default_rng(0), random.Random(0), np.random.RandomState(0)
STREAM = itertools.count()
SETTINGS = types.ModuleType("settings")
SETTINGS.kept = KEPT
SETTINGS.value = 3
SPACE = types.SimpleNamespace(kept=KEPT)


def subclass():
    class Follower(Following):
        pass

    return Follower


PROGRAMS = {
    "reduce": lambda x: functools.reduce(bump, [1, 2, 3]),
    "accumulate": lambda x: list(itertools.accumulate([1, 2, 3], bump)),
    "starmap": lambda x: list(itertools.starmap(bump, [(1, 2)])),
    "takewhile": lambda x: list(itertools.takewhile(bump, [1, 2])),
    "groupby": lambda x: [k for k, _ in itertools.groupby([1, 2], bump)],
    "filterfalse": lambda x: list(itertools.filterfalse(bump, [1, 2])),
    "sorted by key": lambda x: sorted([1, 2], key=bump),
    "max by key": lambda x: max([1, 2], key=bump),
    "max of arguments": lambda x: max(1, 2, key=bump),
    "sort by key": lambda x: [1, 2].sort(key=bump),
    "comparison as key": lambda x: sorted([1, 2], key=functools.cmp_to_key(compare)),
    "iter to a sentinel": lambda x: list(iter(bump, 3)) if N < 3 else 0,
    "map": lambda x: list(map(bump, [1, 2])),
    "filter": lambda x: list(filter(bump, [1, 2])),
    "partial": lambda x: WITH_ONE(),
    "class of partials": lambda x: PARTIAL(),
    "method": lambda x: BOUND(),
    "method of a partial": lambda x: OF_A_FUNCTION(),
    "methodcaller": lambda x: CALLER(KEPT),
    "attrgetter": lambda x: GETTER(DATA),
    "attrgetter of a member": lambda x: GETTER(Color.RED),
    "attrgetter of an abstract class": lambda x: GETTER(ABSTRACT),
    "vectorize": lambda x: int(VECTORISED(3)),
    "lru_cache": lambda x: CACHED(N),
    "__new__ of a tuple": lambda x: Pair(1, 2)[0],
    "__init__ of an exception": lambda x: Refused(3).n,
    "__init__ of an exception with a number": lambda x: Refused(x).n,
    "__new__ of an exception": lambda x: Late(3).args,
    "__call__ of a metaclass": lambda x: Made() is None,
    "__len__ of a metaclass": lambda x: len(Made),
    "property of a metaclass": lambda x: Made.hits,
    "__new__": lambda x: New() is None,
    "method of a list's class": lambda x: ITEMS.append(3),
    "item of a list's class": lambda x: ITEMS[0],
    "length of a list's class": lambda x: len(ITEMS),
    "loop over a list's class": lambda x: [q + 1 for q in ITEMS],
    "__missing__": lambda x: TABLE["a"],
    "__missing__ by itemgetter": lambda x: operator.itemgetter("a")(TABLE),
    "property of a named tuple": lambda x: NAMED.s,
    "property of a dataclass": lambda x: DATA.s,
    "__post_init__": lambda x: Checked(3).a,
    "__post_init__ with a number": lambda x: Checked(x).a,
    "property of a member": lambda x: Color.RED.s,
    "property of an abstract class": lambda x: ABSTRACT.s,
    "method of an abstract class": lambda x: ABSTRACT.hit(),
    "__len__ of an abstract class": lambda x: len(ABSTRACT),
    "default_factory": lambda x: DEFAULTS[N],
    "random": lambda x: random.random(),
    "gauss": lambda x: random.gauss(0, 1),
    "choice": lambda x: random.choice([1, 2, 3]),
    "generator made here": lambda x: np.random.default_rng(0).random(),
    "random made here": lambda x: random.Random(0).random(),
    "generator": lambda x: GENERATOR.random(),
    "Random": lambda x: DRAWS.randint(1, 9),
    "RandomState": lambda x: STATE.rand(),
    "rand": lambda x: x + np.random.rand(),
    "rand of NumPy in a loop": lambda x: sum(np.random.rand() for _ in range(3)),
    "shuffle": lambda x: random.shuffle(ITEMS),
    "normal": lambda x: np.random.normal(size=3).tolist(),
    "count": lambda x: next(STREAM),
    "apply_along_axis": lambda x: np.apply_along_axis(bump, 0, np.ones((2, 2))).tolist(),
    "fromfunction": lambda x: int(np.fromfunction(bump, (2,))),
    "piecewise": lambda x: np.piecewise(np.ones(2), [np.array([True, False])], [bump, 0]).tolist(),
    "fromiter": lambda x: np.fromiter((bump() for _ in range(2)), float).tolist(),
    "environ.get": lambda x: os.environ.get("AUTOCONV_TEST"),
    "environ": lambda x: os.environ["AUTOCONV_TEST"],
    "in environ": lambda x: "AUTOCONV_TEST" in os.environ and len(os.environ["AUTOCONV_TEST"]),
    "getattr": lambda x: getattr(DATA, "s"),  # noqa: B009
    "class by type": lambda x: type("Follower", (Following,), {}) is None,
    "class statement": lambda x: subclass() is None,
    "default": lambda x: min([], default=bump()),
    "format_map": lambda x: "{q}".format_map(TABLE),
    "format of an attribute": lambda x: "{0.s}".format(DATA),  # noqa: UP030, UP032
    "% of a table": lambda x: "%(q)s" % TABLE,  # noqa: UP031
    "eval": lambda x: eval("DATA.s"),
    "exec": lambda x: exec("bump()"),
    "globals": lambda x: globals()["N"],
    "vars": lambda x: vars(KEPT)["n"],
    "__dict__": lambda x: KEPT.__dict__["n"],
    "attribute of a module": lambda x: SETTINGS.kept.hit(),
    "getattr of a module": lambda x: getattr(SETTINGS, "kept").hit(),  # noqa: B009
    "value of a module": lambda x: SETTINGS.value,
    "value of a module by getattr": lambda x: getattr(SETTINGS, "value"),  # noqa: B009
    "value of a module by vars": lambda x: vars(SETTINGS)["value"],
    "value of a module by dict": lambda x: SETTINGS.__dict__["value"],
    "namespace": lambda x: SPACE.kept.hit(),
    "vars of a namespace": lambda x: vars(SPACE)["kept"].hit(),
}


def _run(function):
    """Return the results and the state after each of four calls; outer objects change before the third."""
    global N
    N, KEPT.n, DATA.a, ABSTRACT.n, SETTINGS.value = 0, 0, 3, 0, 3
    ITEMS[:] = [1, 2, 3, 4]
    TABLE.clear()
    DEFAULTS.clear()
    CACHED.cache_clear()
    GENERATOR.bit_generator.state = np.random.default_rng(0).bit_generator.state
    for draws in (random, DRAWS, np.random, STATE):
        draws.seed(0)
    found = []
    for turn, x in enumerate((1.5, 2.5, 3.5, 1.5)):
        os.environ["AUTOCONV_TEST"] = "x" * (turn // 2)
        if turn == 2:
            N, SETTINGS.value = N + 10, 5
            for counted in (KEPT, ABSTRACT):
                counted.n += 10
            DATA.a += 10
        try:
            outcome = repr(function(x))
        except Exception as error:
            outcome = type(error), str(error)
        outer_state = list(list.__iter__(ITEMS)), dict(DEFAULTS), dict.copy(TABLE), N, KEPT.n, DATA.a, ABSTRACT.n
        streams = random.getstate(), DRAWS.getstate(), np.random.get_state()[2], STATE.get_state()[2]
        found.append((outcome, outer_state, hash(streams), str(GENERATOR.bit_generator.state)))
    return found


@pytest.fixture(autouse=True)
def _restored_process_state():
    states = random.getstate(), np.random.get_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])
    os.environ.pop("AUTOCONV_TEST", None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_effects_happen_on_every_call(name):
    function = PROGRAMS[name]
    if name == "count":  # an iterator whose advance cannot be undone
        compiled = autoconv.compile(function)
        first = next(STREAM)
        assert [compiled(1.0), compiled(1.0), next(STREAM)] == [first + 1, first + 2, first + 3]
        return
    expected = _run(function)
    assert _run(autoconv.compile(function)) == expected


def _drawn_in_arms(x):
    if x > 2:
        return x + random.random()
    return x - random.getrandbits(4)


def _shuffled(x):
    w = np.arange(6.0) * x
    np.random.shuffle(w)
    return w.tolist()


def _pi(n):
    inside = 0
    for _ in range(n):
        a, b = np.random.rand(), np.random.random()
        inside += a * a + b * b < 1
    return 4 * inside / n


@pytest.mark.parametrize("program", [_drawn_in_arms, _shuffled, _pi])
def test_draws_are_those_of_plain_python_and_traces_draw_none(program):
    expected = _run(lambda x: program(x) if program is not _pi else program(int(x * 10)))
    compiled = autoconv.compile(program)
    assert _run(lambda x: compiled(x) if program is not _pi else compiled(int(x * 10))) == expected
    assert ("not known to be pure" in compiled.explain()) == (program is _drawn_in_arms)
