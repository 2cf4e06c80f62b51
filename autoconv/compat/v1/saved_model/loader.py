"""Loading of saved models into sessions: those of version 1 as graphs, those of version 2 as their signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from autoconv import saved_model
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.placeholders import placeholder
from autoconv.compat.v1.saved_model.meta_graph import MetaGraphDef, add_to_graph, make_meta_graph
from autoconv.compat.v1.saved_model.signatures import SignatureDef, predict_signature_def
from autoconv.compat.v1.session import Session
from autoconv.config.refused_options import refuse_options
from autoconv.errors import DataLossError
from autoconv.saved_model.layout import read_folder
from autoconv.storage.files import folder_lock


def load(
    sess: Session, tags: Sequence[str], export_dir: str | os.PathLike[str], import_scope: str | None = None,
    **saver_kwargs: Any,
) -> MetaGraphDef:  # fmt: skip
    """Add the graph of a saved model, with the values of its variables, to the session's; return its MetaGraphDef.

    From a folder that `autoconv.saved_model.save` wrote, the graph gets a call of each signature with new
    placeholders. Nothing of a graph is run. Raises OSError without a saved model, RuntimeError for tags that the folder
    lacks, and DataLossError for damage.

    >>> import tempfile
    >>> module, folder = autoconv.Module(), tempfile.mkdtemp()
    >>> module.f = autoconv.function(lambda x: x + 1.0, input_signature=[autoconv.TensorSpec([])])
    >>> autoconv.saved_model.save(module, folder)
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     loaded = autoconv.compat.v1.saved_model.load(session, ["serve"], folder)
    ...     signature = loaded.signature_def["serving_default"]
    ...     session.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: 2.0})
    np.float32(3.0)
    """
    refuse_options("saved_model.load", **saver_kwargs)
    folder = os.fspath(export_dir)
    with folder_lock(folder, shared=True):
        index, texts, arrays, _ = read_folder(folder)
        if "meta_graphs" not in index:
            return _load_signatures(sess, folder, tags)
        try:
            graphs = [
                MetaGraphDef(record["record"], texts[record["graph"]], arrays.read) for record in index["meta_graphs"]
            ]
            meta_graph = next((graph for graph in graphs if set(graph.tags) == set(tags)), None)
            if meta_graph is None:
                raise RuntimeError(_missing_tags_message(folder, tags, [graph.tags for graph in graphs]))
            keys = [node["array"] for node in index["nodes"] if node["kind"] == "variable"]
            values = dict(zip(index["variable_names"], map(arrays.read, keys), strict=True))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DataLossError(f"{folder} is damaged: {error!r}") from None
        variables = add_to_graph(meta_graph, sess.graph, import_scope or "")
        records = meta_graph.record["variables"]
        for variable, record in zip(variables, records, strict=True):
            if record["storage"] in values:
                sess.set_value(variable, values[record["storage"]])
        return meta_graph


def _load_signatures(sess: Session, folder: str, tags: Sequence[str]) -> MetaGraphDef:
    """Add a call of each signature of an object of version 2 to the session's graph."""
    if set(tags) != {saved_model.SERVING}:
        raise RuntimeError(_missing_tags_message(folder, tags, [[saved_model.SERVING]]))
    loaded = saved_model.load(folder)
    signatures = {}
    with sess.graph.as_default():
        for name, function in loaded.signatures.items():
            signatures[name] = _call_signature(name, function)
    for variable in loaded.variables:
        sess.set_value(variable, variable.storage.value)
    return make_meta_graph(get_default_graph(), {}, signatures=signatures, tags=tags)


def _call_signature(name: str, function: Any) -> SignatureDef:
    """Record a call of a signature with new placeholders; return the names of the placeholders and of the results."""
    specs: Mapping[str, Any] = function.structured_input_signature[1]
    inputs = {key: placeholder(spec.dtype, spec.shape, f"{name}_{key}") for key, spec in specs.items()}
    return predict_signature_def(inputs, function(**inputs))


def _missing_tags_message(folder: str, tags: Sequence[str], available: Sequence[Sequence[str]]) -> str:
    return f"MetaGraphDef associated with tags {list(tags)} could not be found in {folder}; it has {list(available)}."
