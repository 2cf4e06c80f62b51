"""`tensorflow.xla`: `compile` records a function as one graph; `jit_scope` has no effect: all graphs are compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from autoconv.tracing import function


def _compile(computation: Callable[..., Any], inputs: Sequence[object] | None = None) -> Any:
    """Call a function with these inputs, as one graph; a single result is returned in a tuple."""
    result = function(computation)(*(inputs or ()))
    return result if isinstance(result, (list, tuple, dict)) else (result,)


@contextlib.contextmanager
def _jit_scope(compile_ops: bool = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Run the `with` block; graphs inside and outside of it are compiled."""
    yield


experimental = SimpleNamespace(compile=_compile, jit_scope=_jit_scope)
