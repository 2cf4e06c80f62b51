"""Feedback from the traces of one function to the binding of its later calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.runtime.recording.journal import Location
from autoconv.runtime.support.logs import log
from autoconv.runtime.support.structure import loses_state
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.guards.external_writes import RestartTrace
from autoconv.tracing.key.argument_containers import add_containers
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import Key, ObjectKey, SharedKey
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.leaf_keys import make_leaf_key
from autoconv.tracing.key.location_inputs import LocationFacts, add_locations
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.specialise.retracing import open_sizes_after_exact_traces
from autoconv.tracing.specialise.trace_cache import MAX_KEYS
from autoconv.tracing.specialise.value_specialisation import ValueSpecialisation
from autoconv.tracing.views.explain import Explanation

_MAX_LOCATIONS = 128  # outer names and attributes that are inputs of one trace
_MAX_FACTS = 32  # facts about the objects that a function makes, beyond which its calls run as plain Python


def _stays_one_leaf(value: Any) -> bool:
    """Return whether a structure is passed as one object: a dataclass, or one that loses a part by flattening."""
    return dataclasses.is_dataclass(value) or loses_state(value)


class TraceFeedback:
    """Facts that a function's traces found, and the binding of calls that uses them.

    An abandoned trace adds a fact; the call is then bound again, under another key, for another attempt.
    """

    def __init__(self, signature: Signature, explanation: Explanation) -> None:
        self._signature = signature
        self._explanation = explanation
        self._keyed_by_value: frozenset[int] = frozenset()  # positions of leaves whose values are part of the key
        # Arguments that traced code changes: those passed as one object, and those whose containers become leaves.
        self._object_arguments: frozenset[str] = frozenset()
        self._arguments_with_container_leaves: frozenset[str] = frozenset()
        self._facts: frozenset[tuple[str, Any]] = frozenset()  # pairs of a kind and a fact, see `Call.facts`
        self._arrays_as_memory = False  # whether arrays are traced as memory, because some trace changes one in place
        self._failed_open_keys: set[Key] = set()  # keys with open sizes for which tracing failed
        self._keys_of_object_calls: set[Key] = set()  # keys of calls whose arrays are passed as objects, not as memory
        self._opaque_locations: set[Any] = set()  # keys of locations whose lists and dicts are objects of the graph
        # Key without locations -> outer names and attributes that are inputs.
        self._locations: BoundedDict[Key, list[Location]] = BoundedDict(MAX_KEYS)
        # The keys of a sequence of locations -> its number, from 1 on (`Key.location_sequence`).
        self._sequence_by_location_keys: dict[tuple[Any, ...], int] = {}
        self.value_specialisation = ValueSpecialisation()
        # Key of a location that became an input because it changes between calls -> False once a trace with it failed.
        self._promotion_succeeded: dict[Any, bool] = {}

    def bind(self, args: Any, kwargs: Any) -> Call:
        """Return the call with its key and leaves. Raises TypeError for arguments that do not fit the function."""
        call = self._bind_arguments(args, kwargs)
        locations = self._locations.get(call.key)
        if locations:
            location_keys = tuple([location.key for location in locations])
            next_number = len(self._sequence_by_location_keys) + 1
            sequence = self._sequence_by_location_keys.setdefault(location_keys, next_number)
            contract = self._signature.contract
            facts = LocationFacts(contract, sequence, self._opaque_locations, self._keyed_by_value)
            add_locations(call, locations, facts)
        call.facts = self._facts
        self.value_specialisation.specialise_call(call)
        return call

    def _bind_arguments(self, args: Any, kwargs: Any) -> Call:
        """Return the call without locations; arrays stay objects in calls that cannot take them as memory."""
        call = self._signature.bind(args, kwargs, self._keyed_by_value, self._object_arguments, self._arrays_as_memory)
        add_containers(call, self._arguments_with_container_leaves)
        if call.key not in self._keys_of_object_calls:
            return call
        array_names = {name for name, key in zip(call.names, call.key.leaves, strict=True) if isinstance(key, ArrayKey)}
        new_call = self._signature.bind(args, kwargs, self._keyed_by_value, self._object_arguments | array_names)
        new_call.arrays_as_objects = True
        return new_call

    def _rebind(self, call: Call) -> None:
        """Bind the call again, with the facts that were added since."""
        new_call = self.bind(call.args, call.kwargs)
        call.key, call.leaves = new_call.key, new_call.leaves
        call.names, call.locations, call.containers = new_call.names, new_call.locations, new_call.containers
        call.arguments = new_call.arguments
        call.facts, call.general_key = new_call.facts, new_call.general_key
        call.arrays_as_objects = new_call.arrays_as_objects

    # ---- changes after an abandoned trace

    def specialise(self, call: Call, positions: frozenset[int]) -> None:
        """Make the values of leaves part of the key, because Python code needs them while tracing."""
        self._keyed_by_value |= positions
        aliases: dict[int, int] = {}
        leaves = tuple(
            key
            if isinstance(key, (ObjectKey, ArrayKey, SharedKey))
            else make_leaf_key(self._signature.contract, leaf, aliases, index in self._keyed_by_value)
            for index, (leaf, key) in enumerate(zip(call.leaves, call.key.leaves, strict=True))
        )
        call.key = replace(call.key, leaves=leaves)

    def refusal(self, call: Call, restart: RestartTrace) -> str:
        """Return the reason why the call cannot be traced as `restart` requires; empty if it can."""
        if len(self._facts) > _MAX_FACTS:
            return "too many kinds of objects become part of a value known only at run time"
        if len(call.all_locations) > _MAX_LOCATIONS:
            return f"more than {_MAX_LOCATIONS} outer names and attributes are written, {restart} is one of them"
        if restart.is_of_new_class(call.all_locations):
            return f"{restart} is written, and each call creates its class anew"
        if restart.arguments and restart.arguments <= self._object_arguments:
            return f"{restart} is written, and a graph cannot do this on each call"
        if restart.arrays_as_memory and self._arrays_as_memory and call.all_locations:
            return "an array from outside of the call is written, together with outer names or attributes"
        return ""

    def bind_for_restart(self, call: Call, restart: RestartTrace) -> None:
        """Bind the call again as `restart` requires: with new inputs or facts, or with arrays as memory."""
        if restart.facts:
            self._facts |= restart.facts
        elif restart.opaque:
            self._opaque_locations |= restart.opaque
        elif restart.dataclasses_as_objects:
            self._signature.is_leaf = _stays_one_leaf
            self._keyed_by_value = frozenset()  # the positions of leaves change
        elif restart.arrays_as_memory:
            self._arrays_as_memory = True
        elif restart.containers:
            self._arguments_with_container_leaves |= restart.containers
        elif restart.arguments and call.key.arrays_as_memory:  # pass the arrays as objects, by reference
            self._keys_of_object_calls.add(self._bind_arguments(call.args, call.kwargs).key)
        elif restart.arguments:
            self._object_arguments |= restart.arguments
            self._keyed_by_value = frozenset()  # the positions of leaves change
        else:
            self._add_inputs(call, restart.locations)
            return
        self._rebind(call)

    def try_opaque_containers(self, call: Call) -> bool:
        """After a failed trace, pass flattened containers of outer names as objects.

        Bind the call again and return true; return false if there are no such containers.
        """
        if not call.containers:
            return False
        self._opaque_locations |= {location.key for location in call.containers.values()}
        self._rebind(call)
        return True

    def try_arrays_as_objects(self, call: Call, reason: str, place: Any) -> bool:
        """After arrays could not be traced as memory, pass them as objects.

        Bind the call again and return true; return false if there are no arrays, or they were objects already.
        """
        has_arrays = any(isinstance(key, ArrayKey) for key in call.key.leaves)
        if not has_arrays or call.key in self._keys_of_object_calls:
            return False
        self._keys_of_object_calls.add(call.key)
        self._explanation.arrays_as_objects.append(f"{place}: {reason}" if place else reason)
        self._rebind(call)
        return True

    # ---- values that change between calls

    def promote_changing_values(self, call: Call, traces: Sequence[ConcreteFunction]) -> bool:
        """Turn outer arrays and numbers into inputs if their changes alone invalidate earlier traces.

        Return whether there are new inputs. An array becomes an input at its second value, a number at its third.
        """
        if not traces or len(call.all_locations) >= _MAX_LOCATIONS:
            return False
        changed_inputs = [
            {location.key: (location, value) for location, value in trace.guards.changed_inputs()} for trace in traces
        ]
        changing_locations = [
            location
            for key, (location, value) in changed_inputs[0].items()
            if all(key in inputs_of_trace for inputs_of_trace in changed_inputs)
            and (isinstance(value, np.ndarray) or len(traces) > 1)
            and self._promotion_succeeded.get(key, True)
        ]
        if not changing_locations or not self._add_inputs(call, changing_locations):
            return False
        self._promotion_succeeded.update((location.key, True) for location in changing_locations)
        return True

    def undo_promotion(self, call: Call) -> bool:
        """After a failed trace, bind the call again, with repeated numbers as inputs instead of constants.

        If there are none, bind it without promoted inputs. Return whether there was anything to undo.
        """
        if self.value_specialisation.generalise_call(call):
            return True
        promoted_keys = {location.key for location in call.all_locations if self._promotion_succeeded.get(location.key)}
        if not promoted_keys:
            return False
        self._promotion_succeeded.update(dict.fromkeys(promoted_keys, False))
        for locations in self._locations.values():
            locations[:] = [location for location in locations if location.key not in promoted_keys]
        self._rebind(call)
        return True

    def _add_inputs(self, call: Call, locations: Sequence[Location]) -> bool:
        """Add inputs and bind the call again; return whether any of them is new."""
        base_key = self._bind_arguments(call.args, call.kwargs).key
        known_locations = self._locations.setdefault(base_key, [])
        known_keys = {location.key for location in known_locations}
        new_locations = [location for location in locations if location.key not in known_keys]
        known_locations += new_locations
        self._rebind(call)
        return bool(new_locations)

    # ---- sizes

    def observe_call(self, concrete: ConcreteFunction, leaves: Sequence[Any]) -> bool:
        """Record a call; return whether further calls must be recorded (see `ValueSpecialisation.observe_call`)."""
        return self._signature.contract.runs_plain and self.value_specialisation.observe_call(concrete, leaves)

    def open_sizes(self, key: Key, earlier_keys: Iterable[Key]) -> Key:
        """Return the key with open sizes, if earlier calls had other sizes and no trace with that key failed."""
        return open_sizes_after_exact_traces(key, earlier_keys, self._failed_open_keys)

    def fall_back_to_exact_sizes(self, call: Call, exact_key: Key, reason: str) -> bool:
        """Return whether the failed trace had open sizes; if so, the call gets a trace for its exact sizes."""
        if call.key == exact_key:
            return False
        self._failed_open_keys.add(call.key)
        log("retraces", f"{self._signature.name}: each shape has its own trace: {reason}")
        self._explanation.exact_size_reasons.append(reason)
        call.key = exact_key
        return True
