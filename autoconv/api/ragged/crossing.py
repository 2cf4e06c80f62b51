"""Crosses of features: all combinations of the values in the same row of several tensors, ragged or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.sparse.crossing import cross as sparse_cross
from autoconv.api.sparse.crossing import cross_hashed as sparse_cross_hashed


def cross(inputs: Sequence[Any], name: str | None = None) -> Any:
    """Return for each row every combination of one value of each input, as text joined by `_X_`.

    The inputs are ragged, sparse or dense matrices of strings or integers.

    >>> rows = autoconv.ragged.constant([["a"], ["b", "c"]])
    >>> autoconv.ragged.cross([rows, autoconv.constant([["d"], ["e"]])]).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    return RaggedTensor.from_sparse(sparse_cross(_convert_ragged_to_sparse(inputs)))


def cross_hashed(
    inputs: Sequence[Any], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> Any:
    """Return for each row the hash of every combination of one value of each input, modulo `num_buckets`.

    With `num_buckets` 0, the hash is modulo 2^63 - 1.

    >>> rows = autoconv.ragged.constant([["a"], ["b", "c"]])
    >>> autoconv.ragged.cross_hashed([rows, autoconv.constant([[1], [2]])], num_buckets=10).row_lengths().numpy()
    array([1, 2])
    """
    return RaggedTensor.from_sparse(sparse_cross_hashed(_convert_ragged_to_sparse(inputs), num_buckets, hash_key))


def _convert_ragged_to_sparse(inputs: Sequence[Any]) -> list[Any]:
    """Return the inputs with sparse tensors in place of ragged ones."""
    return [operand.to_sparse() if isinstance(operand, RaggedTensor) else operand for operand in inputs]
