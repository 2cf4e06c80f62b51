"""Warnings about frequent retracing, and keys with open sizes, which reduce it."""

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
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import Key, LeafKey, TensorKey

_COUNTED_CALLS = 8  # number of latest calls among which those with a trace are counted
_WARNED_TRACES = 5  # number of traces among these calls that causes a warning
_MAX_WARNINGS = 2  # warnings per function
EXACT_TRACES = 2  # traces for known sizes, which differ in sizes only, before sizes are left open
_MAX_COUNTERS = 256  # counters of one definition: of the instances of a method, or of wrapped functions
_MAX_WRAPPERS = 16  # wrappers around wrappers that are followed
_FUNCTION_TEXT = (
    "%d out of the last %d calls to %r%s triggered autoconv.function retracing. Tracing is expensive. What is behind "
    "so many traces could be (1) creating @autoconv.function repeatedly in a loop, (2) passing tensors with different "
    "shapes, or (3) passing Python objects instead of tensors. For (1), decorate the function once, outside of the "
    "loop. For (2), @autoconv.function(reduce_retracing=True) makes traces that serve several shapes. For (3), pass "
    "tensors, or see in explain() which argument or outer name differed."
)
_COMPILE_TEXT = (
    "%d out of the last %d calls to %r%s made a trace. Tracing is expensive. What is behind so many traces could be "
    "(1) creating @autoconv.compile functions repeatedly in a loop, (2) passing arrays with different dtypes, numbers "
    "of dimensions, or sizes that cannot stay open, or (3) other values of arguments and outer names that are "
    "constants of a trace. For (1), decorate the function once, outside of the loop. For (2) and (3), explain() shows "
    "what differed, and why sizes cannot stay open."
)

_LOGGER = logging.getLogger("autoconv")


class CallCounter:
    """Counter of the calls and traces of one Python function; it logs a text when most of the latest calls traced."""

    def __init__(self) -> None:
        self.cell = ctypes.c_int64(0)  # the number of calls; native code increases it as well
        self._trace_calls: deque[int] = deque(maxlen=_COUNTED_CALLS)  # numbers of the latest calls that made a trace
        self._warnings = 0
        # The TraceBudget that all functions created from one definition share; `Function` sets it.
        self.trace_budget: Any = None
        self.outlined_forms = 0  # functions of the definition whose loops are compiled by themselves

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return self.cell.value

    @calls.setter
    def calls(self, count: int) -> None:
        self.cell.value = count

    def record_trace(self, function: Callable[..., Any], under_compile: bool = False) -> None:
        """Record that the latest counted call made a trace, under `compile` or `function`.

        Under `compile` the text is a debugging message, as the output of a program is that of plain Python.
        Several traces without a call between them, for example of `get_concrete_function`, count as one.
        """
        if self._trace_calls and self._trace_calls[-1] == self.calls:
            return
        self._trace_calls.append(self.calls)
        while self.calls - self._trace_calls[0] >= _COUNTED_CALLS:
            self._trace_calls.popleft()
        trace_count, call_count = len(self._trace_calls), self.calls - self._trace_calls[0] + 1
        if trace_count >= _WARNED_TRACES and self._warnings < _MAX_WARNINGS:
            self._warnings += 1
            level, text = (logging.DEBUG, _COMPILE_TEXT) if under_compile else (logging.WARNING, _FUNCTION_TEXT)
            _LOGGER.log(level, text, trace_count, call_count, function, _definition_place(function))


def _definition_place(function: Any) -> str:
    """Return the file and line of a function for messages; empty if it has no code."""
    code = getattr(function, "__code__", None)
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"


# Code object -> (the instance's id for a method, else that of None, then the codes of wrapped functions) -> counter.
_COUNTERS: weakref.WeakKeyDictionary[Any, BoundedDict[tuple[Any, ...], CallCounter]] = weakref.WeakKeyDictionary()
_LOCK = new_lock()


