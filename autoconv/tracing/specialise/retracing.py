"""Warnings about frequent retracing, and wider keys, which reduce it."""

from __future__ import annotations

import ctypes
import logging
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from autoconv.forks import new_lock
from autoconv.graph.types import join_shapes
from autoconv.runtime.support.composite_structures import join_templates
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.bounded_mapping import Bounded
from autoconv.tracing.key.cache_key import Key, LeafKey, TensorKey

_HISTORY = 8  # number of last calls that count
_MANY = 5  # traces among them that cause a warning
_WARNINGS = 2  # warnings per function
OWN_TRACES = 2  # traces for single shapes of the same arguments, before sizes are left open
_KNOWN_INSTANCES = 256  # instances per method whose calls are counted
_UNDER_FUNCTION = (
    "%d out of the last %d calls to %r%s triggered autoconv.function retracing. Tracing is expensive. What is behind "
    "so many traces could be (1) creating @autoconv.function repeatedly in a loop, (2) passing tensors with different "
    "shapes, or (3) passing Python objects instead of tensors. For (1), decorate the function once, outside of the "
    "loop. For (2), @autoconv.function(reduce_retracing=True) makes traces that serve several shapes. For (3), pass "
    "tensors, or see in explain() which argument or outer name differed."
)
_UNDER_COMPILE = (
    "%d out of the last %d calls to %r%s made a trace. Tracing is expensive. What is behind so many traces could be "
    "(1) creating @autoconv.compile functions repeatedly in a loop, (2) passing arrays with different dtypes, numbers "
    "of dimensions, or sizes that cannot stay open, or (3) other values of arguments and outer names that are "
    "constants of a trace. For (1), decorate the function once, outside of the loop. For (2) and (3), explain() shows "
    "what differed, and why sizes cannot stay open."
)

_LOGGER = logging.getLogger("autoconv")


class Retracing:
    """Count the calls of one Python function, and warn when most of them traced."""

    def __init__(self) -> None:
        self.cell = ctypes.c_int64(0)  # native code counts here, too
        self._traced: deque[int] = deque(maxlen=_HISTORY)
        self._warnings = 0

    @property
    def calls(self) -> int:
        return self.cell.value

    @calls.setter
    def calls(self, count: int) -> None:
        self.cell.value = count

    def note_trace(self, function: Callable[..., Any], is_compiled: bool = False) -> None:
        """Note that the call which `calls` counted last has traced, under `compile` or `function`.

        Several traces without a call between them, as of `get_concrete_function`, count as one.
        """
        if self._traced and self._traced[-1] == self.calls:
            return
        self._traced.append(self.calls)
        while self.calls - self._traced[0] >= _HISTORY:
            self._traced.popleft()
        count, total = len(self._traced), self.calls - self._traced[0] + 1
        if count >= _MANY and self._warnings < _WARNINGS:
            self._warnings += 1
            text = _UNDER_COMPILE if is_compiled else _UNDER_FUNCTION
            _LOGGER.warning(text, count, total, function, _definition_place(function))


def _definition_place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"


# Keyed by code, then by the instance of a method.
_FUNCTIONS: weakref.WeakKeyDictionary[Any, Bounded[int, Retracing]] = weakref.WeakKeyDictionary()
_LOCK = new_lock()


def retracing_of(function: Callable[..., Any]) -> Retracing:
    """Return the counts of a function; functions created repeatedly from one definition (in a loop, say) share them.

    Those that only replay a saved graph have counts of their own, as all of them have one definition.
    """
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or getattr(function, "__autoconv_replays_graph__", False):
        return Retracing()
    with _LOCK:
        by_instance = _FUNCTIONS.setdefault(code, Bounded(_KNOWN_INSTANCES))
        instance = id(getattr(function, "__self__", None))
        if instance not in by_instance:
            by_instance[instance] = Retracing()
        return by_instance[instance]


def wider_key(key: Key, keys: Iterable[Key]) -> Key:
    """Return the key with the shapes that it has in common with the first of `keys` that can share a trace with it."""
    for other in keys:
        templates = _joined_templates(other, key)
        if templates is None or other == key or not _is_alike(replace(other, templates=key.templates), key):
            continue
        leaves = [_common_key(mine, its) for mine, its in zip(key.leaves, other.leaves, strict=True)]
        if all(leaf is not None for leaf in leaves):
            return replace(key, templates=templates, leaves=tuple(leaves))
    return key


def _joined_templates(one: Key, other: Key) -> tuple[Any, ...] | None:
    """Return structures of arguments that hold those of both keys, with wider specs of composites; None for none."""
    if one.templates == other.templates or len(one.templates) != len(other.templates):
        return other.templates if one.templates == other.templates else None
    try:
        return tuple(
            (name, join_templates(mine, its))
            for (name, mine), (_, its) in zip(one.templates, other.templates, strict=True)
        )
    except ValueError:
        return None


def open_key(key: Key, keys: Iterable[Key], never: Collection[Key]) -> Key:
    """Return the key with the sizes open in which earlier calls differ, once two of them had traces of their own."""
    wide, count = key, 0
    for other in keys:
        if other == key or not _is_alike(other, key):
            continue
        leaves = [_common_key(mine, its) for mine, its in zip(wide.leaves, other.leaves, strict=True)]
        if all(leaf is not None and _has_rank(leaf) for leaf in leaves):
            wide, count = replace(wide, leaves=tuple(leaves)), count + 1
    return wide if count >= OWN_TRACES and wide not in never else key


def _is_alike(one: Key, other: Key) -> bool:
    """Return whether two keys differ in their leaves alone."""
    if len(one.leaves) != len(other.leaves):
        return False
    mine, its = ((key.templates, key.orders, key.overlaps, key.memory) for key in (one, other))
    return mine == its


def _has_rank(leaf: LeafKey) -> bool:
    return not isinstance(leaf, TensorKey) or leaf.type.shape is not None


def _common_key(mine: LeafKey, its: LeafKey) -> Any:
    """Return a key that accepts both leaves; None where there is none."""
    if mine == its:
        return mine
    if isinstance(mine, ArrayKey) and isinstance(its, ArrayKey):
        return mine.joined(its)
    if not (isinstance(mine, TensorKey) and isinstance(its, TensorKey)) or mine.origin != its.origin:
        return None
    if (mine.type.dtype, mine.type.weak) != (its.type.dtype, its.type.weak):
        return None
    return TensorKey(mine.type.with_shape(join_shapes(mine.type.shape, its.type.shape)), mine.origin)
