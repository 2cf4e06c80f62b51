"""Special methods under @autoconv.compile behave within traces as plain ones: descriptors, operators, hooks."""

from __future__ import annotations

import pytest

import autoconv as ac


def _make_classes(decorate):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        @decorate
        def __get__(self, obj, owner=None):
            return getattr(obj, self.name)

        @decorate
        def __set__(self, obj, value):
            if value < 0:
                raise ValueError(f"{self.name} is {value}")
            setattr(obj, self.name, value)

    class Item:
        price = Positive()
        count = 0

        @decorate
        def __init__(self, price):
            self.price = price
            Item.count += 1

        @decorate
        def __add__(self, other):
            return Item(self.price + other)

        @decorate
        def __eq__(self, other):
            return self.price == other.price

        @decorate
        def __bool__(self):
            return self.price > 2

        @property
        def total(self):
            return self.price * 2

    return Item


def _use(item_class, decorate):
    @decorate
    def add_up(item, n):
        for i in range(n):
            item = item + i if item else item + 5
        return item.price, item.total, item == item + 0

    results = []
    for n in range(6):
        item = item_class(n)
        results.append((add_up(item, n), item_class.count, item.price, bool(item)))
        with pytest.raises(AttributeError) as caught:
            item.total = 3
        results.append(str(caught.value))
        with pytest.raises(ValueError) as caught:
            item.price = -n - 1
        results.append((str(caught.value), vars(item)))
    return results


def test_compiled_special_methods_behave_as_plain_ones():
    plain_class, compiled_class = _make_classes(lambda f: f), _make_classes(ac.compile)
    total = vars(compiled_class)["total"]
    assert _use(compiled_class, ac.compile) == _use(plain_class, lambda f: f)
    assert vars(compiled_class)["total"] is total, "traces leave classes as they were"


class Entry:
    name = "age"

    def __set__(self, obj, value):
        vars(obj)[self.name] = value


def _make_user(decorate):
    class CompiledEntry(Entry):
        @decorate
        def __get__(self, obj, owner=None):
            return self if obj is None else obj.__dict__.get(self.name, 0)

    class User:
        age = CompiledEntry()

        @decorate
        def grow(self, n):
            for _ in range(n):
                self.age += 1
            return self.age

    return User


def test_attributes_behind_descriptors_are_read_from_the_object():
    plain_class, compiled_class = _make_user(lambda f: f), _make_user(ac.compile)
    for n in range(8):
        plain, compiled = plain_class(), compiled_class()
        plain.age = compiled.age = n
        for _ in range(3):
            assert compiled.grow(n % 3 + 1) == plain.grow(n % 3 + 1)
            assert vars(compiled) == vars(plain)
            plain.age = compiled.age = plain.age * 2
            assert compiled.age == plain.age