def find_call_counter(function: Callable[..., Any]) -> CallCounter:
    """Return the counter of a function; functions created repeatedly from one definition, as in a loop, share it.

    Functions that only replay a saved graph have counts of their own, because all of them share one definition.
    """
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or getattr(function, "__autoconv_replays_graph__", False):
        return CallCounter()
    with _LOCK:
        counters = _COUNTERS.setdefault(code, BoundedDict(_MAX_COUNTERS))
        key = id(getattr(function, "__self__", None)), *_codes_of_wrapped(function)
        if key not in counters:
            counters[key] = CallCounter()
        return counters[key]


def _codes_of_wrapped(function: Any) -> list[Any]:
    """Return the codes of the functions that a wrapper wraps, as one definition may wrap different functions."""
    codes: list[Any] = []
    while (function := getattr(function, "__wrapped__", None)) is not None and len(codes) < _MAX_WRAPPERS:
        codes.append(getattr(function, "__code__", None))
    return codes


def open_sizes_at_once(key: Key, keys: Iterable[Key]) -> Key:
    """Return the key with open sizes where it differs from the first of `keys` with compatible leaves.

    This is the rule of `reduce_retracing`: one earlier key suffices, and the specs of composites may be widened, too.
    """
    for other in keys:
        templates = _join_templates(other, key)
        with_same_templates = replace(other, templates=key.templates)
        if templates is None or other == key or not _differ_in_leaves_only(with_same_templates, key):
            continue
        leaves = [_join_leaf_keys(leaf, other_leaf) for leaf, other_leaf in zip(key.leaves, other.leaves, strict=True)]
        if all(leaf is not None for leaf in leaves):
            return replace(key, templates=templates, leaves=tuple(leaves))
    return key


def _join_templates(first: Key, second: Key) -> tuple[Any, ...] | None:
    """Return templates that accept the arguments of both keys, with specs of composites widened; None if none do."""
    if first.templates == second.templates:
        return second.templates
    if len(first.templates) != len(second.templates):
        return None
    try:
        return tuple(
            (name, join_templates(template, other_template))
            for (name, template), (_, other_template) in zip(first.templates, second.templates, strict=True)
        )
    except ValueError:
        return None


def open_sizes_after_exact_traces(key: Key, keys: Iterable[Key], failed_keys: Collection[Key]) -> Key:
    """Return the key with those sizes open in which it differs from any of the earlier `keys`.

    This is the rule of `compile`. Return the key itself if fewer than `EXACT_TRACES` of `keys` differ from it in sizes
    only, or if the result is among `failed_keys`.
    """
    result, joined_count = key, 0
    for other in keys:
        if other == key or not _differ_in_leaves_only(other, key):
            continue
        leaves = list(map(_join_leaf_keys, result.leaves, other.leaves))
        if all(leaf is not None and _has_rank(leaf) for leaf in leaves):
            result, joined_count = replace(result, leaves=tuple(leaves)), joined_count + 1
    return result if joined_count >= EXACT_TRACES and result not in failed_keys else key


def _differ_in_leaves_only(first: Key, second: Key) -> bool:
    """Return whether two keys differ in their leaves alone."""
    return len(first.leaves) == len(second.leaves) and replace(first, leaves=second.leaves) == second


def _has_rank(leaf: LeafKey) -> bool:
    """Return whether a leaf is no tensor, or a tensor of known rank."""
    return not isinstance(leaf, TensorKey) or leaf.type.shape is not None


def _join_leaf_keys(first: LeafKey, second: LeafKey) -> Any:
    """Return a key that accepts both leaves, or None."""
    if first == second:
        return first
    if isinstance(first, ArrayKey) and isinstance(second, ArrayKey):
        return first.join(second)
    if not (isinstance(first, TensorKey) and isinstance(second, TensorKey)) or first.origin != second.origin:
        return None
    if (first.type.dtype, first.type.weak) != (second.type.dtype, second.type.weak):
        return None
    return TensorKey(first.type.with_shape(join_shapes(first.type.shape, second.type.shape)), first.origin)
