"""`write_graph`: files of GraphDefs."""

from __future__ import annotations

import os
from typing import Any

from autoconv.storage.files import replacing


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Write a graph as a GraphDef to the file `name` in the folder `logdir`, as text or bytes; return its path.

    >>> import tempfile
    >>> with autoconv.Graph().as_default() as graph:
    ...     x = autoconv.constant(1.0, name="x")
    >>> path = autoconv.compat.v1.train.write_graph(graph, tempfile.mkdtemp(), "graph.pb", as_text=False)
    >>> autoconv.compat.v1.GraphDef.FromString(open(path, "rb").read()).node[0].name
    'x'
    """
    convert = getattr(graph_or_graph_def, "as_graph_def", None)
    message = graph_or_graph_def if convert is None else convert()
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    content = str(message).encode() if as_text else message.SerializeToString()
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)
    return path
