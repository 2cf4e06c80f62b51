"""Options of the communication between workers."""

from __future__ import annotations

from enum import Enum

from autoconv.lazy_dataclass import dataclass


class CommunicationImplementation(Enum):
    """The library that sends values between workers. Here it is always the one that the strategy documents.

    >>> autoconv.distribute.experimental.CommunicationImplementation("RING").name
    'RING'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclass
class CommunicationOptions:
    """Hints for collective operations: a size of packs in bytes, a limit in seconds, a library.

    Strategies of several workers accept them without effect, except that they raise UnimplementedError for a limit.
    Raises ValueError for a negative size or another library.

    >>> autoconv.distribute.experimental.CommunicationOptions(implementation="ring").implementation
    <CommunicationImplementation.RING: 'RING'>
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {self.bytes_per_pack}.")
        name = self.implementation.upper() if isinstance(self.implementation, str) else self.implementation
        self.implementation = CommunicationImplementation(name)


CollectiveCommunication = CommunicationImplementation
