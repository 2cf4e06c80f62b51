"""Changes between calls of what functions read, by way of inner functions, classes and arguments; as plain Python."""

import builtins
import collections
import types
import typing

import pytest

import autoconv

WARM = 4


def follows(function, *changes, arguments=(2.0,)):
    """Calls under `compile` give what plain Python gives, before and after each change."""
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


def test_what_an_inner_function_reads_in_traces_after_the_first():
    for _ in range(3):
        change, function = with_an_inner_function()
        follows(function, lambda change=change: change(2.0), lambda change=change: change(5.0))


class Answering:
    """Has an attribute of every name that does not begin with an underscore, and says which were asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        if name.startswith("__dataclass"):
            return self
        raise AttributeError(name)


def test_an_argument_is_not_asked_for_what_classes_say():
    for contract in (autoconv.compile, autoconv.function):
        thing = Answering()
        compute = contract(lambda thing, x: x * 2)
        for _ in range(WARM):
            assert compute(thing, 3.0) == 6.0
        assert thing.asked == []


class Held:
    def __init__(self, value):
        self.value = value


KEPT = None


def a_list(x):
    global KEPT
    KEPT = [x]
    return KEPT


def an_item(x):
    global KEPT
    KEPT = {"a": [x], "b": x}
    return KEPT["a"]


def an_object(x):
    global KEPT
    KEPT = Held(x)
    return KEPT


def an_object_in_a_list(x):
    global KEPT
    made = Held([x])
    KEPT = [made]
    return made, made.value


def what_an_object_holds(x):
    global KEPT
    KEPT = Held([x])
    return KEPT.value


def on_one_path(x):
    global KEPT
    made = [x]
    if x > 2:
        KEPT = made
    return made


PARTS = (
    lambda: KEPT, lambda: KEPT["a"], lambda: KEPT[0], lambda: KEPT[0].value, lambda: KEPT.value,
)  # fmt: skip


def parts_kept(result):
    """Which parts of what is kept are the result, or in it."""
    found = []
    for part in PARTS:
        try:
            held = part()
        except (TypeError, KeyError, AttributeError, IndexError):
            continue
        found.append((held is result, type(result) is tuple and [held is inner for inner in result]))
    return found


@pytest.mark.parametrize(
    "function", [a_list, an_item, an_object, an_object_in_a_list, what_an_object_holds, on_one_path]
)
def test_what_a_call_makes_keeps_and_returns_is_one_object(function):
    global KEPT
    compute = autoconv.compile(function)
    for x in (1.0, 3.0, 2.0, 5.0):
        KEPT = None
        wanted = parts_kept(function(x))
        KEPT = None
        assert parts_kept(compute(x)) == wanted
        assert any(map(any, wanted)) or function is on_one_path


def test_what_a_call_keeps_in_the_name_of_a_closure_and_returns():
    kept = None

    def keeps(x):
        nonlocal kept
        kept = Held(x)
        return kept

    compute = autoconv.compile(keeps)
    for x in (1.0, 2.0, 3.0):
        assert compute(x) is kept


class Queues:
    waiting = collections.deque([1.0, 2.0])  # noqa: RUF012
    nested = [collections.deque([1.0])]  # noqa: RUF012
    held = types.SimpleNamespace(parts=collections.deque([1.0]))
    log = collections.deque([1.0])  # noqa: RUF012

    def total(self, x):
        return x * sum(self.waiting) + len(self.nested[0]) + len(self.held.parts)


def test_data_of_classes_that_cannot_be_guarded():
    thing = Queues()
    follows(
        lambda x: thing.total(x),
        lambda: Queues.waiting.append(5.0),
        lambda: Queues.nested[0].append(1.0),
        lambda: Queues.held.parts.append(1.0),
    )
    follows(lambda x: x * len(Queues.waiting), lambda: Queues.waiting.append(5.0))


class Unread(Queues):
    def half(self, x):
        return x / 2


def test_data_of_classes_that_is_not_read_leaves_a_graph():
    thing = Unread()
    compute = follows(lambda x: thing.half(x), lambda: Queues.log.append(5.0))
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
    thing, name = Held(2.0), "value"
    follows(lambda x: x * builtins.getattr(thing, name), lambda: setattr(thing, "value", 3.0))
    follows(lambda x: x * __builtins__["getattr"](thing, name), lambda: setattr(thing, "value", 4.0))
    follows(
        lambda x: x * 2 if isinstance(thing, HasFactor) else x,
        lambda: setattr(thing, "factor", 1.0),
        lambda: setattr(thing, "scaled", len),
        lambda: delattr(thing, "factor"),
    )
    follows(
        lambda thing, x: x * 2 if isinstance(thing, HasFactor) else x,
        lambda: setattr(thing, "factor", 1.0),
        lambda: delattr(thing, "scaled"),
        arguments=(thing, 2.0),
    )
    mapping = Mapping("a")
    for function, arguments in (
        (lambda x: x * total(**mapping), (2.0,)),
        (lambda x: x * len(dict(mapping)), (2.0,)),
        (lambda mapping, x: x * total(**mapping), (mapping, 2.0)),
        (lambda mapping, x: x * len(dict(mapping)), (mapping, 2.0)),
    ):
        follows(
            function,
            lambda: mapping.names.append(f"b{len(mapping.names)}"),
            lambda: setattr(mapping, "names", ["c"]),
            lambda: setattr(Mapping, "keys", lambda self: ["d", "e"]),
            lambda: setattr(Mapping, "keys", lambda self: self.names),
            arguments=arguments,
        )
