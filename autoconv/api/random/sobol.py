"""Sobol's sequence: points that fill the unit cube evenly, with the direction numbers of Joe and Kuo."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype, check_result_dtype
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.shaping import expand_dims
from autoconv.graph.dtype_sets import FLOATING
from autoconv.graph.dtypes import float32, float64, int32, int64
from autoconv.runtime.annotations import DTypeLike, IntLike
from autoconv.runtime.tensors.conversion import constant_table, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_BIT_COUNT = 31  # of a coordinate

# For each dimension from the second on: the coefficients of a primitive polynomial, without the first and the last, as
# the bits of a number, then the initial direction numbers, as many as the degree of the polynomial.
_POLYNOMIALS = (
    (0, 1), (1, 1, 3), (1, 1, 3, 1), (2, 1, 1, 1), (1, 1, 1, 3, 3), (4, 1, 3, 5, 13), (2, 1, 1, 5, 5, 17), (4, 1, 1,
    5, 5, 5), (7, 1, 1, 7, 11, 19), (11, 1, 1, 5, 1, 1), (13, 1, 1, 1, 3, 11), (14, 1, 3, 5, 5, 31), (1, 1, 3, 3, 9,
    7, 49), (13, 1, 1, 1, 15, 21, 21), (16, 1, 3, 1, 13, 27, 49), (19, 1, 1, 1, 15, 7, 5), (22, 1, 3, 1, 15, 13,
    25), (25, 1, 1, 5, 5, 19, 61), (1, 1, 3, 7, 11, 23, 15, 103), (4, 1, 3, 7, 13, 13, 15, 69), (7, 1, 1, 3, 13, 7,
    35, 63), (8, 1, 3, 5, 9, 1, 25, 53), (14, 1, 3, 1, 13, 9, 35, 107), (19, 1, 3, 1, 5, 27, 61, 31), (21, 1, 1, 5,
    11, 19, 41, 61), (28, 1, 3, 5, 3, 3, 13, 69), (31, 1, 1, 7, 13, 1, 19, 1), (32, 1, 3, 7, 5, 13, 19, 59), (37, 1,
    1, 3, 9, 25, 29, 41), (41, 1, 3, 5, 13, 23, 1, 55), (42, 1, 3, 7, 3, 13, 59, 17), (50, 1, 3, 1, 3, 5, 53, 69),
    (55, 1, 1, 5, 5, 23, 33, 13), (56, 1, 1, 7, 7, 1, 61, 123), (59, 1, 1, 7, 9, 13, 61, 49), (62, 1, 3, 3, 5, 3,
    55, 33), (14, 1, 3, 1, 15, 31, 13, 49, 245), (21, 1, 3, 5, 15, 31, 59, 63, 97), (22, 1, 3, 1, 11, 11, 11, 77,
    249), (38, 1, 3, 1, 11, 27, 43, 71, 9), (47, 1, 1, 7, 15, 21, 11, 81, 45), (49, 1, 3, 7, 3, 25, 31, 65, 79),
    (50, 1, 3, 1, 1, 19, 11, 3, 205), (52, 1, 1, 5, 9, 19, 21, 29, 157), (56, 1, 3, 7, 11, 1, 33, 89, 185), (67, 1,
    3, 3, 3, 15, 9, 79, 71), (70, 1, 3, 7, 11, 15, 39, 119, 27), (84, 1, 1, 3, 1, 11, 31, 97, 225), (97, 1, 1, 1, 3,
    23, 43, 57, 177), (103, 1, 3, 7, 7, 17, 17, 37, 71), (115, 1, 3, 1, 5, 27, 63, 123, 213), (122, 1, 1, 3, 5, 11,
    43, 53, 133), (8, 1, 3, 5, 5, 29, 17, 47, 173, 479), (13, 1, 3, 3, 11, 3, 1, 109, 9, 69), (16, 1, 1, 1, 5, 17,
    39, 23, 5, 343), (22, 1, 3, 1, 5, 25, 15, 31, 103, 499), (25, 1, 1, 1, 11, 11, 17, 63, 105, 183), (44, 1, 1, 5,
    11, 9, 29, 97, 231, 363), (47, 1, 1, 5, 15, 19, 45, 41, 7, 383), (52, 1, 3, 7, 7, 31, 19, 83, 137, 221), (55, 1,
    1, 1, 3, 23, 15, 111, 223, 83), (59, 1, 1, 5, 13, 31, 15, 55, 25, 161), (62, 1, 1, 3, 13, 25, 47, 39, 87, 257),
)  # fmt: skip


def sobol_sample(
    dim: IntLike, num_results: IntLike, skip: IntLike = 0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Return `num_results` points of Sobol's sequence in `dim` dimensions, after the first `skip` points.

    The result is [num_results, dim]; the origin is not among the points. Raises ValueError for `dim` below 1 or above
    64, and for a dtype that is not floating.

    >>> autoconv.math.sobol_sample(2, 3).numpy()
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    check_dtype("sobol_sample", frozenset({int32}), dim, num_results, skip)
    out_dtype, dimensions = check_result_dtype(dtype, FLOATING), static_int(dim, "dim")
    if not 1 <= dimensions <= len(_POLYNOMIALS) + 1:
        raise ValueError(f"dim has to be from 1 to {len(_POLYNOMIALS) + 1}, found {dimensions}")
    positions = tensor_range(cast(convert_to_tensor(num_results), int64)) + cast(convert_to_tensor(skip), int64) + 1
    gray_codes: Any = apply("bitwise_xor", positions, apply("right_shift", positions, convert_to_tensor(np.int64(1))))
    gray_codes = expand_dims(gray_codes, 1)
    directions = _direction_numbers(dimensions)
    points: Any = None
    for bit in range(_BIT_COUNT):
        bits = apply("bitwise_and", apply("right_shift", gray_codes, convert_to_tensor(np.int64(bit))), np.int64(1))
        term = bits * constant_table(directions[bit])
        points = term if points is None else apply("bitwise_xor", points, term)
    return cast(cast(points, float64) * 2.0**-_BIT_COUNT, out_dtype)


def _direction_numbers(dimensions: int) -> np.ndarray:
    """Return the direction numbers [bit, dimension], scaled to integers of `_BIT_COUNT` bits."""
    numbers_by_dimension = [[1] * _BIT_COUNT]
    for inner_coefficients, *numbers in _POLYNOMIALS[: dimensions - 1]:
        degree = len(numbers)
        for _ in range(_BIT_COUNT - degree):
            next_number = numbers[-degree] ^ (numbers[-degree] << degree)
            for term in range(1, degree):
                if inner_coefficients >> (degree - 1 - term) & 1:
                    next_number ^= numbers[-term] << term
            numbers.append(next_number)
        numbers_by_dimension.append(numbers)
    shifts = np.arange(_BIT_COUNT - 1, -1, -1, dtype=np.int64)
    return np.array(numbers_by_dimension, np.int64).T << shifts[:, None]
