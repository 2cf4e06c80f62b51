"""Iterators and files from outside of the function advance on every call, as in plain Python."""

import csv
import functools
import io
import itertools
import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, deque

import pytest

import autoconv as ac

TEXT = "a\nbb\nccc\ndddd\neeeee"


class Countdown:
    def __init__(self):
        self.left = 6

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return "x" * self.left


class Log(io.StringIO):
    pass


class Numbers(itertools.count):
    pass


ITERATORS = {
    "StringIO": lambda: io.StringIO(TEXT), "its subclass": lambda: Log(TEXT), "BytesIO": lambda: io.BytesIO(b"a\nb\nc"),
    "TextIOWrapper": lambda: io.TextIOWrapper(io.BytesIO(TEXT.encode())),
    "csv.reader": lambda: csv.reader(TEXT.split("\n")), "csv.DictReader": lambda: csv.DictReader(["a,b", "1,2", "3,4"]),
    "finditer": lambda: re.finditer(".", TEXT), "list": lambda: iter(["a", "b", "c", "d"]),
    "deque": lambda: iter(deque("abcd")), "dict": lambda: iter({"a": 1, "b": 2}.items()), "str": lambda: iter("abcd"),
    "islice": lambda: itertools.islice(itertools.cycle("ab"), 6), "chain": lambda: itertools.chain("ab", "cd"),
    "accumulate": lambda: itertools.accumulate("abcd"), "groupby": lambda: itertools.groupby("aabbc"),
    "enumerate": lambda: enumerate("abcd"), "zip": lambda: zip("abcd", "efgh", strict=True),
    "map": lambda: map(str, "abc"), "reversed": lambda: reversed(["a", "b", "c"]),
    "generator": lambda: (c for c in "abcd"), "class": Countdown,
}  # fmt: skip


def first(items):
    for item in items:  # noqa: B007
        break
    return str(item)


def second(items):
    count = 0
    for item in items:
        count += 1  # noqa: SIM113
        if count == 2:
            return str(item)
    return None


CONSUMERS = [
    first, second, lambda items: next(items), lambda items: [str(x) for x in items], lambda items: str(list(items)),
    lambda items: len([*items]), lambda items: str(max(items, key=str)), lambda items: sum(1 for _ in items),
    lambda items: len(sorted(items, key=str)), lambda items: str(list(zip(items, [1, 2], strict=False))),
    lambda items: "b\n" in items, lambda items: str(Counter(map(str, items)).most_common(1)),
    lambda items: str(dict(enumerate(items))), lambda items: any(len(str(x)) > 3 for x in items),
]  # fmt: skip


def outcome(function, *args):
    """Return the result or the error's class and text, without addresses."""
    try:
        result = repr(function(*args))
    except Exception as error:
        result = repr(error)
    return re.sub("0x[0-9a-f]+", "", result)


@pytest.mark.parametrize("name", ITERATORS)
def test_each_call_goes_on_where_the_last_one_stopped(name):
    for consumer in CONSUMERS:
        expected_source, source = ITERATORS[name](), ITERATORS[name]()
        compiled = ac.compile(consumer)
        for _ in range(3):
            assert outcome(compiled, source) == outcome(consumer, expected_source)
        assert outcome(list, source) == outcome(list, expected_source)


def test_a_loop_over_a_file_opened_in_the_function(tmp_path):
    path = tmp_path / "grid.txt"
    path.write_text("1 2\n3 4\n5 6\n")

    @ac.compile
    def read():
        rows = []
        with open(path) as file:
            for line in file:
                rows.append(line.split())
        return rows

    assert [read() for _ in range(3)] == [[["1", "2"], ["3", "4"], ["5", "6"]]] * 3


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (lambda: io.StringIO(TEXT), lambda file: file.tell()), (lambda: io.StringIO(TEXT), lambda file: file.read(3)),
        (lambda: random.Random(3), lambda rng: rng.random()), (lambda: Numbers(3), lambda numbers: next(numbers)),
        (lambda: random.Random(3), lambda rng: rng.getstate()[1][5]),
        (lambda: deque("abc", 4), lambda items: items.popleft() if items else ""),
        (lambda: ElementTree.fromstring("<a><b/></a>"), lambda node: len(node) + len(node.append(node[0]) or "")),
        (lambda: functools.lru_cache(abs), lambda f: f(-2) + f.cache_info().hits),
    ],
)  # fmt: skip
def test_state_of_objects_written_in_c_changes_on_every_call(make, use):
    expected_object, object_ = make(), make()
    compiled = ac.compile(use)
    for _ in range(3):
        assert outcome(compiled, object_) == outcome(use, expected_object)
