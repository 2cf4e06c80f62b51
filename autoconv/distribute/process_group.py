"""Processes that compute sums together: the workers of one job, which connect to the first of them.

Each call has a number and a description; workers whose calls differ get an error. Arrays go through the first worker's
connections. Only the sum of larger arrays goes through shared memory, if all workers are on this machine: each worker
adds its part of the elements. Arrays are always added in the order of the workers, so that all get the same bits.
"""

from __future__ import annotations

import hashlib
import socket
import struct
import time
import weakref
from collections.abc import Callable, Sequence
from multiprocessing import resource_tracker, shared_memory

import numpy as np

from autoconv.distribute.messages import DamagedMessage, Description, read, receive, send
from autoconv.errors import DataLossError, InvalidArgumentError, UnavailableError
from autoconv.forks import new_lock

_START_TIMEOUT = 60.0  # seconds for the other workers to start
_CALL_TIMEOUT = 600.0  # seconds that a call waits for the others
_SMALL_BYTES = 1 << 15  # arrays of more bytes are added in shared memory
_GREETING = "<16sI"  # format of a worker's first message: the group's name, and the worker's number
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1", "0.0.0.0")
_SHARED_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (UnavailableError, InvalidArgumentError, DataLossError)
}  # errors that all workers get


class ProcessGroup:
    """The workers at these addresses; this process is number `rank`, counted from 0.

    Raises UnavailableError if a worker does not start, or is lost later, and ValueError for an address without a port.
    """

    __autoconv_identity__ = True  # its state is not part of a trace's key

    def __init__(self, addresses: Sequence[str], rank: int, job: str = "worker") -> None:
        self.size = len(addresses)
        self.rank = rank
        self._addresses = list(addresses)
        self._job = job
        for number, address in enumerate(addresses):
            _check_address(address, f"/job:{job}/task:{number}")
        self._call_count = 0
        self._lock = new_lock()
        hosts = {address.rpartition(":")[0] for address in addresses}
        self._is_local = all(host in _LOCAL_HOSTS or host == socket.gethostname() for host in hosts)
        self._group_name = hashlib.sha256("\0".join(addresses).encode()).hexdigest()[:16]
        self._blocks: dict[str, shared_memory.SharedMemory] = {}
        self._block_indices: dict[int, int] = {}  # exponent of the block size -> block used last, 0 or 1
        self._connections: dict[int, socket.socket] = {}
        self._finalizer = weakref.finalize(self, _release_resources, self._connections, self._blocks, rank)
        if self.size > 1:
            self._connections.update(self._accept_workers() if rank == 0 else {0: self._connect_to_first()})

    # ---- collective operations

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of the workers' arrays, added in their order."""
        array = np.asarray(array, order="C")
        description = {"call": "sum", "dtype": array.dtype.name, "shape": list(array.shape)}
        with self._lock:
            if self._is_local and array.nbytes > _SMALL_BYTES:
                return self._sum_in_shared_memory(array, description)
            return self._combine(array, description, add_in_order)

    def broadcast(self, array: np.ndarray) -> np.ndarray:
        """Return the array of the first worker."""
        array = np.asarray(array, order="C")
        description = {"call": "broadcast", "dtype": array.dtype.name, "shape": list(array.shape)}
        with self._lock:
            return self._combine(array, description, lambda arrays: arrays[0])

    def all_gather(self, array: np.ndarray, axis: int) -> np.ndarray:
        """Return the workers' arrays, joined along an axis in which their sizes may differ."""
        array = np.ascontiguousarray(array)
        shape = [None if number == axis % array.ndim else size for number, size in enumerate(array.shape)]
        description = {"call": "gather", "dtype": array.dtype.name, "shape": shape, "axis": axis}
        with self._lock:
            return self._combine(array, description, lambda arrays: np.concatenate(arrays, axis))

    def barrier(self) -> None:
        """Wait for the other workers."""
        with self._lock:
            self._synchronize({"call": "barrier"})

    def close(self) -> None:
        """End the connections, and remove this worker's shared memory. The end of the process does so too."""
        self._finalizer()

    # ---- by connections

    def _combine(
        self, array: np.ndarray, description: Description, combine: Callable[[list[np.ndarray]], np.ndarray]
    ) -> np.ndarray:
        """Return `combine` of all workers' arrays, which the first worker computes and sends to the others."""
        self._call_count += 1
        description = {**description, "number": self._call_count}
        if self.size == 1:
            return combine([array])
        if self.rank:
            self._send(0, description, array)
            return self._receive(0, description)
        arrays, errors = [array], []
        # Receive from all even after a fault: closing a connection with unread bytes loses the error sent through it.
        for rank in range(1, self.size):
            try:
                arrays.append(self._receive(rank, description))
            except tuple(_SHARED_ERRORS.values()) as error:
                errors.append(error)
        if errors:
            self._send_error_to_others(errors[0])
            raise errors[0]
        result = combine(arrays)
        for rank in range(1, self.size):
            self._send(rank, description, result)
        return result

    def _synchronize(self, description: Description) -> None:
        """Wait until all workers have made the same call."""
        self._combine(np.zeros(0), description, lambda arrays: arrays[0])

    def _send_error_to_others(self, error: Exception) -> None:
        """Send an error to the workers that are connected, so that they raise it too."""
        for rank in self._connections:
            try:
                description = {"error": type(error).__name__, "text": str(error)}
                self._send(rank, description, np.zeros(0))
            except UnavailableError:
                continue

    def _send(self, rank: int, description: Description, array: np.ndarray) -> None:
        """Send a message to a worker; raise UnavailableError if the worker is lost."""
        try:
            send(self._connections[rank], description, array)
        except OSError as error:
            raise self._make_lost_error(rank, error) from None

    def _receive(self, rank: int, description: Description) -> np.ndarray:
        """Return the array of a worker's message; raises InvalidArgumentError if its call differs from this one's."""
        try:
            other_description, array = receive(self._connections[rank])
        except (OSError, EOFError) as error:
            raise self._make_lost_error(rank, error) from None
        except DamagedMessage as error:
            raise DataLossError(f"what came from {self._worker_name(rank)} is damaged: {error}") from None
        if "error" in other_description:
            raise _SHARED_ERRORS.get(other_description["error"], InvalidArgumentError)(other_description["text"])
        if any(other_description.get(key) != value for key, value in description.items()):
            raise InvalidArgumentError(
                f"the workers make different calls: number {description['number']} of {self._worker_name(self.rank)} "
                f"is {_describe_call(description)}, and that of {self._worker_name(rank)} is "
                f"{_describe_call(other_description)}"
            )
        return array

    def _worker_name(self, rank: int) -> str:
        """Return the name of a worker for messages."""
        return f"/job:{self._job}/task:{rank} at {self._addresses[rank]}"

    def _make_lost_error(self, rank: int, error: Exception) -> UnavailableError:
        """Return the error of a worker whose connection failed with `error`."""
        reason = "it does not answer" if isinstance(error, TimeoutError) else "its connection ended"
        return UnavailableError(f"the worker {self._worker_name(rank)} was lost: {reason}")

    def _accept_workers(self) -> dict[int, socket.socket]:
        """Listen until all other workers are connected; return their connections by number."""
        host, _, port = self._addresses[0].rpartition(":")
        try:
            # Another name may stand for an address that other machines cannot reach: listen at all addresses.
            server = socket.create_server((host if host in _LOCAL_HOSTS else "", int(port)))
        except OSError as error:
            raise UnavailableError(f"{self._worker_name(0)} cannot listen there: {error}") from None
        connections: dict[int, socket.socket] = {}
        deadline = time.monotonic() + _START_TIMEOUT
        with server:
            while len(connections) < self.size - 1:
                server.settimeout(max(deadline - time.monotonic(), 0.001))
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    missing = next(rank for rank in range(1, self.size) if rank not in connections)
                    text = f"no connection came within {_START_TIMEOUT:.0f} s from {self._worker_name(missing)}"
                    raise UnavailableError(text) from None
                rank = self._accept_worker(connection)
                if rank is None or rank in connections:
                    connection.close()
                else:
                    connections[rank] = connection
        return connections

    def _accept_worker(self, connection: socket.socket) -> int | None:
        """Return the number of the worker that connected; None if another program did."""
        _configure(connection, 5.0)
        try:
            name, rank = struct.unpack(_GREETING, bytes(read(connection, struct.calcsize(_GREETING))))
            if name.decode("ascii", "replace") != self._group_name or not 0 < rank < self.size:
                return None
            connection.sendall(b"welcome!")
        except (OSError, EOFError):
            return None
        connection.settimeout(_CALL_TIMEOUT)
        return int(rank)

    def _connect_to_first(self) -> socket.socket:
        """Return a connection to the first worker, which may start later than this process."""
        host, _, port = self._addresses[0].rpartition(":")
        deadline, reason = time.monotonic() + _START_TIMEOUT, "nothing listens there"
        while time.monotonic() < deadline:
            try:
                connection = socket.create_connection((host or "localhost", int(port)), 5.0)
                _configure(connection, max(deadline - time.monotonic(), 0.1))
                connection.sendall(struct.pack(_GREETING, self._group_name.encode(), self.rank))
                if read(connection, 8) == b"welcome!":
                    connection.settimeout(_CALL_TIMEOUT)
                    return connection
                reason = "another program answers there"
            except (OSError, EOFError) as error:
                reason = str(error) or reason
                time.sleep(0.05)
        name = self._worker_name(0)
        raise UnavailableError(f"the worker {name} did not answer within {_START_TIMEOUT:.0f} s: {reason}")

    # ---- by shared memory

    def _sum_in_shared_memory(self, array: np.ndarray, description: Description) -> np.ndarray:
        """Add in shared memory, in two blocks that are used alternately.

        When all workers have written to one block, all have read the other, which the next call may overwrite.
        """
        vector = array.reshape(-1)
        size_exponent = max(array.nbytes - 1, 1).bit_length()
        block_index = self._block_indices[size_exponent] = 1 - self._block_indices.get(size_exponent, 1)
        blocks = [self._block(rank, size_exponent, block_index) for rank in range(self.size)]
        vectors = [np.ndarray(vector.shape, vector.dtype, block.buf) for block in blocks]
        vectors[self.rank][...] = vector
        self._synchronize({**description, "part": "written"})
        bounds = [len(vector) * number // self.size for number in range(self.size + 1)]
        own_slice = slice(bounds[self.rank], bounds[self.rank + 1])
        total = add_in_order([worker_vector[own_slice] for worker_vector in vectors])
        # Until all have added, only this worker reads the elements of its slice, so it may overwrite them.
        vectors[0][own_slice] = total
        self._synchronize({**description, "part": "added"})
        return vectors[0].copy().reshape(array.shape)

    def _block(self, rank: int, size_exponent: int, block_index: int) -> shared_memory.SharedMemory:
        """Return a worker's block, of `1 << size_exponent` bytes; at its first use, all workers create theirs."""
        name = f"autoconv-{self._group_name}-{size_exponent}-{block_index}-{rank}"
        if name not in self._blocks:
            if rank == self.rank:
                self._blocks[name] = _create_block(name, 1 << size_exponent)
            self._synchronize({"call": "block", "name": f"{size_exponent}-{block_index}-{rank}"})
            if rank != self.rank:
                self._blocks[name] = _attach_block(name)
        return self._blocks[name]


def _release_resources(
    connections: dict[int, socket.socket], blocks: dict[str, shared_memory.SharedMemory], rank: int
) -> None:
    """End the connections, detach the shared memory, and remove the blocks of worker `rank`."""
    for connection in connections.values():
        connection.close()
    for name, block in blocks.items():
        block.close()
        if name.endswith(f"-{rank}"):
            block.unlink()
    blocks.clear()


def _check_address(address: str, worker_name: str) -> None:
    """Raise ValueError for an address that is not a host with a port."""
    _, colon, port = address.rpartition(":")
    is_port = port.isascii() and port.isdigit() and int(port) < 1 << 16
    if not colon or not is_port:
        raise ValueError(f"the address {address!r} of {worker_name} is no host with a port, such as 'localhost:2222'")


def _configure(connection: socket.socket, timeout: float) -> None:
    """Set the timeout of a connection in seconds, and send its small messages at once."""
    connection.settimeout(timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _create_block(name: str, size: int) -> shared_memory.SharedMemory:
    """Create a block of shared memory; one that a killed run has left is replaced."""
    try:
        return shared_memory.SharedMemory(name, create=True, size=size)
    except FileExistsError:  # of an earlier run that was killed
        shared_memory.SharedMemory(name).unlink()
        return shared_memory.SharedMemory(name, create=True, size=size)


def _attach_block(name: str) -> shared_memory.SharedMemory:
    """Return a block of shared memory that another worker created and will remove."""
    result = shared_memory.SharedMemory(name)
    resource_tracker.unregister(result._name, "shared_memory")  # type: ignore[attr-defined]  # its maker removes it
    return result


def add_in_order(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum of arrays, added in their order."""
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total


def _describe_call(description: Description) -> str:
    """Return a call's description for messages: its name, dtype and shape."""
    dtype_name, shape = description.get("dtype"), description.get("shape")
    return str(description.get("call")) + (f" of {dtype_name}{shape}" if isinstance(dtype_name, str) else "")
