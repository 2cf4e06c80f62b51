"""Modules of messages under `tensorflow.core`."""

from autoconv.tensorflow.core import protobuf_module as __getattr__  # noqa: F401
