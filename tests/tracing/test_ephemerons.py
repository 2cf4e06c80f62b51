"""Ephemerons: a value that refers to its key lives as long as the key, and no attribute shows it."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from autoconv.tracing.key.ephemerons import Ephemerons


class Owner:
    pass


class Value:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner


def test_an_object_and_its_value_are_freed_together() -> None:
    mapping: Ephemerons[Value] = Ephemerons("test")
    kept, dropped = Owner(), Owner()
    for owner in (kept, dropped):
        assert mapping.put(owner, Value(owner))
    assert vars(kept) == {} and isinstance(mapping.get(kept), Value)
    reference = weakref.ref(dropped)
    del owner, dropped
    gc.collect()
    assert reference() is None
    assert vars(kept) == {} and mapping.get(kept).owner is kept  # type: ignore[union-attr]


def test_objects_without_attributes_have_no_values() -> None:
    mapping: Ephemerons[int] = Ephemerons("test")
    assert not mapping.put([], 1) and not mapping.put(1.5, 1)
    assert len(mapping) == 0


class Interrupted(Ephemerons[Value]):
    """A mapping whose collection is interrupted once, after the first half of its work."""

    def take_back_from_owners(self) -> None:
        super().take_back_from_owners()
        if vars(self).setdefault("is_new", True):
            vars(self)["is_new"] = False
            raise KeyboardInterrupt


def test_an_interrupt_in_a_collection_reaches_the_program() -> None:
    mapping = Interrupted("test")
    owner = Owner()
    mapping.put(owner, Value(owner))
    with pytest.raises(KeyboardInterrupt):
        gc.collect()
        for _ in range(1000):
            time.sleep(0.01)
    assert vars(owner) == {} and mapping.get(owner) is not None
