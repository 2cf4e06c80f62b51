"""Sets of dtypes that ops take."""

from __future__ import annotations

from autoconv.graph.dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)

SINGLE_OR_DOUBLE = frozenset({float32, float64})
FLOATING = SINGLE_OR_DOUBLE | {float16, bfloat16}
IEEE_FLOATING = FLOATING - {bfloat16}
COMPLEX = frozenset({complex64, complex128})
LARGE_INTEGERS = frozenset({int32, int64})
INDICES = LARGE_INTEGERS | {int16}
SIGNED = LARGE_INTEGERS | {int8, int16}
INTEGERS = SIGNED | {uint8, uint16, uint32, uint64}
REAL = FLOATING | INTEGERS
NUMERIC = REAL | COMPLEX
ANY = NUMERIC | {bool_, string}
