"""Methods that Python makes class methods and static methods by their names, under `compile`."""

from __future__ import annotations

import autoconv

CLASSES: list = []


class Registry:
    """A class that lists its subclasses."""

    @autoconv.compile
    def __new__(cls, size):
        self = super().__new__(cls)
        self.sizes = [size + i for i in range(size)]
        return self

    @autoconv.compile
    def __init_subclass__(cls, /, weight=1, **options):
        super().__init_subclass__(**options)
        CLASSES.append((cls.__name__, weight + 1))

    @autoconv.compile
    def __class_getitem__(cls, item):
        return cls.__name__, item * 2


def test_methods_that_python_wraps_by_their_names():
    class Small(Registry, weight=2):
        pass

    class Large(Registry, weight=2.5):
        pass

    assert CLASSES == [("Small", 3), ("Large", 3.5)]
    assert [Small(n).sizes for n in (1, 2, 3)] == [[1], [2, 3], [3, 4, 5]]
    assert [Large[4], Small[1.5]] == [("Large", 8), ("Small", 3.0)]
    kinds = {name: type(vars(Registry)[name]) for name in ("__new__", "__init_subclass__", "__class_getitem__")}
    assert kinds == {"__new__": staticmethod, "__init_subclass__": classmethod, "__class_getitem__": classmethod}


def test_a_method_that_reads_every_attribute():
    class Counted:
        reads = 0

        @autoconv.compile
        def __getattribute__(self, name):
            Counted.reads += 1
            return 2 * object.__getattribute__(self, name)

    counted = Counted()
    counted.size = 4
    assert [counted.size, counted.size] == [8, 8] and Counted.reads == 2
