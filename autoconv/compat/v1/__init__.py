"""TensorFlow of version 1: graphs with placeholders and variables, run by sessions.

`import autoconv.compat.v1 as tf` gives programs of version 1 their names. Names with the same meaning in version 2 are
those of autoconv; others are in this folder. After `disable_v2_behavior()` all ops of a program are recorded in the
default graph; a block `with Graph().as_default():` records its ops in a graph of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from autoconv.summary.protos import graph_messages, messages
from autoconv.upgrade.version1 import MODULE_BY_NAME, NEW_MODULE_NAMES, NEW_NAMES, REMEDY_BY_NAME


def __getattr__(name: str) -> Any:
    """Load a name at its first use, from this folder, from version 2, or from the classes of protocol buffers."""
    result = _find_name(name)
    globals()[name] = result
    return result


def _find_name(name: str) -> Any:
    """Return the object of a name of version 1; raise AttributeError, with a remedy if REMEDY_BY_NAME has one."""
    if name in MODULE_BY_NAME:
        module, _, attribute = MODULE_BY_NAME[name].partition(":")
        return getattr(importlib.import_module(f"{__name__}.{module}"), attribute or name)
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MESSAGES:
        return getattr(messages("summary" if name.startswith("Summary") else "event"), name)
    if name in _GRAPH_MESSAGES:
        return getattr(graph_messages(), name)
    if name in REMEDY_BY_NAME:
        raise AttributeError(f"module 'autoconv.compat.v1' has no attribute {name!r}: {REMEDY_BY_NAME[name]}")
    result = importlib.import_module("autoconv")
    for attribute in {**NEW_NAMES, **NEW_MODULE_NAMES}.get(name, name).split("."):
        result = getattr(result, attribute, _ABSENT)
        if result is _ABSENT:
            raise AttributeError(f"module 'autoconv.compat.v1' has no attribute {name!r}")
    return result


_ABSENT: Any = object()  # the default of getattr for an attribute that a module lacks
_MESSAGES = ("Event", "Summary", "SummaryMetadata")  # classes of TensorBoard's protocol buffers
_GRAPH_MESSAGES = ("GraphDef",)  # classes of protocol buffers with graphs
__all__ = sorted(MODULE_BY_NAME)


def __dir__() -> list[str]:
    return sorted({*MODULE_BY_NAME, *NEW_NAMES, *NEW_MODULE_NAMES, *dir(importlib.import_module("autoconv"))})
