"""Objects with a `__getattr__`, or with attributes of the package's own classes: only the program reads them."""

import functools

import pytest

import autoconv

read_attributes: list[str] = []


def get_missing(self, name):
    read_attributes.append(name)
    return len(read_attributes)


class Open:
    __getattr__ = get_missing

    def __init__(self, n):
        self.n = n

    def fetch(self):
        read_attributes.append("fetch")

    def item(self):
        return "an item"

    ndim = 0


class Slotted:
    __slots__ = ("empty", "n")
    __getattr__ = get_missing

    def __init__(self, n):
        self.n = n


box: list = []


def read(o, k):
    return next(iter(box)), k + 1, o is box[0]


def read_in_handler(o, k):
    try:
        if k > 1:
            raise ValueError(o)
    except ValueError as error:
        return next(iter(box)).n, error.args
    return o.missing


def stored(o, k):
    box[0] = o
    box.append(k)
    return box[0]


def chosen(o, k):
    best = None
    for item in box:
        if best is None or item.n > best.n * k:
            best = item
    return best, [o for _ in range(k)]


def written(o, k):
    o.n = o.n + k
    if k > 1:
        o.empty = k
    return o


def made_in_the_call(o, k):
    created = type(o)(k)
    if k > 1:
        created.n = k * 2
    return created, created.n, f"{k}"


def text_of_objects(o, k):
    if k > 1:
        raise ValueError(o, f"{k}")
    return isinstance(o, Open), callable(o), {k: o}


@pytest.mark.parametrize("kind", [Open, Slotted])
@pytest.mark.parametrize("program", [read, read_in_handler, stored, chosen, written, made_in_the_call, text_of_objects])
def test_only_the_program_reads_attributes(program, kind, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")
    found = []
    for function in (program, autoconv.compile(program)):
        read_attributes.clear()
        box[:] = [kind(7), kind(5)]
        results = []
        for k in (1, 2, 3, 0):
            try:
                result = function(kind(k), k)
            except ValueError as error:
                result = error.args
            results.append(describe(result))
        found.append((results, [*read_attributes]))
    assert found[0] == found[1]


def describe(value):
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if isinstance(value, dict):
        return [(key, describe(item)) for key, item in value.items()]
    return (type(value).__name__, value.n) if isinstance(value, (Open, Slotted)) else value


class Record:
    def __init__(self, **fields):
        self.__dict__["fields"] = fields

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"no {name}") from None


@pytest.mark.parametrize("read", [lambda r: r.w if hasattr(r, "h") else 5, lambda r: getattr(r, "h", 7), lambda r: r.h])
def test_handlers_that_raise_for_missing_attributes(read, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")

    def run(record):
        try:
            return read(record)
        except Exception as error:
            return repr(error)

    compiled = autoconv.compile(run)
    for fields in ({"w": 2}, {"w": 2, "h": 3}, {}, {"h": 1.5}, {"w": 1}):
        assert compiled(Record(**fields)) == run(Record(**fields))


class Level:
    def __get__(self, instance, owner=None):
        if instance.n > 1:
            raise AttributeError("no level")
        return instance.n


class Checked:
    level = Level()

    def __init__(self, n):
        self.n = n

    @property
    def share(self):
        if self.n > 1:
            raise AttributeError("no share")
        return self.n

    @property
    def handled(self):
        try:
            return 6 // (self.n - 1)
        except ZeroDivisionError:
            raise AttributeError("not handled") from None

    @functools.cached_property
    def root(self):
        if self.n > 1:
            raise AttributeError("no root")
        return self.n


class Computed(Checked):
    def __getattr__(self, name):
        return 77


@pytest.mark.parametrize("name", ["level", "share", "handled", "root"])
@pytest.mark.parametrize("cls", [Checked, Computed])
def test_getters_that_raise_attribute_errors_for_values_of_the_call(cls, name, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")

    def has(n):
        return hasattr(cls(n), name)

    def default(n):
        try:
            return getattr(cls(n), name, 7)
        except LookupError:
            return 8

    def read(n):
        try:
            return getattr(cls(n), name), 1
        except AttributeError as error:
            return str(error)

    for function in (has, default, read):
        compiled = autoconv.compile(function)
        assert [compiled(n) for n in range(4)] == [function(n) for n in range(4)]
