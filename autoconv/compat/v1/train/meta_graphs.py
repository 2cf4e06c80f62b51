"""Files of meta graphs: graphs of version 1 that another program can import, with their variables and collections."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.api.control.graphs import Graph, graph_being_built
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.saved_model.meta_graph import MetaGraphDef, add_to_graph, export_graph, read_meta_graph
from autoconv.compat.v1.train.saver import Saver
from autoconv.config.refused_options import refuse_options


def export_meta_graph(
    filename: str | os.PathLike[str] | None = None, meta_info_def: object = None, graph_def: object = None,
    saver_def: object = None, collection_list: Sequence[Any] | None = None, as_text: bool = False,
    graph: Graph | None = None, export_scope: str | None = None, clear_devices: bool = False,
    clear_extraneous_savers: bool = False, strip_default_attrs: bool = False, save_debug_info: bool = False,
) -> MetaGraphDef:  # fmt: skip
    """Return a graph as a MetaGraphDef, by default the default graph; write it to the file if that is given.

    The file has a format of its own, with and without `as_text`. `collection_list` has the names of the collections to
    keep, by default all. Nodes and members that no file can hold, which refer to Python functions or objects, are left
    out, with the nodes that depend on them. Raises NotImplementedError for a part of a graph.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.meta")
    >>> with autoconv.Graph().as_default():
    ...     y = autoconv.compat.v1.placeholder(autoconv.float32, [], name="x") + 1.0
    ...     meta_graph = autoconv.compat.v1.train.export_meta_graph(path, collection_list=[])
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     autoconv.compat.v1.train.import_meta_graph(path)
    ...     session.run(y.name, {"x:0": 2.0})
    np.float32(3.0)
    """
    refuse_options(
        "export_meta_graph", graph_def=graph_def, export_scope=export_scope, meta_info_def=meta_info_def,
        saver_def=saver_def,
    )  # fmt: skip
    return export_graph(graph or get_default_graph(), filename, collection_list, {})


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
) -> Saver | None:  # fmt: skip
    """Add the graph of a MetaGraphDef or of a file to the default graph; return a saver of its variables.

    The result is None for a graph without variables. Names get the prefix `import_scope`; `input_map` has tensors that
    replace placeholders, by their names. The graph is verified, and nothing of it is run. Raises OSError without the
    file, DataLossError for damage, and RuntimeError with eager execution.

    >>> with autoconv.Graph().as_default():
    ...     v = autoconv.Variable([1.0, 2.0], name="v")
    ...     meta_graph = autoconv.compat.v1.train.export_meta_graph()
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     saver = autoconv.compat.v1.train.import_meta_graph(meta_graph)
    ...     session.run(autoconv.compat.v1.global_variables_initializer())
    ...     session.run("v:0")
    array([1., 2.], dtype=float32)
    """
    if graph_being_built() is None:
        raise RuntimeError(
            "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when "
            "eager execution is enabled."
        )
    meta_graph = meta_graph_or_file
    if not isinstance(meta_graph, MetaGraphDef):
        meta_graph = read_meta_graph(meta_graph)
    variables = add_to_graph(meta_graph, get_default_graph(), import_scope or "", input_map)
    saved_variables = {name: variables[number] for name, number in meta_graph.record["saver"].items()}
    return Saver(saved_variables or variables) if variables else None
