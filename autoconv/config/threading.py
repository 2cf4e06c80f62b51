"""Numbers of threads. Large loops are divided over the threads of an op; several ops share the same threads."""

from __future__ import annotations

from autoconv.config.settings import SETTINGS

_OPTIONS = {"inter_op_threads": 0}


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads of large loops; 0 stands for as many as the process may use.

    >>> autoconv.config.threading.set_intra_op_parallelism_threads(0)
    """
    SETTINGS.threads = int(num_threads) or None


def get_intra_op_parallelism_threads() -> int:
    """Return the number of threads of large loops, 0 for as many as the process may use.

    >>> autoconv.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return SETTINGS.threads or 0


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Store a number of threads between ops; it has no effect.

    >>> autoconv.config.threading.set_inter_op_parallelism_threads(0)
    """
    _OPTIONS["inter_op_threads"] = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Return the value set by `set_inter_op_parallelism_threads`.

    >>> autoconv.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _OPTIONS["inter_op_threads"]


__all__ = [
    "get_inter_op_parallelism_threads", "get_intra_op_parallelism_threads", "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]  # fmt: skip
