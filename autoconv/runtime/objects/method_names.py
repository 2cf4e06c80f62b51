"""Names that are methods of an object whose class is known only at run time."""

from __future__ import annotations

import numpy as np

from autoconv.graph.types import ObjectType
from autoconv.ops.python.objects import COLLECTIONS
from autoconv.runtime.recording.regions import current_region

# Attributes with two underscores that are data; others are special methods.
DATA_DUNDERS = frozenset({"__name__", "__qualname__", "__cause__", "__context__", "__suppress_context__", "__doc__"})


def is_method_name(name: str) -> bool:
    """Return whether `x.name` is a method, for an `x` whose class is known only at run time."""
    return name in _METHODS or (name in _ARRAY_METHODS and _has_arrays())


# Attributes of Python's own classes that are methods: `x.append` is a method before the class of x is known.
_METHODS = frozenset(
    name
    for class_ in (str, bytes, int, float, list, tuple, dict, set, range, BaseException, *COLLECTIONS)
    for name in dir(class_)
    if not name.startswith("__") and callable(getattr(class_, name))
)

# Names that are methods where a graph has arrays among its objects.
_ARRAY_METHODS = frozenset(name for name in dir(np.ndarray) if callable(getattr(np.ndarray, name)) and name[0] != "_")
_ARRAY = ObjectType("ndarray")


def _has_arrays() -> bool:
    """Return whether the traced function has an array as parameter."""
    region = current_region()
    return region is not None and any(value.type == _ARRAY for value in region.trace.root.graph.parameters)
