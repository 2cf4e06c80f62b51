"""Large constants of graphs: the text refers to them by name, the file of arrays holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.errors import DataLossError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.graph import Graph, Node
from autoconv.lazy_dataclass import dataclass

MAX_ELEMENTS_IN_TEXT = 64  # of an array: the text of 10^6 elements takes seconds to write and to read


@attribute_class
@dataclass(frozen=True)
class StoredArray:
    """Reference to an array that is stored under the name."""

    name: str


def array_extractor(arrays: dict[str, np.ndarray]) -> Callable[[Node], Mapping[str, Any]]:
    """Return the argument `attributes` of `to_text` that moves large arrays to `arrays`, each once."""
    names: dict[int, str] = {}

    def extract_arrays(node: Node) -> Mapping[str, Any]:
        """Return the attributes of a node, with a reference in place of each large array."""
        result = dict(node.attributes)
        for key, value in result.items():
            if isinstance(value, np.ndarray) and value.size > MAX_ELEMENTS_IN_TEXT:
                name = names.get(id(value))
                if name is None:
                    name = names[id(value)] = f"constant/{len(arrays)}"
                    arrays[name] = value
                result[key] = StoredArray(name)
        return result

    return extract_arrays


def restore_arrays(graph: Graph, read: Callable[[str], np.ndarray]) -> None:
    """Replace references in attributes by their arrays; `read` returns the array of a name."""
    for node in graph.walk():
        if any(isinstance(value, StoredArray) for value in node.attributes.values()):
            node.attributes = {
                key: read(value.name) if isinstance(value, StoredArray) else value
                for key, value in node.attributes.items()
            }
        if node.op.name == "constant" and not isinstance(node.attributes.get("value"), (np.ndarray, np.generic)):
            raise DataLossError(f"the constant %{node.name} of a saved graph has no array")
