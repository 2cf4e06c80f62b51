"""Arguments that are graphs of objects: identity, writes, and the number of traces."""

import copy
from collections import OrderedDict
from dataclasses import dataclass, field

import pytest

import autoconv as ac


@dataclass
class Item:
    weight: int
    name: str = ""


@dataclass
class Node:
    value: int
    next: object = None
    links: list = field(default_factory=list)


@dataclass(frozen=True)
class Fixed:
    value: int
    next: object = None


class NodeWithAttributes:
    def __init__(self, value):
        self.value = value
        self.head = self.tail = None
        self.links = []


class Bag(list):
    pass


class Table(dict):
    pass


def chain(length, kind=Node):
    head = None
    for value in range(length, 0, -1):
        head = kind(value, head)
    return head


def values(head):
    found = []
    while head is not None:
        found.append(head.value)
        head = head.next
    return found


def heavy(items, least):
    return [item for item in items if item.weight > least]


def by_weight(items, least):
    return sorted(items, key=lambda item: item.weight)


def filtered(items, least):
    return list(filter(lambda item: item.weight > least, items))


def of_a_dict(items, least):
    return list({item.name: item for item in items}.values())


def first_or_last(items, least):
    return [items[0] if least > 1 else items[-1]]


@pytest.mark.parametrize("function", [heavy, by_weight, filtered, of_a_dict, first_or_last])
@pytest.mark.parametrize("count", [2, 5, 40])
def test_the_callers_own_objects_come_out(function, count):
    compiled = ac.compile(function)
    for least in (2, 0, 3):
        items = [Item(at * 3 % 7, f"n{at}") for at in range(count)]
        before = copy.deepcopy(items)
        found = compiled(items, least)
        assert [id(item) for item in found] == [id(item) for item in function(items, least)]
        assert items == before
        assert all(type(item.weight) is int for item in items)


def cut(head, k):
    for _ in range(k):
        head = head.next
    tail = head.next
    head.next = None
    return tail


@pytest.mark.parametrize("length", [4, 5, 20, 50, 900])
def test_a_chain_is_cut(length):
    compiled = ac.compile(cut)
    for _ in range(3):
        head = chain(length)
        tail = compiled(head, 2)
        assert values(head) == [1, 2, 3]
        assert values(tail) == list(range(4, length + 1))


@pytest.mark.parametrize("kind", [Node, Fixed])
@pytest.mark.parametrize("length", [1, 31, 50, 900])
def test_a_chain_is_walked(kind, length):
    @ac.compile
    def total(head):
        found = 0
        while head is not None:
            found += head.value
            head = head.next
        return found

    assert total(chain(length, kind)) == total(chain(length, kind)) == sum(range(length + 1))


def test_the_last_one_may_be_the_callers():
    @ac.compile
    def moved(node, k):
        for step in range(k):
            node = Node(node.value + step)
        return node

    for k in (0, 3, 0):
        node = Node(1)
        found = moved(node, k)
        assert (found is node) == (k == 0)
        assert found.value == 1 + sum(range(k))


def cycle_of_nodes():
    node = Node(1)
    node.next = node
    return node


def list_in_itself():
    knot = [1]
    knot.append(knot)
    return knot


def dict_in_itself():
    knot = {"a": 1}
    knot["b"] = knot
    return knot


def shared_list():
    shared = [Item(1)]
    return [shared, (shared, 2)]


def a_tower():
    tower = (1, 2)
    for _ in range(60):
        tower = (tower, tower)
    return tower


@pytest.mark.parametrize("make", [cycle_of_nodes, list_in_itself, dict_in_itself, shared_list, a_tower])
def test_cyclic_arguments_run_plain(make):
    @ac.compile
    def beside(knot, k):
        return knot, k + 1

    for k in (1, 2):
        held = make()
        found, following = beside(held, k)
        assert found is held
        assert following == k + 1
    assert "plain Python" in beside.explain()


def test_function_refuses_cyclic_arguments():
    with pytest.raises(ValueError, match="contains itself"):
        ac.function(lambda held: held[0])(list_in_itself())


def test_a_new_object_under_two_names_is_one():
    @ac.compile
    def begin(pair, k):
        pair.head = pair.tail = NodeWithAttributes(k)
        return pair

    for k in (1, 2):
        pair = NodeWithAttributes(0)
        assert begin(pair, k) is pair
        assert pair.head is pair.tail
        assert pair.head.value == k


def test_a_tuple_is_itself():
    is_same = ac.compile(lambda a, b, k: (a is b, k + 1))
    first = (1, 2.5)
    equal = copy.copy((*first[:1], 2.5))
    assert is_same(first, first, 1) == (True, 2)
    assert is_same(first, equal, 1) == (False, 2)


SHOWN = [Item(1), Fixed(2), Bag([1, 2]), Table(a=1), OrderedDict(a=1), [Bag([1])]]


