"""The tracing protocol: how classes of the user's say which of their objects share a trace."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class TracingContext:
    """What `__tf_tracing_type__` is given."""


class TraceType(abc.ABC):
    """What the objects that share a trace have in common. It compares and hashes as a key of the cache."""

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace made for `other` serves objects of this type too."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The type that this one and all of `others` are subtypes of, None when there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What the function is traced with."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class whose objects say by themselves which of them share a trace."""

    def __tf_tracing_type__(self, context: Any) -> TraceType: ...
