"""`tensorflow.xla`: functions are compiled anyway."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from autoconv.tracing import function


def _compile(computation: Callable[..., Any], inputs: Sequence[object] | None = None) -> Any:
    """Call a function with these inputs, as one graph."""
    return function(computation)(*(inputs or ()))


@contextlib.contextmanager
def _jit_scope(compile_ops: bool = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Run the block; graphs are compiled anyway."""
    yield


experimental = SimpleNamespace(compile=_compile, jit_scope=_jit_scope)
