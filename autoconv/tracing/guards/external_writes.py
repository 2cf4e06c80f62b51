"""Writes of a trace under `compile` to objects, containers and names that existed before it.

They have to happen on every call, when the graph runs, and not while tracing.
"""

from __future__ import annotations

import dataclasses
import itertools
import types
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from autoconv.graph.graph import Value
from autoconv.operators.regions.tracing_signals import AbandonTrace
from autoconv.ops.python.objects import COLLECTIONS
from autoconv.runtime.arrays.symbolic_arrays import wrap_new_arrays
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.symbolic_objects import apply_object, constant_object, record_object
from autoconv.runtime.recording.deferred_stores import DeferredStores
from autoconv.runtime.recording.journal import MISSING, Location
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.support.structure import mutable_parts, tuple_parts
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.tracing.guards.changed_constants import containers_in
from autoconv.tracing.guards.container_stores import ContainerStores
from autoconv.tracing.guards.fingerprints import is_user_module
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.guards.trace_restrictions import RunPlain
from autoconv.tracing.key.argument_containers import can_add_containers
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import OuterName, SharedKey, TensorKey
from autoconv.tracing.key.call import Call


class RestartTrace(AbandonTrace):
    """Raised to restart the trace with more inputs or facts:

    - `locations`: outer names, attributes and items to add to the inputs;
    - `arguments`: names of arguments to pass as objects of the graph;
    - `containers`: names of arguments whose lists and dicts are leaves as well, because the trace writes them;
    - `opaque`: keys of locations whose containers are passed as objects;
    - `facts`: facts about objects that the trace creates (see `Call.facts`);
    - `arrays_as_memory`: arrays are traced as memory;
    - `dataclasses_as_objects`: dataclasses are passed as objects.
    """

    def __init__(
        self,
        locations: Sequence[Location] = (),
        arguments: Sequence[str] = (),
        facts: Sequence[tuple[str, Any]] = (),
        arrays_as_memory: bool = False,
        dataclasses_as_objects: bool = False,
        containers: Sequence[str] = (),
        opaque: Sequence[Any] = (),
    ) -> None:
        self.arrays_as_memory = arrays_as_memory
        self.dataclasses_as_objects = dataclasses_as_objects
        self.locations = tuple(locations)
        self.arguments = frozenset(arguments)
        self.containers = frozenset(containers)
        self.facts = frozenset(facts)
        self.opaque = frozenset(opaque)
        super().__init__(", ".join((*arguments, *containers)) or ", ".join(location.name for location in locations))

    def is_of_new_class(self, locations: Sequence[Location]) -> bool:
        """Return whether a location belongs to a class that each trace creates anew.

        Then `locations`, the inputs of the latest trace, include one of another class with the same name.
        """
        known_owners = [location.owner for location in locations if isinstance(location.owner, type)]
        known_class_names = {(owner.__module__, owner.__qualname__) for owner in known_owners}
        owners = [location.owner for location in self.locations if isinstance(location.owner, type)]
        return any((owner.__module__, owner.__qualname__) in known_class_names for owner in owners) and not any(
            location.owner is owner for location in locations for owner in owners
        )


