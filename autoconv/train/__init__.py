"""Checkpoints, and the records of training data."""

from typing import Any

from autoconv.train import example
from autoconv.train.checkpoint import Checkpoint, CheckpointOptions
from autoconv.train.cluster_spec import ClusterSpec
from autoconv.train.coordinator import Coordinator
from autoconv.train.manager import CheckpointManager
from autoconv.train.moving_averages import ExponentialMovingAverage
from autoconv.train.object_graph import TrackableView
from autoconv.train.reader import CheckpointReader
from autoconv.train.state import (
    CheckpointState,
    checkpoints_iterator,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
    update_checkpoint_state,
)

__all__ = [
    "BytesList", "Checkpoint", "CheckpointManager", "CheckpointOptions", "CheckpointReader", "CheckpointState",
    "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists",
    "Features", "FloatList", "Int64List", "SequenceExample", "TrackableView", "checkpoints_iterator",
    "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint", "load_variable",
    "update_checkpoint_state",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the classes of protocol buffers at the first use of one of them: their package is an extra."""
    if name not in example.MESSAGE_NAMES:
        raise AttributeError(f"module 'autoconv.train' has no attribute {name!r}")
    globals().update(example.message_classes())
    return globals()[name]
