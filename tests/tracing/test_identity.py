"""Lists, dicts and objects that branches and loops change keep their identity, under both decorators."""

# ruff: noqa: F821, RET503 - the programs are meant as they are written

import numpy as np
import pytest

import autoconv as ac

CONTRACTS = [ac.function, ac.compile]


def argument(contract, value):
    return ac.constant(value) if contract is ac.function else value


def plain(result):
    return ac.nest.map_structure(lambda leaf: np.asarray(leaf).item() if hasattr(leaf, "numpy") else leaf, result)


@pytest.fixture(params=CONTRACTS, ids=["function", "compile"])
def check(request):
    def agree(function, *inputs):
        traced = request.param(function)
        for value in inputs:
            assert plain(traced(argument(request.param, value))) == function(value), value
        if request.param is ac.compile:
            assert "plain Python" not in traced.explain(), traced.explain()

    return agree


class Holder:
    pass


def test_changes_of_branches_and_loops_show_under_other_names(check):
    def branch(n):
        d, items = {"k": n}, [n]
        alias = items
        if n > 2:
            d["k"] = d["k"] * 2
            items[0] = items[0] * 3
        return d["k"], items[0], alias[0]

    check(branch, 6, 1)

    def loop(n):
        items = [n]
        alias = items
        while n > 2:
            items[0] = items[0] * 3
            n -= 1
        alias[0] += 1
        return items[0], alias[0]

    check(loop, 6, 1)


def test_a_loop_that_rebinds_the_name_of_a_list(check):
    def assigned(n):
        items = [1, 2]
        alias = items
        for i in range(n):
            items = [i, 2]
        items[0] = 9
        return alias, items

    def longer(n):
        items = [1, 2]
        alias = items
        while n > 0:
            items = items + [n]  # noqa: RUF005 - what people write
            n -= 1
        items.append(5)
        return sum(alias), sum(items)

    def in_a_list(n):
        items = [1, 2]
        holder = [items]
        for i in range(n):
            items = [i, 2]
        items[0] = 9
        return holder[0], items

    def of_the_caller(n):
        def change(items):
            for i in range(n):
                items[0] += 1
                items = [i, i]
            items[1] = 7
            return items

        own_items = [1, 2]
        return change(own_items), own_items

    def changed_by_the_other_name(n):
        table = {"a": 1}
        alias = table
        for i in range(n):
            table = {"a": i}
        alias["a"] = 9
        return table["a"], alias["a"]

    def captured(n):
        items = [1, 2]
        read = lambda items=items: items[0]
        for i in range(n):
            items = [i, 2]
        items[0] = 9
        return read(), items

    def of_an_object(n):
        holder = Holder()
        holder.items = items = [1, 2]
        for i in range(n):
            items = [i, 2]
        items[0] = 9
        return holder.items, items

    def exchanged(n):
        first, second = [1, 2], [3, 4]
        alias = first
        for _ in range(n):
            first, second = second, first
        first[0] = 9
        return first, second, alias

    def of_the_iteration_before(n):
        current = [0, 0]
        before = current
        for i in range(n):
            before = current
            current = [i, current[0]]
        current[0] = 9
        return before, current

    programs = assigned, longer, in_a_list, of_the_caller, changed_by_the_other_name, captured, of_an_object, exchanged
    for program in (*programs, of_the_iteration_before):
        check(program, 0, 1, 2, 3)


def test_a_loop_that_binds_two_names_to_one_list(check):
    def read(n):
        first = second = [0, 0]
        for i in range(n):
            first = second = [i, 2]
        return first[0] + second[1]

    check(read, 0, 1, 3)

    def changed(n):
        first = second = [0, 0]
        for i in range(n):
            first = second = [i, 2]
        first[0] = 9
        return second

    check(changed, 0, 1, 2)


def test_one_of_several_lists(check):
    def chosen(n):
        x, y = [n, 1], [2, 3]
        z = x if n > 2 else y
        z.append(5)
        z[0] += 1
        return x, y, z

    check(chosen, 4, 1)

    def rebound(n):
        x = [n, 1]
        alias = x
        if n > 2:
            x = [7]
        x.append(n)
        return x, alias

    check(rebound, 4, 1)

    def swapped(n):
        a, b = [n], [2]
        if n > 2:
            a, b = b, a
        a.append(1)
        return a, b

    check(swapped, 4, 0)

    def given_back(n):
        x = [n]

        def change():
            x[0] += 1
            return x

        y = change() if n > 2 else [3]
        y[0] *= 10
        return x, y

    check(given_back, 4, 0)