class WriteMonitor:
    """Monitor of the writes of one trace to objects and names that existed before it.

    `flattened_arguments` are the rebuilt copies of flattened arguments, by name. Before each node that may raise, those
    `deferred_locations` are stored that the trace has written and whose values changed since their last store.
    """

    def __init__(self, trace: Trace, call: Call, guards: Guards) -> None:
        self.trace = trace
        self.guards = guards
        self.locations = call.all_locations
        self.input_keys = {location.key for location in self.locations}
        self.written_keys: set[Any] = set()  # keys of locations that this trace wrote
        self.call = call
        self.flattened_arguments: dict[str, Any] = {}
        self.has_tensors = any(isinstance(key, TensorKey) and key.is_of_tensor for key in call.key.leaves)
        self.may_be_memory = not call.arrays_as_objects and not self.has_tensors
        self.array_names = [name for name, key in zip(call.names, call.key.leaves, strict=True) if _is_array_key(key)]
        # All but attributes: a write of an attribute is recorded at once.
        self.deferred_locations = [location for location in self.locations if location.kind != "attribute"]
        self._container_stores = ContainerStores(trace)
        self.stores = DeferredStores(lambda _: self._written_locations(), self._record_store, includes_overflows=True)

    def _written_locations(self) -> list[Location]:
        """Return the deferred locations that the trace has written, and all contents of argument containers."""
        locations = self.deferred_locations
        return [location for location in locations if location.kind == "contents" or location.key in self.written_keys]

    def begin(self, leaves: Sequence[Any]) -> None:
        """Store the inputs of the trace in the locations where the traced code reads them."""
        root = self.trace.root
        assert root.journal is not None
        for name, rebuilt_argument in self.flattened_arguments.items():
            self.trace.tuple_arguments.update((id(part), name) for part in tuple_parts(rebuilt_argument))
        for location in self._container_stores.locations():
            self.deferred_locations.append(location)
            self.stores.mark_stored(root, location)
        traced_containers = [container for container, _ in self.trace.argument_containers.values()]
        first_location_leaf = len(self.call.leaves) - len(self.call.locations)
        keys = zip(leaves, self.call.key.leaves[first_location_leaf:], strict=True)
        inputs = [self.flattened_arguments[name] for name in self.call.containers]
        inputs += [traced_containers[key.position] if isinstance(key, SharedKey) else leaf for leaf, key in keys]
        for location, input_value in zip(self.locations, inputs, strict=True):
            root.journal.record(location)
            if input_value is not MISSING:
                location.write(input_value)
            self.stores.mark_stored(root, location)

    def check_write(self, owner: Any, action: str, locations: Sequence[Location] = ()) -> None:
        """Raise RestartTrace if `owner`, or the value of a location, has to become an input; RunPlain if it cannot.

        `action` describes the write for users, or the condition that needs the object, which begins with "whether".
        """
        assert self.trace.created_objects is not None
        if id(owner) in self.trace.created_objects:
            return
        if locations:
            self._check_locations(locations, action)
            return
        if id(owner) in self.trace.rebuilt_arguments and dataclasses.is_dataclass(owner):
            raise RestartTrace(dataclasses_as_objects=True)
        if not self.trace.memory and self.may_be_memory and _may_be_array(owner):
            raise RestartTrace(arrays_as_memory=True)  # results computed from arrays are arrays, and change in place
        if self.trace.memory and isinstance(owner, SymbolicTensor):
            other_locations = [location for location in self.guards.locations() if location.key not in self.input_keys]
            array_locations = [location for location in other_locations if isinstance(location.read(), np.ndarray)]
            if array_locations:  # the tensor may be one of these arrays
                raise RestartTrace(array_locations)
        if not isinstance(owner, (*_MUTABLE_TYPES, *COLLECTIONS, np.ndarray, SymbolicTensor)):
            self._run_plain(action)  # the effects of a user class's methods cannot be undone
        for name, rebuilt_argument in self.flattened_arguments.items():
            if _contains_container(rebuilt_argument, owner):
                if isinstance(name, OuterName):
                    raise RestartTrace(opaque=[self.call.containers[name].key])
                if type(owner) in TRACED_TO_PLAIN and not self.has_tensors and can_add_containers(self.call, name):
                    raise RestartTrace(containers=[name])
                raise RestartTrace(arguments=[name])
        holding_locations = self._find_locations_of([owner])
        if holding_locations:
            raise RestartTrace(holding_locations)
        if isinstance(owner, SymbolicTensor) and self.array_names:
            # If this fails, arrays are passed as objects, by reference.
            raise RestartTrace(arguments=self.array_names)
        self._run_plain(action)

    def _check_locations(self, locations: Sequence[Location], action: str) -> None:
        """Raise RestartTrace if a location has to become an input; RunPlain for the attribute of a foreign module."""
        modules = [location.owner for location in locations if isinstance(location.owner, types.ModuleType)]
        if not all(map(is_user_module, modules)):
            self._run_plain(action)  # code of this package reads the attribute as well, while tracing
        self.written_keys.update(location.key for location in locations)
        new_locations = [location for location in locations if location.key not in self.input_keys]
        new_inputs = [location for location in new_locations if not self._is_cell_of_trace(location)]
        if new_inputs:
            self._refuse_new_objects(new_inputs)
            if any(id(location.owner) in self.trace.rebuilt_arguments for location in new_inputs):
                raise RestartTrace(dataclasses_as_objects=True)
            values = [location.read() for location in new_inputs]
            owners = [value for value in values if isinstance(value, _MUTABLE_TYPES)]
            raise RestartTrace([*new_inputs, *self._find_locations_of(owners, new_inputs)])

    def _run_plain(self, action: str) -> NoReturn:
        """Raise RunPlain because of the action (see `check_write`)."""
        is_condition = action.startswith("whether ")  # on which the effect of a later statement depends
        raise RunPlain(action if is_condition else f"{action}, which has to happen on every call")

    def restart_with_inputs(self, locations: Sequence[Location]) -> NoReturn:
        """Restart the trace with the values of the locations as inputs."""
        raise RestartTrace(locations)

    def handle_escaping_tuples(self, values: Sequence[Value]) -> None:
        """Restart the trace if tuples in arguments, `values`, escape: then the arguments are passed as objects."""
        names = [self.trace.tuples_in_graph[value] for value in values]
        outer_keys = [self.call.containers[name].key for name in names if isinstance(name, OuterName)]
        if outer_keys:
            raise RestartTrace(opaque=outer_keys)
        if names:
            raise RestartTrace(arguments=names)

    def handle_changed_containers(self, containers: Sequence[Any]) -> None:
        """Restart the trace with `containers`, outer ones that are constants of the graph and may change, as inputs."""
        holding_locations = self._find_locations_of(containers)
        if holding_locations:
            raise RestartTrace(holding_locations)

    def handle_changed_objects(self, reads_arrays: bool) -> None:
        """Raise RunPlain or RestartTrace for a graph that changes objects which may be arrays.

        `reads_arrays` is true if the graph has arrays from outside as values.
        """
        if reads_arrays:
            raise RunPlain("an object that may be an array is changed, and an outside array is read")
        if self.array_names and not self.trace.memory:
            if self.may_be_memory:
                raise RestartTrace(arrays_as_memory=True)
            raise RunPlain("an object that may be an array of the arguments is changed")

    def is_outside(self, array: np.ndarray) -> bool:
        """Return whether an array is, or is a view of, an array of the program that existed before the trace."""
        return any(np.may_share_memory(array, other) for other in self.guards.reachable_arrays())

    def check_dimensions(self, call: Call) -> None:
        """Raise if an array without dimensions is not traced as memory: its tensor would behave as a NumPy scalar."""
        for leaf, key in zip(call.leaves, call.key.leaves, strict=True):
            if isinstance(leaf, np.ndarray) and not leaf.ndim and isinstance(key, TensorKey):
                if self.may_be_memory:
                    raise RestartTrace(arrays_as_memory=True)
                raise RunPlain("an array without dimensions is passed beside tensors")

    def as_zero_dimensional_array(self, tensor: Any) -> Any:
        """Return a tensor as NumPy's array without dimensions; return it unchanged if arguments are tensors."""
        if not self.trace.memory and not self.has_tensors:  # only arrays as memory differ from NumPy's scalars
            self.check_write(tensor, "an array without dimensions is created")
        return wrap_new_arrays(tensor, wrap_scalars=True)

    def _find_locations_of(self, owners: Sequence[Any], excluded: Sequence[Location] = ()) -> list[Location]:
        """Return all locations from which an owner is reachable: a write by one name may be read by another."""
        excluded_keys = self.input_keys.union(location.key for location in excluded)
        locations_by_key = {
            location.key: location
            for location in self.guards.locations()
            if any(_contains_container(location.read(), owner) for owner in owners)
        }
        # A location without a kind is an argument itself, such as a list of a user's class.
        if not all(location.kind for location in locations_by_key.values()):
            self._run_plain("an argument is changed")
        return [location for key, location in locations_by_key.items() if key not in excluded_keys]

    def _refuse_new_objects(self, new_inputs: Sequence[Location]) -> None:
        """Raise RunPlain if each call seems to create the object whose attribute it writes.

        Then several inputs are the same attribute of other objects of the class, which this trace did not write.
        """
        for location in new_inputs:
            unwritten_inputs = [known for known in self.locations if known.key not in self.written_keys]
            same_attributes = [known for known in unwritten_inputs if _is_same_attribute(location, known)]
            if len(same_attributes) >= _MIN_UNWRITTEN:
                self._run_plain(f"{location.name} is written, whose object the call itself seems to create")

    def _record_store(self, location: Location, value: Any, before: Any) -> None:
        """Record nodes that store the value of a written location; `before` is the value stored last, or `UNKNOWN`."""
        if location.kind == "contents":
            self._container_stores.record_store(location, value, before)
            return
        owner = constant_object(location.owner)
        if location.kind == "cell":
            if value is MISSING:
                record_object("object_delete_attribute", [owner], name="cell_contents")
            else:
                record_object("object_set_attribute", [owner, value], name="cell_contents")
        elif value is MISSING:
            apply_object("delitem", owner, location.name)
        else:
            apply_object("setitem", owner, location.key[-1], value)

    def _is_cell_of_trace(self, location: Location) -> bool:
        """Return whether the location is a cell of a function that the traced code itself called."""
        is_cell = len(location.key) == 1  # the id of the cell; keys of other locations have a name or position too
        return is_cell and not self.guards.is_watched(location.key)


