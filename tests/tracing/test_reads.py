"""Attributes that a function may read in any way are guarded; those that it cannot read are not."""

import abc
import collections
import copy
import functools
import logging
import operator
import threading
from copy import copy as twin
from dataclasses import asdict, dataclass, field
from operator import attrgetter as read_by_name

import numpy as np
import pytest

import autoconv
from autoconv.tracing.guards.attribute_reads import AttributeReads

WARM = 5


class Named:
    """A descriptor that reads another attribute by a computed name."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__[self.name]


class Other:
    """A descriptor that reads another attribute by its name."""

    def __get__(self, instance, owner=None):
        return instance.hidden


class Base(abc.ABC):
    def of_base(self):
        return self.hidden * 2

    @abc.abstractmethod
    def kind(self): ...


class Thing(Base):
    named = Named()
    other = Other()
    got = property(operator.attrgetter("hidden"))
    __match_args__ = ("hidden",)

    def __init__(self):
        self.hidden = 2.0
        self._named = 3.0
        self.log = []
        self.note = "a"
        self.parts = [1.0, 2.0]
        self.inner = Inner()

    def kind(self):
        return "thing"

    def method(self):
        return self.hidden + 1

    def record(self, x):
        self.log.append(x)

    @property
    def computed(self):
        return self.hidden * 5

    @functools.cached_property
    def once(self):
        return 7.0

    @staticmethod
    def of(other):
        return other.hidden

    def of_super(self):
        return super().of_base()

    def __len__(self):
        return int(self.hidden)

    def __iter__(self):
        return iter(self.parts)

    def __repr__(self):
        return f"Thing({self.hidden})"

    def __add__(self, other):
        return self.hidden + other

    def __call__(self, x):
        return self.hidden - x

    def __contains__(self, x):
        return x == self.hidden


class Inner:
    def __init__(self):
        self.value = 1.0
        self.history = []


class Forwarding:
    def __init__(self):
        self.hidden = 2.0

    def __getattr__(self, name):
        return self.hidden if name == "other" else object.__getattribute__(self, name)


@dataclass
class Record:
    hidden: float = 2.0
    log: list = field(default_factory=list)


def helper(owner):
    return owner.hidden


def through(f, owner):
    return f(owner)


THING, RECORD, FORWARDING = Thing(), Record(), Forwarding()
OWN = THING.__getattribute__
READERS = {"hidden": lambda thing: thing.hidden, "by name": lambda thing: getattr(thing, "hid" + "den")}
TEXT = "{.hidden}"
LIST_ARRAY = np.frompyfunc(lambda thing: thing.hidden, 1, 1)
GETTER = operator.attrgetter("hidden")


def matched(x):
    match THING:
        case Thing(hidden=h):
            return h * x
    return 0.0


def matched_by_place(x):
    match THING:
        case Thing(h):
            return h * x
    return 0.0


def in_a_loop(x):
    total = 0.0
    while total < x:
        total += THING.inner.value + THING.method()
    return total


READS = {
    "attribute": lambda x: THING.hidden * x,
    "method": lambda x: THING.method() * x,
    "property": lambda x: THING.computed * x,
    "descriptor": lambda x: THING.named * x + THING.hidden,
    "descriptor of another name": lambda x: THING.other * x,
    "property of no function": lambda x: THING.got * x,
    "static method": lambda x: Thing.of(THING) * x,
    "super": lambda x: THING.of_super() * x,
    "base": lambda x: THING.of_base() * x,
    "getattr": lambda x: getattr(THING, "".join(["hid", "den"])) * x,
    "vars": lambda x: vars(THING)["hidden"] * x,
    "__dict__": lambda x: THING.__dict__["hidden"] * x,
    "copy": lambda x: copy.copy(THING).hidden * x,
    "copy by another name": lambda x: twin(RECORD).hidden * x,
    "asdict": lambda x: asdict(RECORD)["hidden"] * x,
    "equal records": lambda x: x if Record(2.0) == RECORD else -x,
    "attrgetter": lambda x: GETTER(THING) * x,
    "attrgetter by another name": lambda x: read_by_name("hidden")(THING) * x,
    "ufunc of a function": lambda x: LIST_ARRAY(THING) * x,
    "helper": lambda x: helper(THING) * x,
    "method wrapper": lambda x: OWN("hidden") * x,
    "helper through another": lambda x: through(helper, THING) * x,
    "lambda in a dict": lambda x: READERS["hidden"](THING) * x,
    "lambda that is given a name": lambda x: READERS["by name"](THING) * x,
    "__getattr__": lambda x: FORWARDING.other * x,
    "__len__": lambda x: len(THING) * x,
    "__repr__": lambda x: (repr(THING), x * 2),
    "formatted": lambda x: (f"{THING}", x * 2),
    "format": lambda x: (TEXT.format(THING), x * 2),
    "__add__": lambda x: (THING + 1.0) * x,
    "__call__": lambda x: THING(x),
    "in": lambda x: x if 2.0 in THING else -x,
    "sorted": lambda x: sorted([3.0, 1.0], key=lambda v: v * THING.hidden)[0] * x,
    "map": lambda x: sum(map(helper, [THING, THING])) * x,
    "bound method": functools.partial(lambda method, x: method() * x, THING.method),
    "match": matched,
    "match by place": matched_by_place,
    "loop": in_a_loop,
}


@pytest.fixture(autouse=True)
def put_back():
    yield
    THING.__init__()
    RECORD.hidden = FORWARDING.hidden = 2.0


@pytest.mark.parametrize("function", READS.values(), ids=READS)
def test_attributes_that_are_read_are_guarded(function):
    compute = autoconv.compile(function)
    for value in (2.0, 5.0, -3.5 if function is not READS["__len__"] else 9.0):
        THING.hidden = RECORD.hidden = FORWARDING.hidden = value
        if function is in_a_loop:
            THING.hidden = abs(value)
        for x in range(WARM):
            assert repr(compute(x + 0.5)) == repr(function(x + 0.5))


def test_parts_and_names_that_a_function_reads_are_guarded():
    compute = autoconv.compile(lambda x: sum(THING) * x + THING.once + THING.inner.value)
    plain = compute.python_function
    for change in (
        lambda: THING.parts.append(4.0),
        lambda: setattr(THING, "parts", [9.0]),
        lambda: setattr(THING, "once", 1.5),
        lambda: setattr(THING.inner, "value", 8.0),
        lambda: setattr(THING, "inner", Inner()),
        lambda: setattr(Thing, "method", lambda self: 0.0),
    ):
        for x in range(WARM):
            assert compute(x) == plain(x)
        change()
        assert compute(1.5) == plain(1.5)
    Thing.method = lambda self: self.hidden + 1
    del THING.once


@pytest.mark.parametrize("read", [in_a_loop, READS["method"], READS["property"], READS["__add__"], READS["super"]])
def test_attributes_that_a_function_cannot_read_may_change(read):
    compute = autoconv.compile(read)
    for i in range(3 * WARM):
        assert compute(i + 0.5) == read(i + 0.5)
        THING.record(i)
        THING.note = f"step {i}"
        THING.inner.history.append(i)
        THING.best = {"step": i}
    assert len(compute.concrete_functions) == 1
    assert "plain Python" not in compute.explain()


def test_a_model_that_keeps_a_log_is_traced_once():
    class Model:
        def __init__(self):
            self.weights, self.history, self.steps = np.ones(3), [], 0

        @autoconv.compile
        def step(self, x):
            self.weights -= 0.1 * x
            self.steps += 1
            return (self.weights**2).sum()

        def train(self, x, n):
            for _ in range(n):
                self.history.append(self.step(x))
            return self.history

    model, plain = Model(), Model()
    expected = []
    for _ in range(10):
        plain.weights -= 0.1 * np.arange(3.0)
        expected.append((plain.weights**2).sum())
    np.testing.assert_allclose(model.train(np.arange(3.0), 10), expected)
    assert model.steps == 10
    assert len(model.step.concrete_functions) <= 2


class Held:
    """An object with attributes that cannot be guarded."""

    def __init__(self):
        self.lock, self.log, self.queue = threading.Lock(), logging.getLogger("held"), collections.deque([1, 2])
        self.items, self.weights, self.limit = iter([1, 2, 3]), np.ones(3), 2.0

    def above(self, x):
        total = 0.0
        for value in x * self.weights:
            if value > self.limit:
                total += value
        return total

    def remaining(self):
        return list(self.items)

    def add(self, x):
        if x.sum() > 1:
            self.queue.append(3)
        return len(self.queue)

    def over(self, x):
        return sum(item * x.sum() for item in self.items)

    def over_held(self, x):
        return sum(item * x.sum() for item in self.read())

    def over_named(self, x, name="remaining"):
        return sum(item * x.sum() for item in getattr(self, name)())


def test_unread_attributes_that_cannot_be_guarded_leave_a_method_a_graph():
    owner, compute = Held(), autoconv.compile(Held.above)
    x = np.array([1.0, 2.0, 3.0])
    assert compute(owner, x) == 3.0
    owner.limit = 0.5
    assert compute(owner, x) == 6.0
    assert "plain Python" not in compute.explain()


@pytest.mark.parametrize("name", ["add", "over", "over_held", "over_named"])
def test_attributes_that_cannot_be_guarded_are_read_once_a_call(name):
    x = np.array([1.0, 2.0, 3.0])
    plain_owner, compiled_owner = Held(), Held()
    plain_owner.read, compiled_owner.read = plain_owner.remaining, compiled_owner.remaining
    compute = autoconv.compile(getattr(Held, name))
    for _ in range(3):
        assert compute(compiled_owner, x) == getattr(plain_owner, name)(x)
    assert compiled_owner.queue == plain_owner.queue and list(compiled_owner.items) == list(plain_owner.items)


def test_a_frozenset_that_the_file_does_not_name_meets_a_set_of_the_graph(tmp_path, monkeypatch):
    (tmp_path / "of_sets.py").write_text(
        "def joined(n, fixed):\n"
        "    found = set()\n"
        "    for i in range(n):\n"
        "        found.add(i)\n"
        "    return sorted(fixed | found), len(fixed & found), len(fixed - found), len(fixed ^ found)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import of_sets

    compute = autoconv.compile(of_sets.joined)
    for n in (3, 0, 2, 5):
        for fixed in (frozenset({1, 7}), {1, 7}):
            assert compute(n, fixed) == of_sets.joined(n, fixed)


def test_tables_of_many_values_are_not_searched_for_what_is_read():
    assert AttributeReads().with_reachable_classes([{str(i): [i] for i in range(3000)}]) is None
    assert AttributeReads().with_reachable_classes([{str(i): [i] for i in range(300)}]) is not None
