"""Vary accepted calls: dtypes, pairs of dtypes, ranks, empty and scalar operands, arrays, Python numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from called.operands import DTYPES, Operand, literal

NUMBERS = ("2", "-1", "2.5", "True", "'a'", "1j", "None", "[1, 2, 3]", "[1.5, 2.0, 3.0]", "300", "2**40")
ARRAY_DTYPES = tuple(dtype for dtype in DTYPES if dtype != "bfloat16")
LITERALS = ("0", "-1", "100", "1.0", "tf.constant(1)", "np.int64(1)", "[1]")


def cases(templates: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield distinct calls: the text of a call and those of its operands."""
    seen = set()
    paired = set()
    for template in templates:
        operands = tuple(Operand(f, d, tuple(s), style, text) for f, d, s, style, text in template["operands"])
        varied_operands = [variations(operands)]
        if template["text"] not in paired and is_pair(operands):
            paired.add(template["text"])
            varied_operands.append(pairs(*operands))
        for varied in itertools.chain(*varied_operands):
            case = (template["text"], [operand.text() for operand in varied])
            if str(case) not in seen:
                seen.add(str(case))
                yield case


def is_pair(operands: tuple[Operand, ...]) -> bool:
    """Return whether a call has two equal tensors of few dimensions."""
    if len(operands) != 2 or operands[0] != operands[1]:
        return False
    return operands[0].form == "tensor" and len(operands[0].shape) < 3


def variations(operands: tuple[Operand, ...]) -> Iterator[tuple[Operand, ...]]:
    yield operands
    arrays = [position for position, operand in enumerate(operands) if operand.is_array]
    for dtype in DTYPES:
        kinds = dict.fromkeys(operands[position].dtype for position in arrays)  # in the same order in each run
        for kind in kinds:  # all operands of one dtype take another
            yield tuple(replace(o, dtype=dtype) if o.is_array and o.dtype == kind else o for o in operands)
        for position in arrays:
            yield with_operand(operands, position, replace(operands[position], dtype=dtype))
    for position in arrays:
        for operand in forms_and_shapes(operands[position]):
            yield with_operand(operands, position, operand)
    for position in sorted(set(range(len(operands))) - set(arrays)):
        for changed in LITERALS:
            yield with_operand(operands, position, literal(changed))


def with_operand(operands: tuple[Operand, ...], position: int, operand: Operand) -> tuple[Operand, ...]:
    return (*operands[:position], operand, *operands[position + 1 :])


def forms_and_shapes(operand: Operand) -> Iterator[Operand]:
    dtype = "float32" if operand.dtype == "bfloat16" else operand.dtype
    yield replace(operand, form="python")
    for array_dtype in (dtype, "float64", "int64", "int32", "bool"):
        yield replace(operand, form="numpy", dtype=array_dtype)
    if operand.form != "tensor":
        yield replace(operand, form="tensor")
        return
    size = operand.shape
    for shape in ((), (1, *size), size[1:], (0, *size[1:]), (*size[:-1], 0), (0,), (7,)):
        yield replace(operand, shape=shape)


def pairs(left: Operand, right: Operand) -> Iterator[tuple[Operand, ...]]:
    """Yield all pairs of dtypes, tensors beside Python's numbers and beside NumPy's arrays and scalars."""
    for first, second in itertools.product(DTYPES, DTYPES):
        yield replace(left, dtype=first), replace(right, dtype=second)
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        yield replace(left, dtype=dtype), literal(number)
        yield literal(number), replace(right, dtype=dtype)
    common = ("float32", "float64", "int32", "uint8", "complex64", "bool")
    for dtype, array_dtype in itertools.product(common, ARRAY_DTYPES):
        array = replace(right, form="numpy", dtype=array_dtype)
        for shape in dict.fromkeys((array.shape, ())):
            yield replace(left, dtype=dtype), replace(array, shape=shape)
            yield replace(array, shape=shape), replace(right, dtype=dtype)