@pytest.mark.parametrize("held", SHOWN, ids=lambda held: type(held).__name__)
def test_text_shows_values(held):
    def texts(held, k):
        percent = "%r" % (held,)  # noqa: UP031
        return f"{held}", percent, str(held), repr(held), f"{[held, k]}", "{!r:>40}".format(held)  # noqa: UP032

    compiled = ac.compile(texts)
    for k in (1, 2):
        assert compiled(copy.deepcopy(held), k) == texts(held, k)


def write_by_list(nodes, node, k):
    nodes.append(node)
    for x in nodes:
        x.value = x.value + k
    return node.value


def write_in_list(nodes, node, k):
    nodes.append(node)
    for x in nodes:
        x.links.append(k)
    return node.links, len(node.links)


def write_an_argument(links, node, k):
    links.append(k)
    return node.links[-1], len(node.links)


@pytest.mark.parametrize("function", [write_by_list, write_in_list, write_an_argument])
@pytest.mark.parametrize("kind", [NodeWithAttributes, Node])
def test_writes_by_another_name_are_read(function, kind):
    compiled = ac.compile(function)
    for k in (3, 4):
        compiled_node, plain_node = kind(1), kind(1)
        if function is write_an_argument:
            compiled_list, plain_list = compiled_node.links, plain_node.links
        else:
            compiled_list, plain_list = [kind(5)], [kind(5)]
        assert compiled(compiled_list, compiled_node, k) == function(plain_list, plain_node, k)
        assert compiled_node.links == plain_node.links
        assert compiled_node.value == plain_node.value


def test_objects_are_raised_as_they_are():
    @ac.compile
    def fails(node, k):
        if node.value > k:
            raise ValueError(node, [node])
        return k

    node = Node(5)
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            fails(node, 1)
        assert raised.value.args[0] is node
        assert raised.value.args[1] == [node]
        assert raised.value.args[1][0] is node


def test_frozen_objects_move_into_the_graph():
    @ac.compile
    def collected(items, k):
        fixed = Fixed(k)
        items.append(fixed)
        return items[-1].value, fixed.value

    held = [1]
    assert collected(held, 3) == (3, 3)
    assert held == [1, Fixed(3)]


def test_a_call_is_traced_a_bounded_number_of_times(monkeypatch):
    """The number of restarts of a trace is bounded, whatever their reason."""
    from autoconv.tracing.guards import trace_restrictions
    from autoconv.tracing.specialise import trace_feedback

    monkeypatch.setitem(trace_restrictions.WORK_LIMITS, trace_restrictions.ATTEMPT, 20)
    monkeypatch.setattr(trace_feedback.TraceFeedback, "bind_for_restart", lambda self, call, wanted: None)
    attempts = []
    spend = trace_restrictions.TracingBudget.__call__
    monkeypatch.setattr(
        trace_restrictions.TracingBudget, "__call__",
        lambda self, unit: (attempts.append(1) if unit == trace_restrictions.ATTEMPT else None, spend(self, unit))[1],
    )  # fmt: skip
    head = chain(4)
    compiled = ac.compile(cut)
    assert values(compiled(head, 1)) == [3, 4]
    assert values(head) == [1, 2]
    assert len(attempts) == 21
    assert "restarted more than 20 times" in compiled.explain()


def test_restarts_of_a_call_take_a_bounded_time(monkeypatch):
    from autoconv.config import SETTINGS
    from autoconv.tracing.api import trace_maker
    from autoconv.tracing.specialise import plain_presumption

    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    monkeypatch.setattr(plain_presumption, "SHORT_ESTIMATE", 0.0)
    monkeypatch.setattr(trace_maker, "_MAX_RESTART_SECONDS", 0.0)
    head = chain(4)
    compiled = ac.compile(cut)
    assert values(compiled(head, 1)) == [3, 4]
    assert values(head) == [1, 2]
    assert "restarts of the trace took" in compiled.explain()


@dataclass(slots=True, eq=False)
class Slotted:
    value: int
    next: object = None
    links: list = field(default_factory=list)


def insert(node, value):
    if node is None:
        return Slotted(value)
    if value < node.value and node.next is not None and node.next.value < node.value:
        node.next = insert(node.next, value)
    else:
        node.next = Slotted(value, node.next)
    return node


def inserted(head, nodes, k):
    nodes.insert(k, head)
    insert(head.next, k)
    return nodes[0].next


def test_restarts_for_a_new_object_that_is_taken_for_an_outer_one_are_bounded(monkeypatch):
    from autoconv.tracing.guards import trace_restrictions

    attempts = []
    spend = trace_restrictions.TracingBudget.__call__
    monkeypatch.setattr(
        trace_restrictions.TracingBudget, "__call__",
        lambda self, unit: (attempts.append(1) if unit == trace_restrictions.ATTEMPT else None, spend(self, unit))[1],
    )  # fmt: skip
    compiled = ac.compile(inserted)
    head = Slotted(3, Slotted(-2, Slotted(-1)))
    tail = head.next
    assert compiled(head, [], 2) is tail
    assert values(head) == [3, -2, 2, -1]
    assert len(attempts) < 15
