"""Match the objects of a program with those of a checkpoint, and report what was not matched."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.train.deferred import defer, discard_deferred
from autoconv.train.object_graph import (
    VARIABLE_VALUE,
    ObjectNode,
    children_of,
    object_graph,
    restore_values,
    value_names,
)
from autoconv.train.reader import CheckpointReader


class Restoration:
    """One restoration of a checkpoint into the objects below a root.

    Objects are matched by their paths from the root, whatever the names of variables. Checkpoints of version 1 have no
    paths: their variables are matched by name. An object that is created later is matched when it becomes an attribute.
    `attached_parts`: further parts of the root, by name, that are not its attributes.
    """

    def __init__(self, reader: CheckpointReader, root: Any, attached_parts: Mapping[str, Any]) -> None:
        self.reader = reader
        self.root = root
        self.attached_parts = attached_parts
        self.object_by_number: dict[int, Any] = {}
        self.restored_by_id: dict[int, Any] = {}  # keeps the objects alive, so that no id is used again
        if self.nodes:
            self.match(0, root)
        else:
            self._match_names()

    @property
    def nodes(self) -> list[ObjectNode]:
        return self.reader.nodes

    def match(self, number: int, value: Any) -> None:
        """Match an object with the checkpoint's object `number`, and likewise all reached from it; set their values."""
        worklist = deque([(number, value)])
        while worklist:
            number, value = worklist.popleft()
            if self.object_by_number.get(number) is value:
                continue
            self.object_by_number[number] = value
            node = self.nodes[number]
            key_by_name = {name: node.key_by_name[name] for name in value_names(value) if name in node.key_by_name}
            if key_by_name:
                restore_values(value, self.reader.get_array, key_by_name)
                self.restored_by_id[id(value)] = value
            parts = self._children(value)
            for name, child_number in node.children.items():
                if name in parts:
                    worklist.append((child_number, parts[name]))
                # When a Keras model is built, a new list of layers, with one for the input, replaces its first list.
                will_be_replaced = isinstance(parts.get(name), list) and getattr(value, "built", True) is False
                if name not in parts or will_be_replaced:
                    defer(value, name, self, child_number)

    def _match_names(self) -> None:
        """Restore variables by their names, from a checkpoint of version 1, which has no graph of objects."""
        for value in object_graph(self.root, self.attached_parts).objects:
            key = value.name.removesuffix(":0") if isinstance(value, Variable) else ""
            if self.reader.has_tensor(key):
                restore_values(value, self.reader.get_array, {VARIABLE_VALUE: key})
                self.restored_by_id[id(value)] = value

    def _children(self, value: Any) -> Mapping[str, Any]:
        """Return the parts of an object by name; those of the root include `attached_parts`."""
        parts = children_of(value)
        return {**parts, **self.attached_parts} if value is self.root else parts

    def match_later_objects(self) -> None:
        """Match items added to lists and dicts since the restoration, and attributes that traces have set."""
        for number, value in list(self.object_by_number.items()):
            parts = self._children(value)
            for name, child_number in self.nodes[number].children.items():
                if name in parts:
                    if self.object_by_number.get(child_number) is not parts[name]:
                        self.match(child_number, parts[name])
                    discard_deferred(value, name)


class CheckpointLoadStatus:
    """The matches of a restoration so far; the methods `assert_…` check them and return the status itself."""

    def __init__(self, restoration: Restoration) -> None:
        self._restoration = restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless every value of the checkpoint and every variable of the program were matched."""
        self.assert_existing_objects_matched()
        restoration = self._restoration
        for number, node in enumerate(restoration.nodes):
            if node.key_by_name and number not in restoration.object_by_number:
                path = _path_from_root(restoration.nodes, number)
                raise AssertionError(f"Unresolved object in checkpoint {path}: {sorted(node.key_by_name.values())}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless every variable that exists below the root was matched."""
        restoration = self._restoration
        restoration.match_later_objects()
        graph = object_graph(restoration.root, restoration.attached_parts)
        missing = [
            value
            for node, value in zip(graph.nodes, graph.objects, strict=True)
            if node.key_by_name and id(value) not in restoration.restored_by_id
        ]
        if missing:
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {min(len(missing), 10)} of {len(missing)} unmatched objects: "
                f"{missing[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless an object other than the attached parts got a value."""
        restoration = self._restoration
        restoration.match_later_objects()
        if not restoration.restored_by_id.keys() - {id(value) for value in restoration.attached_parts.values()}:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the "
                "checkpoint does not match the Python program. The checkpoint has the objects: "
                f"{sorted(restoration.nodes[0].children)}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Accept unused values of the checkpoint; as there are no warnings about them, the call has no effect."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: variables are initialised on creation, and matched ones have the checkpoint's values."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Do nothing: values are set when objects are matched."""


class InitializationOnlyStatus(CheckpointLoadStatus):
    """The status of a restoration from no checkpoint: every assertion fails, and `expect_partial` succeeds."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError: no checkpoint was given."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed


def _path_from_root(nodes: list[ObjectNode], object_number: int) -> str:
    """Return an object's path from the root, such as `(root).model.bias`."""
    paths = {0: "(root)"}
    worklist = deque([0])
    while worklist:
        number = worklist.popleft()
        for name, child_number in nodes[number].children.items():
            if child_number not in paths:
                paths[child_number] = f"{paths[number]}.{name}"
                worklist.append(child_number)
    return paths.get(object_number, "(root)")
