"""Outside arrays, lists, dicts and sets that a trace read, and that a later call may pass as arguments.

Their items are constants in the graph. If an argument is such a value, or shares memory with one, the graph's writes
would not reach the constants; that call runs as plain Python.
"""

from __future__ import annotations

import collections
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.operators.calls.call import is_user_code
from autoconv.runtime.support.structure import ATOMS
from autoconv.tracing.guards.attribute_reads import AttributeReads, attribute_values, reachable_values
from autoconv.tracing.guards.fingerprints import guarded_class_attributes, guarded_module_attributes
from autoconv.tracing.guards.guards import Guards

_CONTAINERS = (list, dict, set, collections.deque)
_ATOMS = frozenset(ATOMS)


class OutsideValues:
    """The outside arrays and containers that a trace read, and that arguments must not overlap."""

    def __init__(
        self, arrays: Sequence[weakref.ref[np.ndarray]] = (), containers: OutsideContainers | None = None
    ) -> None:
        self._arrays, self._containers = arrays, containers

    def __bool__(self) -> bool:
        return bool(self._arrays or self._containers)

    def find_overlap(self, leaves: Iterable[Any], location_readers: Iterable[Callable[[], Any]]) -> str:
        """Describe how a leaf, or the value of a written location, overlaps an outside value; "" if none does."""
        values = [*leaves, *(read() for read in location_readers)]
        arrays = [array for array in values if isinstance(array, np.ndarray)] if self._arrays else []
        outside_arrays = [array for array in (read() for read in self._arrays) if array is not None]
        if any(np.may_share_memory(array, other) for array in arrays for other in outside_arrays):
            return "an argument shares memory with another array that the call reads"
        if self._containers and self._containers.find_overlap(values):
            return "what the call changes is also read by another name"
        return ""


class OutsideContainers:
    """The containers that are reachable from the guarded names at the time of a call.

    They are searched for on each call, because a name may be bound to another, equal container between calls. Guards
    check that their forms (class, length and keys) stay the same. `written_containers` are all containers that the
    graph may change, or None if these are unknown. If it is given, only containers with the form of one of them count.
    """

    def __init__(self, guards: Guards, written_containers: Sequence[Any] | None = None) -> None:
        self._attribute_names = None if guards.reads is None else guards.reads.attribute_names_if_all_known
        self._reads_of_objects = guards.reads
        self._written_forms = None if written_containers is None else set(map(_form_of, written_containers))
        self._input_keys = guards.input_keys
        readers = [check.value.read for check in guards.checks]
        self._readers: list[Callable[[], Any]] = [
            read for read in readers if any(map(self._may_be_written, self._reachable([read])))
        ]

    def __bool__(self) -> bool:
        return bool(self._readers)

    def find_overlap(self, values: Iterable[Any]) -> bool:
        """Return whether one of these containers is among the values, or reachable from one of them."""
        containers = [value for value in values if isinstance(value, _CONTAINERS)]
        if not containers:
            return False
        ids = {id(value) for value in reachable_values(containers) if _is_container(value)}
        return any(id(value) in ids for value in self._reachable(self._readers))

    def _reachable(self, readers: Iterable[Callable[[], Any]]) -> Iterator[Any]:
        """Iterate over the values that the readers return, and their parts."""
        values = (read() for read in readers)
        return values_reached_by_names(values, self._attribute_names, self._input_keys, self._reads_of_objects)

    def _may_be_written(self, value: Any) -> bool:
        """Return whether the value is a container that has the form of one that the graph may change."""
        return _is_container(value) and (self._written_forms is None or _form_of(value) in self._written_forms)


def values_reached_by_names(
    values: Iterable[Any],
    names: frozenset[str] | None,
    input_keys: frozenset[Any] = frozenset(),
    reads: AttributeReads | None = None,
) -> Iterator[Any]:
    """Iterate over the values and their parts; also over the attributes of classes and modules, by these names.

    If `names` is None, all attributes of classes and modules count. Defaults and attributes of functions are among the
    parts. `input_keys` has the pairs (id of an object, position or name) that are inputs of the trace; these are left
    out. `reads` is as in `reachable_values`.
    """
    visited_ids: set[int] = set()
    pending = list(values)
    while pending:
        next_values: list[Any] = []
        for value in reachable_values(pending, input_keys, reads):
            if id(value) not in visited_ids:
                visited_ids.add(id(value))
                yield value
                next_values += _parts(value, names, input_keys, reads, visited_ids)
        pending = [value for value in next_values if type(value) not in _ATOMS and id(value) not in visited_ids]


def _parts(
    value: Any, names: frozenset[str] | None, input_keys: frozenset[Any], reads: AttributeReads | None,
    visited_ids: set[int],
) -> Iterator[Any]:
    """Yield those parts of a value that `reachable_values` leaves out; parameters as in `values_reached_by_names`."""
    if isinstance(value, types.ModuleType):
        if value.__name__ not in sys.stdlib_module_names:  # `sys.modules` would lead to all objects
            yield from guarded_module_attributes(value, frozenset(vars(value)) if names is None else names).values()
    elif isinstance(value, types.FunctionType):
        if is_user_code(value):
            yield from value.__defaults__ or ()
            yield from (value.__kwdefaults__ or {}).values()
            yield from vars(value).values()
    elif type(value).__module__.partition(".")[0] == "autoconv":  # a decorated function, without its traces and graphs
        function = getattr(value, "python_function", None) if hasattr(type(value), "__autoconv_function__") else None
        yield from () if function is None else (function,)
    else:
        is_class = issubclass(type(value), type)  # `isinstance` reads `__class__`, which may run code of the program
        cls = value if is_class else type(value)
        if not is_class and cls.__module__ not in ("numpy", "builtins"):
            yield from attribute_values(value, input_keys, reads)
        for base in cls.__mro__ if id(cls) not in visited_ids or is_class else ():
            visited_ids.add(id(base))
            attributes = guarded_class_attributes(base, names)
            yield from (part for name, part in attributes if (id(base), name) not in input_keys)


def _form_of(container: Any) -> Any:
    """Return the class of a container with its length, or a dict's keys."""
    return type(container), frozenset(container) if type(container) is dict else len(container)


def _is_container(value: Any) -> bool:
    """Return whether a value is a list, dict, set or deque."""
    return isinstance(value, _CONTAINERS)
