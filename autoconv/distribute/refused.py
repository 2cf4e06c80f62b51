"""Strategies of TensorFlow that are not implemented; the error names what to use."""

from __future__ import annotations

from typing import Any

from autoconv.distribute.strategy import Strategy
from autoconv.errors import UnimplementedError


class TPUStrategy(Strategy):
    """Replicas on TPUs, which are not implemented: raises UnimplementedError.

    >>> isinstance(autoconv.distribute.get_strategy(), autoconv.distribute.TPUStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError("TPUs are not implemented; use autoconv.distribute.get_strategy()")


class ParameterServerStrategy(Strategy):
    """Training by workers that do not wait for each other, which is not implemented: raises UnimplementedError.

    >>> isinstance(autoconv.distribute.get_strategy(), autoconv.distribute.ParameterServerStrategy)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError(
            "parameter servers are not implemented; use autoconv.distribute.MultiWorkerMirroredStrategy for training "
            'by several processes, or variables and calls in the blocks of autoconv.device("/job:worker/task:0")'
        )
