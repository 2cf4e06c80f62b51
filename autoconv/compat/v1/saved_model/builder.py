"""Writers of saved models of version 1: graphs with the variables of a session, and their signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.api.control.module import Module
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.saved_model.meta_graph import make_meta_graph
from autoconv.compat.v1.saved_model.signatures import SignatureDef, predict_signature_def
from autoconv.compat.v1.saved_model.wrapped_function import function_of_graph, session_variables
from autoconv.compat.v1.session import Session
from autoconv.config.refused_options import refuse_options
from autoconv.runtime.recording.regions import recording
from autoconv.saved_model.layout import INDEX_NAME, write_folder
from autoconv.saved_model.options import SaveOptions
from autoconv.saved_model.save import make_content


class Builder:
    """A builder collects graphs of sessions with their signatures, and `save` writes them to a folder.

    The first graph comes with the values of its session's variables, which all graphs share. The signatures of the
    first graph are functions for `autoconv.saved_model.load`. Raises AssertionError for a folder that has files.

    >>> import os, tempfile
    >>> v1, folder = autoconv.compat.v1, os.path.join(tempfile.mkdtemp(), "model")
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     x = v1.placeholder(autoconv.float32, [], name="x")
    ...     signature = v1.saved_model.predict_signature_def({"x": x}, {"y": 2.0 * x})
    ...     builder = v1.saved_model.Builder(folder)
    ...     builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
    ...     path = builder.save()
    >>> autoconv.saved_model.load(folder).signatures["serving_default"](autoconv.constant(3.0))["y"].numpy()
    np.float32(6.0)
    """

    def __init__(self, export_dir: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(export_dir)
        if os.path.isdir(self._folder) and os.listdir(self._folder):
            raise AssertionError(
                f"Export directory {self._folder} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory."
            )
        self._content: dict[str, Any] = {}
        self._writer: Any = None

    def add_meta_graph_and_variables(
        self, sess: Session, tags: Sequence[str], signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_list: Sequence[Any] | None = None, clear_devices: bool = False, init_op: Any = None,
        train_op: Any = None, strip_default_attrs: bool = False, saver: Any = None, main_op: Any = None,
    ) -> None:  # fmt: skip
        """Add the graph of a session, the values of its variables, and signatures by name, under the tags.

        Raises AssertionError for a second graph with variables, FailedPreconditionError for a variable without a
        value, and UnimplementedError for assets and operations that loading would have to run.
        """
        if self._writer is not None:
            raise AssertionError("Graph state including variables and assets has already been saved.")
        _refuse_options(assets_list=assets_list, init_op=init_op, train_op=train_op, saver=saver, main_op=main_op)
        signatures = dict(signature_def_map or {})
        graph = sess.graph
        sess.run(graph.attachments.get("variables", []))  # raises for a variable without a value
        variables = session_variables(sess)
        with recording(region=None):
            root: Any = Module()
            root.values = list(variables.values())
            functions = {
                name: function_of_graph(graph, signature.inputs, signature.outputs, variables, name)
                for name, signature in signatures.items()
            }
            content = make_content(root, functions, SaveOptions())
        self._content, self._writer = content.index_values, content.writer
        self._content["variable_names"] = [variable.storage.name for variable in variables]
        self._content["meta_graphs"] = []
        self._add_graph(graph, tags, signatures)

    def add_meta_graph(
        self, tags: Sequence[str], signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_list: Sequence[Any] | None = None, clear_devices: bool = False, init_op: Any = None,
        train_op: Any = None, saver: Any = None, strip_default_attrs: bool = False, main_op: Any = None,
    ) -> None:  # fmt: skip
        """Add the default graph under other tags; its variables get the values of the first graph's, by name.

        Raises AssertionError before the first `add_meta_graph_and_variables`.
        """
        _refuse_options(assets_list=assets_list, init_op=init_op, train_op=train_op, saver=saver, main_op=main_op)
        if self._writer is None:
            raise AssertionError("Graph state including variables and assets has not been saved yet.")
        self._add_graph(get_default_graph(), tags, dict(signature_def_map or {}))

    def _add_graph(self, graph: Any, tags: Sequence[str], signatures: Mapping[str, SignatureDef]) -> None:
        """Add one graph to the content of the folder."""
        meta_graph = make_meta_graph(graph, self._writer.arrays, signatures=signatures, tags=tags)
        self._content["meta_graphs"].append({"graph": len(self._writer.graphs), "record": meta_graph.record})
        self._writer.graphs.append(meta_graph.text)

    def save(self, as_text: bool = False) -> str:
        """Write the folder; return the path of its index."""
        if self._writer is None:
            raise AssertionError("Graph state including variables and assets has not been saved yet.")
        write_folder(self._folder, self._content, self._writer.graphs, self._writer.arrays, [])
        return os.path.join(self._folder, INDEX_NAME)


def _refuse_options(**options: Any) -> None:
    """Refuse what saved models of version 1 do not have here: assets, and operations that loading would run."""
    refuse_options("a saved model of version 1 has no assets and runs nothing as it is loaded", **options)


def simple_save(
    session: Session, export_dir: str | os.PathLike[str], inputs: Mapping[str, Any], outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:  # fmt: skip
    """Write the graph of a session with its variables; "serving_default" is the signature of these tensors by name.

    Raises AssertionError for a folder that has files.

    >>> import os, tempfile
    >>> v1, folder = autoconv.compat.v1, os.path.join(tempfile.mkdtemp(), "model")
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     x = v1.placeholder(autoconv.float32, [], name="x")
    ...     v1.saved_model.simple_save(session, folder, {"x": x}, {"y": x + 1.0})
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     signature = v1.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
    ...     session.run(signature.outputs["y"].name, {signature.inputs["x"].name: 2.0})
    np.float32(3.0)
    """
    builder = Builder(export_dir)
    signatures = {"serving_default": predict_signature_def(inputs, outputs)}
    builder.add_meta_graph_and_variables(session, ["serve"], signatures, main_op=legacy_init_op)
    builder.save()