_MUTABLE_TYPES = (list, dict, set)
_MIN_UNWRITTEN = 3  # number of objects of a class with an attribute that an earlier trace wrote and this one did not


def _is_same_attribute(first: Location, second: Location) -> bool:
    """Return whether both locations are an attribute of one name in objects of one class."""
    is_attribute = first.kind == second.kind == "attribute"
    return is_attribute and first.key[-1] == second.key[-1] and type(first.owner) is type(second.owner)


def _may_be_array(owner: Any) -> bool:
    """Return whether an object stands for one of NumPy's arrays or scalars."""
    return isinstance(owner, SymbolicTensor) and not owner.weak


def _is_array_key(key: Any) -> bool:
    """Return whether a leaf is a NumPy array, as a value or as memory."""
    return isinstance(key, ArrayKey) or (isinstance(key, TensorKey) and key.is_of_array)


def _contains_container(value: Any, owner: Any) -> bool:
    """Return whether the value is, or contains, the container or array `owner`.

    An array counts as contained if it may share memory with the value, or with an item of a dict in it.
    """
    if isinstance(owner, np.ndarray):
        dicts = [part for part in mutable_parts(value) if isinstance(part, dict)]
        arrays = [item for part in dicts for item in dict.values(part) if isinstance(item, np.ndarray)]
        arrays += [value] if isinstance(value, np.ndarray) else []
        return any(np.may_share_memory(array, owner) for array in arrays)
    parts = itertools.chain(mutable_parts(value), containers_in(value))  # `containers_in` also finds subclasses
    return value is owner or any(part is owner for part in parts)
