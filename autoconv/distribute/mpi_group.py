"""The processes that mpiexec started, as a group: arrays go as bytes, and sums are added in the order of the ranks."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.distribute.messages import Description
from autoconv.distribute.process_group import add_in_order
from autoconv.errors import InvalidArgumentError
from autoconv.forks import new_lock

_SIZE_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")  # set by mpiexec for its processes
_SMALL_BYTES = 1 << 15  # arrays of at most this many bytes are added by every process itself
_MAX_DESCRIPTION_BYTES = 512  # bytes of a description in an error


def is_started_by_mpi() -> bool:
    """Return whether mpiexec started this process, and others with it."""
    return any(os.environ.get(name, "1") not in ("", "0", "1") for name in _SIZE_VARIABLES)


class MpiGroup:
    """All processes of mpiexec. Raises ImportError where mpi4py or its library is missing."""

    __autoconv_identity__ = True  # its state is not part of a trace's key

    def __init__(self) -> None:
        try:
            mpi: Any = import_module("mpi4py.MPI")
        except (ImportError, RuntimeError) as error:  # RuntimeError: there is no MPI library
            reason = str(error).splitlines()[0]
            raise ImportError(f"processes of mpiexec need mpi4py and MPI: install autoconv[mpi] ({reason})") from None
        self._mpi = mpi
        self._communicator = mpi.COMM_WORLD.Dup()
        self.size = int(self._communicator.size)
        self.rank = int(self._communicator.rank)
        self._call_count = 0
        self._lock = new_lock()

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        """Return the sum of the processes' arrays, added in their order: all get the same bits."""
        array = np.asarray(array, order="C")
        with self._lock:
            self._check_calls_agree({"call": "sum", "dtype": array.dtype.name, "shape": list(array.shape)})
            if array.nbytes <= _SMALL_BYTES:
                vectors = self._gather_vectors(array.reshape(-1), [array.size] * self.size)
                return add_in_order(vectors).reshape(array.shape)
            return self._sum_in_parts(array.reshape(-1)).reshape(array.shape)

    def broadcast(self, array: np.ndarray) -> np.ndarray:
        """Return the array of the first process."""
        array = np.asarray(array, order="C")
        result = array.copy() if self.rank == 0 else np.empty_like(array)
        with self._lock:
            self._check_calls_agree({"call": "broadcast", "dtype": array.dtype.name, "shape": list(array.shape)})
            self._communicator.Bcast(_as_bytes(result), 0)
        return result

    def all_gather(self, array: np.ndarray, axis: int) -> np.ndarray:
        """Return the processes' arrays, joined along an axis in which their sizes may differ."""
        array = np.ascontiguousarray(array)
        axis %= array.ndim
        shape = [None if number == axis else size for number, size in enumerate(array.shape)]
        sizes = np.empty(self.size, np.int64)
        with self._lock:
            self._check_calls_agree({"call": "gather", "dtype": array.dtype.name, "shape": shape, "axis": axis})
            self._communicator.Allgather(np.array([array.shape[axis]], np.int64), sizes)
            slice_size = int(np.prod([size for size in shape if size is not None], dtype=np.int64))
            vectors = self._gather_vectors(array.reshape(-1), [int(size) * slice_size for size in sizes])
        shapes = [(*array.shape[:axis], int(size), *array.shape[axis + 1 :]) for size in sizes]
        return np.concatenate([vector.reshape(shape) for vector, shape in zip(vectors, shapes, strict=True)], axis)

    def barrier(self) -> None:
        """Wait for the other processes."""
        with self._lock:
            self._check_calls_agree({"call": "barrier"})

    def close(self) -> None:
        """Do nothing: mpi4py ends MPI at the end of the process."""

    # ---- bytes

    def _gather_vectors(self, vector: np.ndarray, counts: list[int]) -> list[np.ndarray]:
        """Return the vectors of all processes; `counts` has their numbers of elements, by process."""
        result = np.empty(sum(counts), vector.dtype)
        sizes = [count * vector.dtype.itemsize for count in counts]
        self._communicator.Allgatherv(_as_bytes(vector), [_as_bytes(result), sizes, _offsets(sizes), self._mpi.BYTE])
        return [result[start : start + count] for start, count in zip(_offsets(counts), counts, strict=True)]

    def _sum_in_parts(self, vector: np.ndarray) -> np.ndarray:
        """Add the vectors of all processes; each process adds one part of the elements."""
        bounds = [len(vector) * number // self.size for number in range(self.size + 1)]
        counts = [end - start for start, end in itertools.pairwise(bounds)]
        sizes = [count * vector.dtype.itemsize for count in counts]
        own_sizes = [sizes[self.rank]] * self.size
        # This process adds one part of each process's vector.
        own_parts = np.empty((self.size, counts[self.rank]), vector.dtype)
        self._communicator.Alltoallv(
            [_as_bytes(vector), sizes, _offsets(sizes), self._mpi.BYTE],
            [_as_bytes(own_parts), own_sizes, _offsets(own_sizes), self._mpi.BYTE],
        )
        return np.concatenate(self._gather_vectors(add_in_order(list(own_parts)), counts))

    def _check_calls_agree(self, description: Description) -> None:
        """Raise InvalidArgumentError, in every process, if the calls of the processes differ."""
        self._call_count += 1
        text = json.dumps({**description, "number": self._call_count}).encode()
        own_digest = np.frombuffer(hashlib.sha256(text).digest(), np.uint8)
        digests = np.empty((self.size, 32), np.uint8)
        self._communicator.Allgather(own_digest, digests)
        if (digests == digests[0]).all():
            return
        own_text = np.frombuffer(text[:_MAX_DESCRIPTION_BYTES].ljust(_MAX_DESCRIPTION_BYTES), np.uint8)
        texts = np.empty((self.size, _MAX_DESCRIPTION_BYTES), np.uint8)
        self._communicator.Allgather(own_text, texts)
        descriptions = [f"rank {rank}: {row.tobytes().decode().strip()}" for rank, row in enumerate(texts)]
        raise InvalidArgumentError(f"the processes make different calls: {'; '.join(descriptions)}")


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Return an array's memory as a vector of bytes."""
    return array.reshape(-1).view(np.uint8)


def _offsets(sizes: list[int]) -> list[int]:
    """Return the position at which each part starts, given the sizes of the parts."""
    return [sum(sizes[:i]) for i in range(len(sizes))]
