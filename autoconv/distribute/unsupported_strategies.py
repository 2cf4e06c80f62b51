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
