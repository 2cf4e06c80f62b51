"""The short way from a user's call to native code: what a trace's entry has to check and convert, as a CallForm."""

from __future__ import annotations

import types
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autoconv.backends.form import CallForm, Captured, CellGuard, GlobalGuard, Guard, slot_offset
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, TensorType
from autoconv.operators.calls import is_user_code
from autoconv.operators.layout import Layout, Leaf, Parts, Static, leaf_types
from autoconv.runtime.donation import Donated
from autoconv.runtime.recording import BUSY, COMPILE
from autoconv.runtime.tensor import EagerTensor, Tensor
from autoconv.tracing.array_keys import ArrayKey
from autoconv.tracing.guards import Guards
from autoconv.tracing.signature import Key, TensorKey

_PLAIN = (type(None), bool, int, float, complex, str, bytes, types.BuiltinFunctionType, np.ufunc, np.dtype)


def call_form(
    graph: Graph, key: Key, captures: Sequence[Any], layout: Layout, guards: Guards, contract: str, arrays_out: bool,
    donated: Collection[int], name: str,
) -> CallForm | None:
    """How native code may be called with the user's own arguments; None where they need more than a look.

    That is so for single tensors, arrays and numbers as arguments, and for one tensor or number, or a tuple of such,
    as the result. Guards that compare more than identities are not among the form's; the caller asks them. `donated`
    are the positions of the leaves that are given to the function of that name.
    """
    leaves = [leaf for leaf in key.leaves if isinstance(leaf, (TensorKey, ArrayKey))]
    if len(leaves) < len(key.leaves) or any(template is not None for _, template in key.templates):
        return None
    if len(leaves) != len(key.templates) or key.orders or key.shared or key.overlaps:
        return None
    results = _results(layout, contract, arrays_out)
    held = [_held(captured) for captured in captures]
    if results is None or not all(map(_is_plain, held)):
        return None
    identities = [identity_guard(place, read()) for _, read, _, place in guards.checks]
    origins = ["memory" if isinstance(leaf, ArrayKey) else leaf.origin for leaf in leaves]
    return CallForm(
        parameters=(*origins, *map(Captured, held)),
        results=results,
        single=isinstance(layout, (Leaf, Static)),
        tensor_class=EagerTensor,
        array_slot=_ARRAY_SLOT,
        weak_slot=_WEAK_SLOT,
        weak=tuple(leaf.type.weak for leaf in leaves if isinstance(leaf, TensorKey) and leaf.origin == "tensor"),
        guards=tuple(guard for guard in identities if guard is not None),
        busy=BUSY,
        donated=frozenset(i for i in donated if origins[i] == "tensor"),
        donation=Donated(name) if donated else None,
    )


def needs_asking(guards: Guards) -> bool:
    """Whether there are guards beyond the form's."""
    return any(identity_guard(place, read()) is None for _, read, _, place in guards.checks)


def identity_guard(place: tuple[Any, Any] | None, value: Any) -> Guard | None:
    """A guard for a value of which its identity says all; None for others. `place` is a namespace and a name, or a
    cell and None."""
    if place is None or not _says_all(value):
        return None
    container, name = place
    return CellGuard(container, value) if name is None else GlobalGuard(container, name, value)


def _says_all(value: Any) -> bool:
    if isinstance(value, (types.FunctionType, type)):
        return not is_user_code(value)
    return type(value) in _PLAIN or isinstance(value, (types.ModuleType, Tensor))


def _results(layout: Layout, contract: str, arrays_out: bool) -> tuple[str, ...] | None:
    parts: tuple[Layout, ...]
    if isinstance(layout, Static) and layout.value is None and arrays_out:
        return ()
    if isinstance(layout, Leaf):
        parts = (layout,)
    elif isinstance(layout, Parts) and layout.kind is tuple and layout.keys is None:
        parts = layout.parts
    else:
        return None
    if not all(isinstance(part, Leaf) and isinstance(part.type, (TensorType, ArrayType)) for part in parts):
        return None
    types_: list[Any] = list(leaf_types(layout))
    if contract != COMPILE:
        return tuple("tensor" for _ in types_)
    return tuple(_result_kind(type_, arrays_out) for type_ in types_)


def _result_kind(type_: Any, arrays_out: bool) -> str:
    if isinstance(type_, ArrayType):
        return "memory"
    return "number" if type_.weak else "array" if arrays_out else "tensor"


def _held(captured: Any) -> Any:
    return captured._array if isinstance(captured, EagerTensor) else captured


def _is_plain(captured: Any) -> bool:
    if isinstance(captured, np.generic):
        return False
    return not isinstance(captured, np.ndarray) or (type(captured) is np.ndarray and captured.flags.carray)


_ARRAY_SLOT, _WEAK_SLOT = (slot_offset(EagerTensor(0), name) for name in ("_array", "_weak"))
