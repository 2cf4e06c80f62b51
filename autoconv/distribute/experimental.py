"""Strategies that TensorFlow keeps under this name."""

from __future__ import annotations

from autoconv.distribute import coordinator
from autoconv.distribute.central_storage import CentralStorageStrategy
from autoconv.distribute.communication import (
    CollectiveCommunication,
    CommunicationImplementation,
    CommunicationOptions,
)
from autoconv.distribute.multi_worker import MultiWorkerMirroredStrategy
from autoconv.distribute.parameter_server import ParameterServerStrategy
from autoconv.distribute.strategy import ValueContext
from autoconv.distribute.unsupported_strategies import TPUStrategy

__all__ = [
    "CentralStorageStrategy", "CollectiveCommunication", "CommunicationImplementation", "CommunicationOptions",
    "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy", "ValueContext", "coordinator",
]  # fmt: skip
