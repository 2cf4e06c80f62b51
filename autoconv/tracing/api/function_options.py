"""Options of functions, as the decorators take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.tracing.execute.donation import Donate


class FunctionOptions(NamedTuple):
    """The options of one function; `decorators` describes them."""

    input_signature: Sequence[Any] | None = None
    autograph: bool = True
    reduce_retracing: bool = False
    name: str | None = None
    follow_type_hints: bool = False
    donate: Donate = ()
    backend: str | None = None


DEFAULTS = FunctionOptions()
