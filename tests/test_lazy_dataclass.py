"""Dataclasses whose methods are compiled at their first use are like Python's own."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field

import pytest

from autoconv import lazy_dataclass


def result(function):
    """Return the result of a call, or the type and the text of its error."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


def make_classes(dataclass):
    """Return classes that use each option, by name."""

    @dataclass
    class Plain:
        x: int
        y: list = field(default_factory=list)

    @dataclass(frozen=True)
    class Frozen:
        """A point."""

        x: float
        y: float = 0.0
        note: str = field(default="", compare=False, repr=False)

    @dataclass(frozen=True)
    class Extended(Frozen):
        z: float = 1.0

        def __repr__(self):
            return f"<{self.x} {self.z}>"

    @dataclass(slots=True)
    class Slotted:
        x: int
        total: int = field(default=3, init=False)
        seen: dict = field(default_factory=dict, init=False)

        def __post_init__(self):
            self.total += self.x

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Keywords:
        x: int
        y: int = 2

    @dataclass(eq=False)
    class Identity:
        x: int = 1

    @dataclass(frozen=True)
    class OwnHash:
        x: int = 1

        def __hash__(self):
            return 7

    @dataclass
    class OwnEquality:
        x: int = 1

        def __eq__(self, other):
            return True

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    return {name: value for name, value in locals().items() if isinstance(value, type)}


CASES = [
    "Plain(1)", "Plain(1, [2])", "Plain()", "Plain(1, y=[3]) == Plain(1, [3])", "Plain(1) == 1", "hash(Plain(1))",
    "Plain(1).y is Plain(1).y", "Plain(1) != Plain(2)", "Plain.__match_args__", "Plain(*[1, 2, 3])",
    "Frozen(1.0)", "Frozen(1.0, note='a') == Frozen(1.0)", "hash(Frozen(1.0, 2.0)) == hash((1.0, 2.0))",
    "setattr(Frozen(1.0), 'x', 2.0)", "setattr(Frozen(1.0), 'other', 2.0)", "delattr(Frozen(1.0), 'x')",
    "dataclasses.replace(Frozen(1.0), y=5.0)", "dataclasses.asdict(Frozen(1.0))", "dataclasses.astuple(Frozen(1.0))",
    "[item.name for item in dataclasses.fields(Extended)]", "Extended(1.0, z=3.0)", "Extended(1.0) == Frozen(1.0)",
    "Extended(1.0) == Extended(1.0)", "setattr(Extended(1.0), 'z', 2.0)", "Frozen.__doc__",
    "Slotted(2)", "Slotted(2).total", "Slotted(2).seen", "Slotted(2, 3)", "setattr(Slotted(1), 'other', 1)",
    "hasattr(Slotted(1), '__dict__')", "Keywords(x=1)", "Keywords(1)", "Keywords(x=1, y=3) == Keywords(y=3, x=1)",
    "copy.copy(Keywords(x=1))", "copy.deepcopy(Plain(1, [2]))", "setattr(Keywords(x=1), 'x', 2)",
    "Identity() == Identity()", "len({Identity(), Identity()})", "hash(OwnHash())", "OwnHash() == OwnHash()",
    "OwnEquality(1) == 4", "hash(OwnEquality(1))", "{Empty(): 1}[Empty()]", "Empty()",
    "dataclasses.is_dataclass(Empty)",
    "inspect.signature(Plain)", "inspect.signature(Extended)", "inspect.signature(Keywords)",
    "inspect.signature(Slotted)", "inspect.signature(Empty)", "inspect.signature(Frozen(1.0))",
    "Frozen(float('nan')) == Frozen(float('nan'))", "(lambda p: p == p)(Frozen(float('nan')))",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_results_and_errors_are_those_of_pythons_own(case):
    results = []
    for dataclass in (dataclasses.dataclass, lazy_dataclass.dataclass):
        names = {**make_classes(dataclass), "dataclasses": dataclasses, "copy": copy, "inspect": inspect}
        for _ in range(60):  # the methods are interpreted in the first rounds, and compiled in the last ones
            found = result(lambda names=names: eval(case, names))
            results.append(found if isinstance(found, (tuple, int, dict, list)) else repr(found))
    assert results[1:] == results[:1] * 119


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Pickled:
    x: int
    y: tuple = ()


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_objects_with_slots_are_pickled(protocol):
    assert pickle.loads(pickle.dumps(Pickled(1, (2,)), protocol)) == Pickled(1, (2,))


def test_patterns_match_fields():
    match Pickled(4, (5,)):
        case Pickled(x, (y,)):
            assert (x, y) == (4, 5)


def test_a_subclass_of_another_kind_may_have_more_attributes():
    class Noted(make_classes(lazy_dataclass.dataclass)["Frozen"]):
        pass

    noted = Noted(1.0)
    noted.note_ = 3
    assert noted.note_ == 3
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        noted.x = 2.0


def test_default_values_that_are_mutable_are_refused():
    with pytest.raises(ValueError, match="mutable default"):
        lazy_dataclass.dataclass(type("Shared", (), {"__annotations__": {"x": list}, "x": []}))


