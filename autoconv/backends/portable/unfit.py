"""The refusal of a graph that another runtime cannot represent."""

from __future__ import annotations

from autoconv.errors import Place, UnimplementedError
from autoconv.graph.graph import Span

SIZE_DEPENDS_ON_VALUE = "a size depends on a value"  # reason of a refusal


class GraphUnfit(UnimplementedError):
    """A graph has an op, a type or a size that the other runtime cannot represent.

    `failed_op` is the op's name, `reason` what is missing, and `span` the place in the program, or None if unknown.

    >>> from autoconv.stablehlo import GraphUnfit
    >>> raise GraphUnfit("eigh", "StableHLO has no form for float32[2,2]")
    Traceback (most recent call last):
    ...
    autoconv.backends.portable.unfit.GraphUnfit: eigh: StableHLO has no form for float32[2,2]
    Write instead: leave this part out of the exported function, or run it natively
    """

    def __init__(self, op: str, reason: str, span: Span | None = None) -> None:
        place = None if span is None else Place(span.file, span.line, span.column, span.end_column)
        super().__init__(f"{op}: {reason}", place, "leave this part out of the exported function, or run it natively")
        self.failed_op = op
        self.reason = reason
        self.span = span
