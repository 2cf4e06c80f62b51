"""Wrappers that remember the function they stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def make_decorator(
    target: Callable[..., Any],
    decorator_func: Callable[..., Any],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: object = None,
) -> Callable[..., Any]:
    """Return `decorator_func` with the name, the docstring and the signature of `target`, which it wraps."""
    wrapper = functools.update_wrapper(decorator_func, target)
    wrapper.__doc__ = decorator_doc or target.__doc__
    return wrapper


def unwrap(maybe_tf_decorator: Callable[..., Any]) -> tuple[list[Callable[..., Any]], Callable[..., Any]]:
    """Return the wrappers around a function, the outermost first, and the function."""
    wrappers = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        wrappers.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return wrappers, maybe_tf_decorator
