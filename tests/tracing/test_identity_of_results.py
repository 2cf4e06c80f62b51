"""Identity under `compile` of returned objects, and of names that branches and loops bind: as in plain Python."""

from dataclasses import dataclass

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls, outcome

MADE_BEFORE, HELD_BEFORE = [1, 2], {"a": [1]}


def test_objects_from_before_the_call_are_returned_as_themselves():
    def in_a_loop(n, items):
        found = n
        for _ in range(n):
            found = items
        return found, items

    def in_a_variant(n, items):
        first, second = [n], [n, 1]
        chosen = first if n > 0 else second
        return (n, chosen), (first, second), items[0]

    compiled_list, plain_list = [4], [1, 2]
    compiled = ac.compile(in_a_loop)
    for n in range(3):
        found, given = compiled(n, plain_list)
        assert given is plain_list
        assert found is (plain_list if n else 0) or found == 0
    compiled = ac.compile(in_a_variant)
    for n in (1, -1):
        (_, chosen), pair, first = compiled(n, [compiled_list])
        assert chosen is pair[n < 0]
        assert first is compiled_list
    for outer in (lambda n: (MADE_BEFORE, n), lambda n: (HELD_BEFORE["a"], n)):
        compiled = ac.compile(outer)
        assert compiled(3)[0] is outer(3)[0]
        assert "plain Python" not in compiled.explain()


def test_a_list_that_a_loop_returns_needs_no_object_of_the_graph():
    def f(x, y):
        v = 1.5
        for _ in range(2, y, 2):
            if x > 100:
                return [x, v]
            v = v + 1
            if x > 50:
                return v * 0.5
        return 1

    compiled = ac.compile(f)
    for arguments in ((1, 9), (101, 9), (60, 9), (200, 0), (1, 0)):
        assert compiled(*arguments) == f(*arguments)
    assert compiled.experimental_get_tracing_count() == 1 and "plain Python" not in compiled.explain()


def test_objects_that_one_path_changes_and_another_replaces():
    class Box:
        def __init__(self, n):
            self.n = n
            self.parts = [n]

    def replaced(a, b):
        box = Box(a)
        if b > 0:
            box.n = b
        else:
            box = Box(7)
        return box.n

    def by_another_name(a, b):
        box = alias = Box(a)
        if b > 0:
            box.n = b
            box.parts.append(3)
        elif b < 0:
            box = Box(7)
        return box.n, alias.n, box.parts, alias.parts

    def returned_early(a, b):
        items, box = [0, 5, b], Box(a)
        if b > 3:
            return f"{a}"
        items.append(b)
        if a:
            return 1
        return a, items, box.n

    def a_list_or_an_object(a, b):
        items, box = [3, a, 1], Box(a)
        chosen = items if b > 0 else box
        if b > 0:
            chosen[0] = 9
        else:
            chosen.n = 7
        return items, box.n

    calls = (0, 1), (5, 4), (9, -3), (0, -1), (2, 0)
    for program in (replaced, by_another_name, returned_early, a_list_or_an_object):
        check_calls(program, *calls)


def test_a_loop_that_binds_a_name_to_an_earlier_list():
    def f(n):
        items, items_after = [3, n, 1], [0, 5, n]
        for _ in range(n):
            items = items_after
        return items.count(items_after), items is items_after, items

    check_calls(f, (0,), (1,), (3,))


class Held:
    def __init__(self, n):
        self.n = n


def two_names_of_one_object(a, b):
    if a > b:
        p = Held(a)
        q = p
    else:
        q = p = Held(3)
    q.n += 1
    r = s = None
    for _ in range(2):
        if a > 0:
            r = s = Held(b)
    total = p.n if r is None else p.n + r.n + s.n
    return total if p is q else -1


def test_two_names_of_an_object_that_a_branch_made():
    check_calls(two_names_of_one_object, (1, 2), (0, 0), (7, 3), (-1, -4))
    traced = ac.function(two_names_of_one_object)
    for a, b in (1, 2), (0, 0), (7, 3), (-1, -4):
        assert int(traced(ac.constant(a), ac.constant(b))) == two_names_of_one_object(a, b)


def test_names_of_one_object_on_some_paths_stay_aliases():
    def compared(a, b):
        if a > b:
            p = q = Held(a)
        else:
            p, q = Held(3), Held(3)
        return p is q, p == q, p is not q, p in [q]

    def changed(a, b):
        if a > b:
            p = Held(a)
            items = [p]
        else:
            p = Held(3)
            items = [p]
        items[0].n = 4
        return p.n

    def carried(a, b):
        q = None
        for _ in range(b):
            p = q = Held(a)
        return p is q if q else a

    for function in (compared, changed, carried):
        compiled = ac.compile(function)
        for arguments in ((1, 2), (0, 1), (7, 3)):
            assert outcome(compiled, arguments) == outcome(function, arguments)


@dataclass(eq=False)
class Linked:
    value: object
    next: object = None


def in_an_arm(head, k):
    head.value = k
    if k > 3:
        return 3
    return [head]


def instead_of_a_new_object(head, k):
    head.value, found = k, head
    if k > 3:
        found = Linked(3)
    return found


def in_a_loop_of_the_graph(head, k):
    head.value, found = k, []
    for _ in range(k):
        head.value += 1
        found = [head]
    return found


def along_a_chain(head, k):
    new = Linked(k)
    new.value, head.value = head.value, new.value
    node, found, seen = head, [], set()
    while node is not None and id(node) not in seen:
        seen.add(id(node))
        found.append(node)
        node = node.next
    return found


def searched(head, k):
    head.next.value, count = k, 0
    if k > 1:
        head.value = k + 1
    for node in [head, head.next, Linked(2)]:
        if node.value > 1:
            count += 1
            node.value -= 1
    return [head, count]


PROGRAMS = [in_an_arm, instead_of_a_new_object, in_a_loop_of_the_graph, along_a_chain, searched]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_argument_that_is_written_is_returned_as_itself(program):
    compiled = ac.compile(program)
    for k in (1, 2, 3):
        plain_head, compiled_head = Linked(5, Linked(6)), Linked(5, Linked(6))
        expected, found = program(plain_head, k), compiled(compiled_head, k)
        assert (found[0] if isinstance(found, list) else found) is compiled_head
        assert isinstance(found, list) is isinstance(expected, list)
        assert type(compiled_head.value) is int
        assert (compiled_head.value, compiled_head.next.value) == (plain_head.value, plain_head.next.value)


def after_a_loop_with_break(head, k):
    if k > 2:
        return k
    for _ in range(k):
        if k > 2:
            return k
        head.value += 1
    new = Linked(k)
    return new, new


def test_one_object_after_two_branches_is_one_in_the_result():
    compiled = ac.compile(after_a_loop_with_break)
    for k in (1, 3, 2, 1):
        found = compiled(Linked(5), k)
        assert found == k if k > 2 else found[0] is found[1] and found[0].value == k
