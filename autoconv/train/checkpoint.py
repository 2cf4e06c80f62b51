"""Checkpoint: save the variables of a graph of objects, and restore them into objects of the same structure."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import DataLossError, NotFoundError
from autoconv.graph.dtypes import int64
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import recording
from autoconv.storage.arrays import write_arrays
from autoconv.storage.files import folder_lock, read_json, write_json
from autoconv.train.deferred import deferred_restorations, restore_attribute, waiting_container
from autoconv.train.object_graph import is_trackable, object_graph, stored_arrays
from autoconv.train.reader import (
    FORMAT,
    INDEX_SUFFIX,
    VERSION,
    CheckpointReader,
    checkpoint_exists,
    open_checkpoint,
)
from autoconv.train.restoration import CheckpointLoadStatus, InitializationOnlyStatus, Restoration
from autoconv.train.state import get_checkpoint_state, update_checkpoint_state


class CheckpointOptions:
    """Options of saving and restoring; they name devices and threads, and have no effect on one machine.

    >>> autoconv.train.CheckpointOptions(experimental_io_device="/job:localhost").experimental_io_device
    '/job:localhost'
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        **options: Any,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint
        self.__dict__.update(options)


class Checkpoint:
    """Save and restore variables, modules, Keras objects, and lists, tuples and dicts of them.

    The values are stored by paths of attribute names from the checkpoint, so that variables may have any names and
    objects may be made in any order. The attributes of `root`, if it is given, are stored like those of the
    checkpoint. Raises ValueError for an object that holds nothing to store.

    >>> import tempfile, os
    >>> v = autoconv.Variable([1.0, 2.0])
    >>> path = autoconv.train.Checkpoint(v=v).save(os.path.join(tempfile.mkdtemp(), "ckpt"))
    >>> _ = v.assign([0.0, 0.0])
    >>> _ = autoconv.train.Checkpoint(v=v).restore(path).assert_consumed()
    >>> v.numpy()
    array([1., 2.], dtype=float32)
    """

    _restores_attributes = True
    _root: Any
    _save_counter: Variable | None
    _parts: dict[str, Any]

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self.__dict__.update(_root=self if root is None else root, _save_counter=None, _parts={})
        if root is not None:
            _check_trackable("root", root)
        for name, value in sorted(kwargs.items()):
            _check_trackable(name, value)
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        for restoration, number in deferred_restorations(self, name):
            value = waiting_container(value, restoration, number)
        object.__setattr__(self, name, value)
        if not name.startswith("_") and is_trackable(value):
            self._parts[name] = value
        restore_attribute(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self._parts.pop(name, None)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        counter = {} if self._save_counter is None else {"save_counter": self._save_counter}
        return {**self._parts, **counter}

    @property
    def save_counter(self) -> Variable:
        """The number of the last checkpoint that `save` wrote or `restore` read, an int64 variable."""
        counter = self._save_counter
        if counter is None:
            with recording(region=None):  # created eagerly, outside any trace
                counter = Variable(0, trainable=False, name="save_counter", dtype=int64)
            self.__dict__["_save_counter"] = counter
            restore_attribute(self, "save_counter", counter)
        return counter

    def write(self, file_prefix: str | os.PathLike[str], options: CheckpointOptions | None = None) -> str:
        """Write the values to files that begin with the prefix; return the prefix.

        Folders are made as needed. A checkpoint of the same prefix is replaced once the new one is complete.
        """
        prefix = os.fspath(file_prefix)
        graph = object_graph(self._root, self._own_parts())
        arrays: dict[str, np.ndarray] = {}
        for node, object_ in zip(graph.nodes, graph.objects, strict=True):
            if node.key_by_name:
                array_by_name = stored_arrays(object_)
                arrays.update({key: array_by_name[name] for name, key in node.key_by_name.items()})
        write_files(prefix, arrays, [{"children": node.children, "values": node.key_by_name} for node in graph.nodes])
        return prefix

    def save(self, file_prefix: str | os.PathLike[str], options: CheckpointOptions | None = None) -> str:
        """Write a checkpoint whose name is the prefix, a hyphen and a new number; return the name.

        The file `checkpoint` in the same folder names the checkpoint as the latest.
        """
        with recording(region=None):  # the counter is eager also where a graph is recorded
            self.save_counter.assign_add(1)
            path = f"{os.fspath(file_prefix)}-{int(self.save_counter.numpy())}"
        existed_before = checkpoint_exists(path)
        try:
            self.write(path, options)
            update_checkpoint_state(os.path.dirname(path), path, [path])
        except BaseException:
            if not existed_before:
                delete_unlisted(path)
            with recording(region=None):
                self.save_counter.assign_sub(1)
            raise
        return path

    def read(self, save_path: str | os.PathLike[str], options: CheckpointOptions | None = None) -> CheckpointLoadStatus:
        """Restore the values of a checkpoint that `write` wrote; return the status of the restoration.

        Objects created later are restored when they become attributes. Raises NotFoundError without the
        checkpoint, DataLossError where it is damaged, and ValueError for a variable of another shape.
        """
        return self._restore(open_checkpoint(os.fspath(save_path)))

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus:
        """Restore the values of a checkpoint that `save` wrote, and the save counter; None restores nothing."""
        if save_path is None:
            return InitializationOnlyStatus(self._root)
        try:
            reader = open_checkpoint(os.fspath(save_path))
        except NotFoundError as error:
            raise NotFoundError(
                f"Error when restoring from checkpoint or SavedModel at {os.fspath(save_path)}: {error.message}\n"
                "Please double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' "
                "in 'path/to/ckpt-1')."
            ) from None
        if reader.nodes and "save_counter" in reader.nodes[0].children:
            _ = self.save_counter  # created here, so that it is matched like the other parts
        return self._restore(reader)

    def _restore(self, reader: CheckpointReader) -> CheckpointLoadStatus:
        """Restore the values, and prepare lists and dicts among the attributes for items that are added later."""
        restoration = Restoration(reader, self._root, self._own_parts())
        if reader.nodes:
            for name, value in self._parts.items():
                if name in reader.nodes[0].children:
                    container = waiting_container(value, restoration, reader.nodes[0].children[name])
                    object.__setattr__(self, name, container)
                    self._parts[name] = container
        return CheckpointLoadStatus(restoration)

    def _own_parts(self) -> Mapping[str, Any]:
        """Return the attributes of the checkpoint itself if another object is the root, else {}."""
        return {} if self._root is self else self._trackable_children()


def write_files(prefix: str, arrays: Mapping[str, np.ndarray], nodes: Sequence[Mapping[str, Any]]) -> None:
    """Write the files of a checkpoint with this prefix: arrays by key, and the graph of the objects."""
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    data_path = f"{prefix}.{secrets.token_hex(4)}.safetensors"
    with folder_lock(os.path.dirname(prefix)):
        try:
            content = {
                "format": FORMAT,
                "version": VERSION,
                "data": os.path.basename(data_path),
                "arrays": write_arrays(data_path, arrays),
                "nodes": list(nodes),
            }
            write_json(prefix + INDEX_SUFFIX, content)
        finally:  # also after an interruption, the index tells which file belongs to the checkpoint
            _delete_unused(prefix)


def delete_checkpoint(prefix: str) -> None:
    """Remove the files of a checkpoint of this package, if there is one."""
    index = prefix + INDEX_SUFFIX
    if os.path.isfile(index):
        for path in (index, *data_files(prefix)):
            with contextlib.suppress(FileNotFoundError):  # another process may delete it, too
                os.unlink(path)


def delete_unlisted(prefix: str) -> None:
    """Remove a checkpoint whose save failed, unless the file `checkpoint` names it as the latest already."""
    with contextlib.suppress(DataLossError):
        checkpoint_state = get_checkpoint_state(os.path.dirname(prefix))
        if checkpoint_state is None or prefix != checkpoint_state.model_checkpoint_path:
            delete_checkpoint(prefix)


def data_files(prefix: str) -> list[str]:
    """Return the files with the arrays of a checkpoint; more than one only after a writer was killed."""
    return sorted(glob.glob(f"{glob.escape(prefix)}.????????.safetensors"))


def _delete_unused(prefix: str) -> None:
    """Delete the files with arrays to which the index does not refer."""
    try:
        used_name = read_json(prefix + INDEX_SUFFIX, "index of a checkpoint")["data"]
    except NotFoundError:
        used_name = ""
    except (DataLossError, KeyError):
        return  # a damaged index: leave what it may have referred to
    for path in data_files(prefix):
        if os.path.basename(path) != used_name:
            os.unlink(path)


def _check_trackable(name: str, value: Any) -> None:
    """Raise ValueError for an object that checkpoints cannot save."""
    if not is_trackable(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (a variable, a module, a Keras object, or a "
            f"list, tuple or dict of them), got {value!r}."
        )
