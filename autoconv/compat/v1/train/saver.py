"""Savers, which write the values of a session's variables to checkpoints and restore them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.control.graph_variable import GraphVariable
from autoconv.compat.v1.collections import GraphKeys
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.saved_model.meta_graph import export_graph
from autoconv.compat.v1.session import Session
from autoconv.config.refused_options import refuse_options
from autoconv.errors import InvalidArgumentError, NotFoundError
from autoconv.graph.types import are_shapes_compatible
from autoconv.train.checkpoint import delete_checkpoint, write_files
from autoconv.train.reader import checkpoint_exists, open_checkpoint
from autoconv.train.state import update_checkpoint_state


class Saver:
    """A saver writes the variables of a session to files and restores them, also from files of TensorFlow's savers.

    `var_list` is a list of variables, or a dict of them by their names in the file; by default all that the graph has
    when the saver is created. The last `max_to_keep` checkpoints are kept, with 0 all, and in addition one of each
    `keep_checkpoint_every_n_hours`. Options of files and of
    graphs, such as `sharded` and `filename`, have no effect: each checkpoint is two files.

    >>> import tempfile
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.Variable([1.0, 2.0], name="v")
    ...     saver = autoconv.compat.v1.train.Saver()
    ...     session.run(v.initializer)
    ...     path = saver.save(session, tempfile.mkdtemp() + "/model", global_step=7)
    ...     session.run(v.assign([0.0, 0.0]))
    ...     saver.restore(session, path)
    ...     path[-8:], session.run(v)
    array([0., 0.], dtype=float32)
    ('/model-7', array([1., 2.], dtype=float32))
    """

    def __init__(
        self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None, restore_sequentially: bool = False,
        saver_def: object = None, builder: object = None, defer_build: bool = False, allow_empty: bool = False,
        write_version: object = None, pad_step_number: bool = False, save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:  # fmt: skip
        refuse_options("Saver", saver_def=saver_def, builder=builder)
        self._var_list = var_list
        self._reshape, self._max_to_keep, self._pads_step = reshape, max_to_keep, pad_step_number
        self._keep_period = 3600 * keep_checkpoint_every_n_hours
        self._next_keep_time = time.time() + self._keep_period
        self._checkpoints: list[tuple[str, float]] = []  # path, and time of the save
        self._allows_empty = allow_empty
        self._variables: dict[str, GraphVariable] | None = None
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Select the variables to save; raises ValueError if there are none."""
        var_list = self._var_list
        if var_list is None:
            graph = get_default_graph()
            var_list = [*graph.get_collection(GraphKeys.GLOBAL_VARIABLES), *graph.get_collection("saveable_objects")]
        if isinstance(var_list, dict):
            self._variables = dict(var_list)
        else:
            self._variables = {variable.name.removesuffix(":0"): variable for variable in var_list}
        if not self._variables and not self._allows_empty:
            raise ValueError("No variables to save")

    @property
    def last_checkpoints(self) -> list[str]:
        """The path prefixes of the checkpoints that are kept, oldest first."""
        return [path for path, _ in self._checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        self._checkpoints = [(path, time.time()) for path in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Set the list of checkpoints that are kept to those of the path prefixes that have files."""
        self.set_last_checkpoints([path for path in checkpoint_paths if checkpoint_exists(path)])

    def save(
        self, sess: Session | None, save_path: str, global_step: Any = None, latest_filename: str | None = None,
        meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
        strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> str:  # fmt: skip
        """Write a checkpoint; return its path prefix, which ends with `global_step` if that is given.

        With eager execution, the session is None. Raises FailedPreconditionError for a variable that is not
        initialised. The graph is written beside the checkpoint, to `path.meta`; see `train.export_meta_graph`.
        """
        path = os.fspath(save_path)
        if global_step is not None:
            number = int(sess.run(global_step) if sess is not None and hasattr(global_step, "graph") else global_step)
            path = f"{path}-{number:08d}" if self._pads_step else f"{path}-{number}"
        variables = self.variables
        values = (
            {name: variable.numpy() for name, variable in variables.items()} if sess is None else sess.run(variables)
        )
        write_files(path, {name: _as_array(values[name], variables[name]) for name in variables}, [])
        if sess is not None and write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(f"{path}.{meta_graph_suffix}")
        if write_state:
            self._record_checkpoint(path, latest_filename)
        return path

    def export_meta_graph(
        self, filename: str | None = None, collection_list: Sequence[Any] | None = None, as_text: bool = False,
        export_scope: str | None = None, clear_devices: bool = False, clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> Any:  # fmt: skip
        """Return the default graph with this saver as a MetaGraphDef, and write it; see `train.export_meta_graph`."""
        refuse_options("Saver.export_meta_graph", export_scope=export_scope)
        graph = get_default_graph()
        return export_graph(graph, filename, collection_list, self.variables)

    def restore(self, sess: Session | None, save_path: str) -> None:
        """Set the variables of the session to the values of a checkpoint.

        Raises ValueError if there is no checkpoint, NotFoundError for a variable that it lacks, and
        InvalidArgumentError for a value of another shape.
        """
        path = os.fspath(save_path) if save_path is not None else None
        if path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        reader = open_checkpoint(path)
        for name, variable in self.variables.items():
            if not reader.has_tensor(name):
                raise NotFoundError(f"Key {name} not found in checkpoint {path}")
            value = reader.get_array(name)
            if self._reshape:
                value = value.reshape(variable.shape.as_list())  # type: ignore[arg-type]
            if not are_shapes_compatible(variable.type.shape, value.shape):
                raise InvalidArgumentError(
                    "Assign requires shapes of both tensors to match. "
                    f"lhs shape= {variable.shape.as_list()} rhs shape= {list(value.shape)}, of {name} in {path}"
                )
            if sess is None:
                variable.assign(value)
            else:
                sess.set_value(variable, value)

    @property
    def variables(self) -> dict[str, GraphVariable]:
        """The variables to save by their names in files."""
        if self._variables is None:
            self.build()
        return self._variables or {}

    def _record_checkpoint(self, path: str, latest_filename: str | None) -> None:
        """Add a checkpoint to the list, and delete the oldest ones beyond `max_to_keep`."""
        earlier_checkpoints = [(other, save_time) for other, save_time in self._checkpoints if other != path]
        self._checkpoints = [*earlier_checkpoints, (path, time.time())]
        while self._max_to_keep and len(self._checkpoints) > self._max_to_keep:
            oldest, save_time = self._checkpoints.pop(0)
            if save_time > self._next_keep_time:
                self._next_keep_time += self._keep_period
            else:
                delete_checkpoint(oldest)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{oldest}.meta")
        update_checkpoint_state(os.path.dirname(path) or ".", path, self.last_checkpoints, latest_filename)


def _as_array(value: Any, variable: GraphVariable) -> np.ndarray:
    """Return a value as an array of the variable's dtype."""
    return np.asarray(value, variable.dtype.numpy)
