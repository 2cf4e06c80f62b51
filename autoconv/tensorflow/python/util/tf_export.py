"""Decorators that give functions and classes public names, which this package does not record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class tf_export:
    """Decorator that returns the function or class as it is."""

    def __init__(self, *names: str, v1: object = None, allow_multiple_exports: bool = True) -> None:
        self.names = names

    def __call__(self, item: Any) -> Any:
        return item

    def export_constant(self, module_name: str, name: str) -> None:
        """Do nothing, as there is no table of public names."""


keras_export: Callable[..., Any] = tf_export
estimator_export: Callable[..., Any] = tf_export
