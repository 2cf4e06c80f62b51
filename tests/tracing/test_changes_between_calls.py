"""Changes between calls of objects that functions read through inner functions, classes and arguments, as in Python."""

import builtins
import collections
import types
import typing

import pytest

import autoconv

WARM = 4


def check_after_changes(function, *changes, arguments=(2.0,)):
    """Compare calls under `compile` with plain Python, before and after each change."""
    compute = autoconv.compile(function)
    for change in (lambda: None, *changes):
        change()
        for _ in range(WARM):
            assert outcome(compute, arguments) == outcome(function, arguments)
    return compute


def outcome(function, arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def with_an_inner_function():
    n = 1.0

    def change(value):
        nonlocal n
        n = value

    def inner(x):
        return x * n

    return change, lambda x: inner(x)


def test_an_inner_function_reads_names_in_traces_after_the_first():
    for _ in range(3):
        change, function = with_an_inner_function()
        check_after_changes(function, lambda change=change: change(2.0), lambda change=change: change(5.0))


class RecordsMissingAttributes:
    """An object that records which missing attributes are read; it has those whose names begin with `__dataclass`."""

    def __init__(self):
        self.reads = []

    def __getattr__(self, name):
        self.reads.append(name)
        if name.startswith("__dataclass"):
            return self
        raise AttributeError(name)


def test_attributes_of_classes_are_not_read_from_arguments():
    for contract in (autoconv.compile, autoconv.function):
        recorder = RecordsMissingAttributes()
        compute = contract(lambda recorder, x: x * 2)
        for _ in range(WARM):
            assert compute(recorder, 3.0) == 6.0
        assert recorder.reads == []


class Held:
    def __init__(self, value):
        self.value = value


STORED = None


def a_list(x):
    global STORED
    STORED = [x]
    return STORED


def an_item(x):
    global STORED
    STORED = {"a": [x], "b": x}
    return STORED["a"]


def an_object(x):
    global STORED
    STORED = Held(x)
    return STORED


def an_object_in_a_list(x):
    global STORED
    created = Held([x])
    STORED = [created]
    return created, created.value


def an_attribute_of_an_object(x):
    global STORED
    STORED = Held([x])
    return STORED.value


def on_one_path(x):
    global STORED
    created = [x]
    if x > 2:
        STORED = created
    return created


PARTS = (
    lambda: STORED, lambda: STORED["a"], lambda: STORED[0], lambda: STORED[0].value, lambda: STORED.value,
)  # fmt: skip


def result_identities(result):
    """Return which parts of the stored object are the result, or an item of it."""
    found = []
    for part in PARTS:
        try:
            stored = part()
        except (TypeError, KeyError, AttributeError, IndexError):
            continue
        found.append((stored is result, type(result) is tuple and [stored is inner for inner in result]))
    return found


@pytest.mark.parametrize(
    "function", [a_list, an_item, an_object, an_object_in_a_list, an_attribute_of_an_object, on_one_path]
)
def test_an_object_that_a_call_makes_stores_and_returns_is_one(function):
    global STORED
    compute = autoconv.compile(function)
    for x in (1.0, 3.0, 2.0, 5.0):
        STORED = None
        expected = result_identities(function(x))
        STORED = None
        assert result_identities(compute(x)) == expected
        assert any(map(any, expected)) or function is on_one_path


def test_an_object_that_a_call_stores_in_a_closure_and_returns_is_one():
    stored = None

    def keeps(x):
        nonlocal stored
        stored = Held(x)
        return stored

    compute = autoconv.compile(keeps)
    for x in (1.0, 2.0, 3.0):
        assert compute(x) is stored


class Queues:
    waiting = collections.deque([1.0, 2.0])  # noqa: RUF012
    nested = [collections.deque([1.0])]  # noqa: RUF012
    held = types.SimpleNamespace(parts=collections.deque([1.0]))
    log = collections.deque([1.0])  # noqa: RUF012

    def total(self, x):
        return x * sum(self.waiting) + len(self.nested[0]) + len(self.held.parts)


def test_data_of_classes_that_cannot_be_guarded():
    queues = Queues()
    check_after_changes(
        lambda x: queues.total(x),
        lambda: Queues.waiting.append(5.0),
        lambda: Queues.nested[0].append(1.0),
        lambda: Queues.held.parts.append(1.0),
    )
    check_after_changes(lambda x: x * len(Queues.waiting), lambda: Queues.waiting.append(5.0))


class Unread(Queues):
    def half(self, x):
        return x / 2


def test_data_of_classes_that_is_not_read_leaves_a_graph():
    unread = Unread()
    compute = check_after_changes(lambda x: unread.half(x), lambda: Queues.log.append(5.0))
    assert compute.concrete_functions


@typing.runtime_checkable
class HasFactor(typing.Protocol):
    factor: float

    def scaled(self, x): ...


class Mapping:
    def __init__(self, *names):
        self.names = list(names)

    def keys(self):
        return self.names

    def __getitem__(self, name):
        return 2.0


def total(**parts):
    return sum(parts.values())


def test_attributes_that_are_read_by_no_name_in_the_text():
    owner, name = Held(2.0), "value"
    check_after_changes(lambda x: x * builtins.getattr(owner, name), lambda: setattr(owner, "value", 3.0))
    check_after_changes(lambda x: x * __builtins__["getattr"](owner, name), lambda: setattr(owner, "value", 4.0))
    check_after_changes(
        lambda x: x * 2 if isinstance(owner, HasFactor) else x,
        lambda: setattr(owner, "factor", 1.0),
        lambda: setattr(owner, "scaled", len),
        lambda: delattr(owner, "factor"),
    )
    check_after_changes(
        lambda owner, x: x * 2 if isinstance(owner, HasFactor) else x,
        lambda: setattr(owner, "factor", 1.0),
        lambda: delattr(owner, "scaled"),
        arguments=(owner, 2.0),
    )
    mapping = Mapping("a")
    for function, arguments in (
        (lambda x: x * total(**mapping), (2.0,)),
        (lambda x: x * len(dict(mapping)), (2.0,)),
        (lambda mapping, x: x * total(**mapping), (mapping, 2.0)),
        (lambda mapping, x: x * len(dict(mapping)), (mapping, 2.0)),
    ):
        check_after_changes(
            function,
            lambda: mapping.names.append(f"b{len(mapping.names)}"),
            lambda: setattr(mapping, "names", ["c"]),
            lambda: setattr(Mapping, "keys", lambda self: ["d", "e"]),
            lambda: setattr(Mapping, "keys", lambda self: self.names),
            arguments=arguments,
        )
