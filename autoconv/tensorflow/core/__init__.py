"""Paths of TensorFlow's protocol buffers; the package tensorboard has the same messages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def protobuf_module(name: str) -> Any:
    """Return a module of messages by its name, which ends in _pb2; raises ImportError without tensorboard."""
    if not name.endswith("_pb2"):
        raise AttributeError(name)
    if find_spec("tensorboard") is None:
        raise ImportError(f"{name} needs the package tensorboard: pip install 'autoconv[summary]'")
    try:
        return import_module(f"tensorboard.compat.proto.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"the package tensorboard has no messages {name}") from None
