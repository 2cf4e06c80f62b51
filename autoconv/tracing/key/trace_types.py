"""The tracing protocol: users' classes define which of their objects share a trace."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class TracingContext:
    """The argument of `__tf_tracing_type__`."""


class TraceType(abc.ABC):
    """The common type of objects that share a trace. It compares and hashes as a part of the cache key."""

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Return whether a trace made for `other` is valid for objects of this type as well."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """Return the type that this one and all of `others` are subtypes of; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """Return the value with which the function is traced."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class that defines which of its objects share a trace."""

    def __tf_tracing_type__(self, context: Any) -> TraceType: ...