def test_lists_inside_of_others(check):
    def rows(n):
        table = [[n], [1]]
        for i in range(n):
            table[0].append(i)
            table[1][0] += i
        return table

    check(rows, 4, 0)

    def attributes(n):
        holder = Holder()
        holder.items, holder.table = [n], {"k": n}
        alias = holder
        for i in range(n):
            if i > 1:
                holder.items.append(i)
                holder.table["k"] += i
            holder.items[0] -= 1
        return alias.items, alias.table

    check(attributes, 4, 0)


def test_attributes_that_may_be_missing():
    def read(n):
        holder = Holder()
        if n > 2:
            holder.x = n
        return holder.x

    def asked(n):
        holder = Holder()
        if n > 2:
            holder.x = n
        found = 1 if hasattr(holder, "x") else 2
        return found, getattr(holder, "x", -1)

    for contract in CONTRACTS:
        traced = contract(read)
        assert plain(traced(argument(contract, 4))) == 4
        with pytest.raises(AttributeError, match="'Holder' object has no attribute 'x'"):
            traced(argument(contract, 1))
        traced = contract(asked)
        assert [plain(traced(argument(contract, n))) for n in (4, 1)] == [(1, 4), (2, -1)]
    assert not hasattr(Holder, "x")


def test_names_that_an_inner_function_may_assign():
    def f(n):
        def assign():
            nonlocal x
            if n > 2:
                x = 5

        assign()
        return x
        x = 3

    for contract in CONTRACTS:
        traced = contract(f)
        assert plain(traced(argument(contract, 4))) == 5
        with pytest.raises(UnboundLocalError, match="'x'"):
            traced(argument(contract, 1))


def test_computed_keys():
    def added(n):
        d = {"a": 0}
        for i in range(n):
            d["b"] = i
            d["a"] = d["a"] + i
        return d, len(d), "b" in d, "c" in d, d.get("b", -5), d.get("c", -6)

    def removed(n):
        d = {"k": 1, "l": 2}
        if n > 2:
            del d["k"]
        if n > 5:
            d["k"] = 7.5
        return len(d), d.pop("k", 3), d.setdefault("l", 9), d.setdefault("m", 4), d

    def counted(n):
        d = {}
        while n > 0:
            if n % 2 == 0:
                d["even"] = d.get("even", 0) + 1
            else:
                d["odd"] = d.get("odd", 0) + n
            n -= 1
        return d

    for function, inputs in ((added, (4, 0)), (removed, (1, 4, 6)), (counted, (5, 1, 0))):
        traced = ac.function(function)
        for n in inputs:
            assert plain(traced(ac.constant(n))) == function(n), (function, n)
        assert traced.experimental_get_tracing_count() == 1

    @ac.function
    def missing(n):
        d = {}
        if n > 2:
            d["x"] = n
        return d["x"]

    assert missing(ac.constant(3)).numpy() == 3
    with pytest.raises(KeyError, match="x"):
        missing(ac.constant(1))


class Mapping:
    def __init__(self, *items):
        self.items = dict(*items)

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value

    def __contains__(self, key):
        return key in self.items


def test_one_new_object_under_two_names_one_of_which_moves_into_the_graph():
    def branch(n):
        d = Mapping({"a": Mapping({"b": n})})
        inner = Mapping()
        if "a" in d:
            d = d["a"]
            created = Mapping()
        else:
            d = created = Mapping()
        inner["a"] = created
        return "b" in d, "b" in inner["a"]

    def loop(n):
        d = Mapping({"a": Mapping({"b": n})})
        keys = iter(["a", "b"])
        key = next(keys)
        root = inner = Mapping()
        for later in keys:
            if key in d:
                d = d[key]
                created = Mapping()
            else:
                d = created = Mapping()
            inner[key] = inner = created
            key = later
        inner[key] = d[key] if key in d else n  # noqa: SIM401 - it has no `get`
        return root["a"]["b"]

    for function in (branch, loop):
        compiled = ac.compile(function)
        assert [compiled(n) for n in (1, 2)] == [function(n) for n in (1, 2)], compiled.explain()
