"""Training in version 1: optimizers, learning rates, savers, input queues, monitored sessions, the global step."""

from __future__ import annotations

from typing import Any

from autoconv import train
from autoconv.compat.v1.summary import summary_iterator
from autoconv.compat.v1.train.graph_files import write_graph
from autoconv.compat.v1.train.initial_values import init_from_checkpoint
from autoconv.compat.v1.train.input import (
    batch,
    batch_join,
    input_producer,
    range_input_producer,
    shuffle_batch,
    shuffle_batch_join,
    slice_input_producer,
    string_input_producer,
)
from autoconv.compat.v1.train.meta_graphs import export_meta_graph, import_meta_graph
from autoconv.compat.v1.train.monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    SessionCreator,
    SingularMonitoredSession,
)
from autoconv.compat.v1.train.moving_averages import ExponentialMovingAverage
from autoconv.compat.v1.train.optimizer import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    RMSPropOptimizer,
)
from autoconv.compat.v1.train.proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from autoconv.compat.v1.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from autoconv.compat.v1.train.saver import Saver
from autoconv.compat.v1.train.saver_hooks import CheckpointSaverHook, CheckpointSaverListener, SummarySaverHook
from autoconv.compat.v1.train.schedules import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from autoconv.compat.v1.train.session_hooks import (
    FeedFnHook,
    FinalOpsHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
)
from autoconv.compat.v1.train.steps import (
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from autoconv.train import get_checkpoint_state, latest_checkpoint
from autoconv.train.reader import checkpoint_exists
from autoconv.upgrade.version1 import REMEDY_BY_NAME

NewCheckpointReader = train.load_checkpoint

__all__ = [
    "AdadeltaOptimizer", "AdagradOptimizer", "AdamOptimizer", "CheckpointSaverHook", "CheckpointSaverListener",
    "ChiefSessionCreator", "ExponentialMovingAverage", "FeedFnHook", "FinalOpsHook", "FtrlOptimizer",
    "GradientDescentOptimizer", "LoggingTensorHook", "MomentumOptimizer", "MonitoredSession",
    "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook", "Optimizer",
    "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer", "QueueRunner",
    "RMSPropOptimizer", "Saver", "Scaffold", "SecondOrStepTimer", "SessionCreator", "SessionRunArgs",
    "SessionRunContext", "SessionRunHook", "SessionRunValues", "SingularMonitoredSession", "StepCounterHook",
    "StopAtStepHook", "SummarySaverHook", "add_queue_runner", "batch", "batch_join", "checkpoint_exists",
    "cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay", "export_meta_graph",
    "get_checkpoint_state",
    "get_global_step", "get_or_create_global_step", "global_step", "import_meta_graph", "init_from_checkpoint",
    "input_producer", "inverse_time_decay",
    "latest_checkpoint", "linear_cosine_decay", "natural_exp_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay", "range_input_producer", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer", "summary_iterator", "write_graph",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return a name of `autoconv.train`, whose meaning is the same in both versions."""
    if not hasattr(train, name):
        remedy = REMEDY_BY_NAME.get(f"train.{name}")
        message = f"module 'autoconv.compat.v1.train' has no attribute {name!r}"
        raise AttributeError(f"{message}: {remedy}" if remedy else message)
    return getattr(train, name)
