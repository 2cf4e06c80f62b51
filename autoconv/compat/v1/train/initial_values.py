"""Initial values of a graph's variables from a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autoconv.api.control.graph_variable import GraphVariable, outside_of_control_flow
from autoconv.compat.v1.collections import GraphKeys
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.dispatch import apply
from autoconv.train import latest_checkpoint
from autoconv.train.reader import CheckpointReader, open_checkpoint


def init_from_checkpoint(
    ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any] | Iterable[tuple[str, Any]]
) -> None:  # fmt: skip
    """Make the values in a checkpoint the initial values of variables of the default graph.

    A key of `assignment_map`, a dict or a list of pairs, is a name in the checkpoint; its value is a variable, the name
    of one, or a list whose first item is one. Or the key is a scope in the checkpoint ("scope/", or "/" for all names),
    and its value a scope of the graph. Raises ValueError for a name that the checkpoint or the graph lacks, and for
    another shape.

    >>> import tempfile
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable(5.0)).save(tempfile.mkdtemp() + "/c")
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     w = autoconv.compat.v1.get_variable("w", [])
    ...     autoconv.compat.v1.train.init_from_checkpoint(path, {"v/.ATTRIBUTES/VARIABLE_VALUE": w})
    ...     session.run(w.initializer)
    ...     session.run(w)
    np.float32(5.0)
    """
    path = os.fspath(ckpt_dir_or_file)
    reader = open_checkpoint(latest_checkpoint(path) or path if os.path.isdir(path) else path)
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for source, target in pairs:
        for key, variable in _pairs(reader, source, target):
            _set_initial_value(reader, key, variable)


def _pairs(reader: CheckpointReader, source: str, target: Any) -> Iterator[tuple[str, GraphVariable]]:
    """Yield pairs (name in the checkpoint, variable) for an entry (source, target) of the map."""
    if not isinstance(target, str):
        yield source, target[0] if isinstance(target, (list, tuple)) else target
        return
    variables = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
    variable_by_name = {variable.name.removesuffix(":0"): variable for variable in variables}
    if not source.endswith("/"):
        if target not in variable_by_name:
            raise ValueError(f"the graph has no variable {target!r} for {source!r} of the checkpoint")
        yield source, variable_by_name[target]
        return
    scope = "" if target == "/" else target
    for name, variable in variable_by_name.items():
        if name.startswith(scope):
            yield source.removeprefix("/") + name.removeprefix(scope), variable


def _set_initial_value(reader: CheckpointReader, key: str, variable: GraphVariable) -> None:
    """Replace a variable's initial value, and the operation that sets it."""
    if not reader.has_tensor(key):
        raise ValueError(f"Tensor {key} is not found in {reader.path} checkpoint")
    array = reader.get_array(key)
    if not variable.shape.is_compatible_with(array.shape):
        shapes = f"{variable.shape} does not match with {array.shape} of {key}"
        raise ValueError(f"Shape of variable {variable.name} {shapes}")
    with outside_of_control_flow(variable.graph):
        variable.initial_value = apply("identity", constant(array))
        assignment = apply("assign_variable", variable.storage, variable.initial_value)
    variable.assignment = assignment
