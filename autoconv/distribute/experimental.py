"""Strategies that TensorFlow keeps under this name."""

from __future__ import annotations

from autoconv.distribute import coordinator
from autoconv.distribute.central_storage import CentralStorageStrategy
from autoconv.distribute.multi_worker import MultiWorkerMirroredStrategy
from autoconv.distribute.parameter_server import ParameterServerStrategy
from autoconv.distribute.strategy import ValueContext
from autoconv.distribute.unsupported_strategies import TPUStrategy

__all__ = [
    "CentralStorageStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "TPUStrategy", "ValueContext",
    "coordinator",
]  # fmt: skip
