"""Under `compile`, names of one container or object, on some or all paths, still refer to one after the branch."""

import dataclasses
import itertools
import linecache

import pytest

import autoconv


class Box:
    def __init__(self, n):
        self.n = n


class SwallowingManager:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        return True


# Statements after `first, second, alias = …`; {new} is a new object of the same kind.
BODIES = {
    "if": "if b > 0: second = first",
    "if_new": "if b > 0: second = {new}",
    "try": "try:\n    if b > 0: raise ValueError\nexcept ValueError: second = first",
    "try_new": "try:\n    if b > 0: raise ValueError\nexcept ValueError: second = {new}",
    "try_stored": "try:\n    second = first\n    if b > 0: raise ValueError\n    second = {new}\n"
                  "except ValueError: pass",
    "try_alias": "try:\n    second = {new}\n    if b > 0: raise ValueError\nexcept ValueError: second = alias",
    "finally": "try:\n    if b > 0: raise ValueError\n    second = first\nfinally: b = 1",
    "for": "for i in range(b): second = first",
    "for_new": "for i in range(b): second = {new}",
    "for_swapped": "for i in range(b): second, first = first, second",
    "for_try": "for i in range(3):\n    try:\n        if b > i: raise ValueError\n        second = first\n"
               "    except ValueError: alias = second",
    "while": "while b > 0:\n    b -= 1\n    if b == 1: second = alias\n    elif b == 2: second = first\n"
             "    else: second = {new}",
    "with": "with SwallowingManager():\n    if b > 0: raise ValueError\n    second = first",
    "match": "match b:\n    case 1: second = first\n    case 2: second = {new}\n    case _: alias = first",
}  # fmt: skip
KINDS = {
    "list": "[{n}, b]", "dict": "{{{n}: b}}", "set": "{{{n}, b}}", "object": "Box(b)", "in a tuple": "([{n}, b], 1)",
    "in a list": "[[{n}, b]]",
}  # fmt: skip


def program(body, kind):
    first, second, new = (KINDS[kind].format(n=n) for n in (1, 2, 3))
    lines = [f"first = {first}", f"second = {second}", "alias = second", *BODIES[body].format(new=new).split("\n")]
    source = "\n    ".join(["def program(b):", *lines, "return second, first, alias\n"])
    name = f"<{body} {kind}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"Box": Box, "SwallowingManager": SwallowingManager, "__name__": __name__}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def outcome(function, b):
    """Return the results of a call and which of them and their parts are one object, or the class of its exception."""
    try:
        found = function(b)
    except ValueError as error:
        return type(error)
    parts = [part[0] if isinstance(part, tuple) else part for part in found]
    parts += [part[0] for part in parts if isinstance(part, list) and isinstance(part[0], list)]
    shown = [part.n if isinstance(part, Box) else part for part in found]
    return shown, [left is right for left, right in itertools.combinations(parts, 2)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.search
def test_names_of_one_object_before_a_branch_are_one_after_it(body, kind):
    plain = program(body, kind)
    compiled = autoconv.compile(plain)
    for b in (2, -1, 1, 3, 0):
        assert outcome(compiled, b) == outcome(plain, b)
    assert "plain Python" not in compiled.explain()


def twice(n):
    box = Box(n)
    return box, box


def twice_in_a_list(n):
    box = Box(n)
    return [box, Box(2), box]


def twice_by_a_dict(n):
    box = Box(n)
    return [{"a": box}["a"], [box][0]]


def changed_by_another_name(n):
    box = alias = Box(n)
    if n > 0:
        box.n = 2
    return box, alias


def an_attribute(n):
    box, holder = Box(n), Box(0)
    holder.n = box
    if n > 0:
        holder.n = Box(3)
    return box, holder.n


def items_of_a_list(n):
    box = alias = Box(n)
    if n > 0:
        alias = Box(3)
    found = []
    for _ in range(3 - n):
        found.append(box)
        found.append(alias)
    return found


def holds_itself(n):
    box = Box(n)
    box.me = box
    return box, box.me


@pytest.mark.parametrize(
    "function",
    [twice, twice_in_a_list, twice_by_a_dict, changed_by_another_name, an_attribute, items_of_a_list, holds_itself],
)
def test_objects_that_are_returned_twice_are_one(function):
    compiled = autoconv.compile(function)
    for n in (2, -1, 0):
        assert outcome(compiled, n) == outcome(function, n)
    assert "plain Python" not in compiled.explain()


HOLDERS = {
    "list": ("[{}]", "[0]"), "dict": ("{{'k': {}}}", "['k']"), "tuple": ("({}, n)", "[0]"), "object": ("Box({})", ".n"),
    "nested": ("[{{1: Box(({}, 2))}}]", "[0][1].n[0]"),
}  # fmt: skip
CHOICES = {
    "if": "if n > 0: holder = {held}\nelse: holder = {new}",
    "expression": "holder = {held} if n > 0 else {new}",
    "and_or": "holder = (n > 0 and {held}) or {new}",
    "cond": "holder = autoconv.cond(n > 0, lambda: {held}, lambda: {new})",
    "try": "try:\n    if n <= 0: raise ValueError\n    holder = {held}\nexcept ValueError: holder = {new}",
    "for": "holder = {new}\nfor _ in range(n): holder = {held}",
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_container_in_a_new_holder_of_one_path_stays_one(holder, choice):
    expression, access = HOLDERS[holder]
    choose = CHOICES[choice].format(held=expression.format("items"), new=expression.format("[n]"))
    lines = ["items = [n, 5]", *choose.split("\n"), "items.append(7)", f"holder{access}[0] = 8"]
    source = "\n    ".join(["def program(n):", *lines, f"return items, len(holder{access})"])
    filename = f"<held {holder} {choice}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"Box": Box, "autoconv": autoconv}
    exec(compile(source, filename, "exec"), namespace)
    compiled = autoconv.compile(namespace["program"])
    for n in (2, -1, 1):
        assert compiled(n) == (([8, 5, 7], 3) if n > 0 else ([n, 5, 7], 1))


def test_a_result_of_cond_is_named_once_in_reasons():
    held = dataclasses.make_dataclass("Held", ["number"])(1)

    def chosen(n):
        pair = autoconv.cond(n > 0, lambda: (held,), lambda: (1,))
        return pair[0] is held

    compiled = autoconv.compile(chosen)
    assert compiled(1) and not compiled(-1)
    assert "whether the result of cond and another name are one" in compiled.explain()
