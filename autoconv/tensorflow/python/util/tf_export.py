"""`tensorflow.python.util.tf_export`: the public names of functions and classes, of libraries and of autoconv."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

Item = TypeVar("Item")
_SYMBOLS: dict[str, object] = {}
_NAMES: dict[tuple[str, object], str] = {}  # (library, function or class) -> the first of its names


class tf_export:
    """Decorator that records the public names of a function or class, and returns it as it is."""

    def __init__(self, *names: str, v1: object = None, allow_multiple_exports: bool = True, api_name: str = "") -> None:
        self.names = names
        self.api_name = api_name or "tensorflow"

    def __call__(self, item: Item) -> Item:
        for name in self.names:
            _SYMBOLS[name] = item
            _NAMES.setdefault((self.api_name, item), name)
        return item

    def export_constant(self, module_name: str, name: str) -> None:
        """Do nothing: only names of functions and classes can be looked up."""


keras_export: Callable[..., tf_export] = functools.partial(tf_export, api_name="keras")
estimator_export: Callable[..., tf_export] = functools.partial(tf_export, api_name="estimator")


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """Return the public name of a function or class; None if it has none."""
    name = _NAMES.get((api_name, symbol)) if callable(symbol) else None
    if name is None and api_name == "tensorflow":
        public_name = f"{symbol.__module__}.{symbol.__qualname__}".removeprefix("autoconv.").removeprefix("tensorflow.")
        name = public_name if get_symbol_from_name(public_name) is symbol else None
    return name


def get_symbol_from_name(name: str) -> object:
    """Return the function or class with this public name; None if there is none."""
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    try:
        return functools.reduce(getattr, name.split("."), importlib.import_module("autoconv.tensorflow"))
    except AttributeError:
        return None
