"""Operands of calls as data, and their text, which is the same for TensorFlow and autoconv."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
DTYPES = (*FLOATS, *SIGNED, *UNSIGNED, *COMPLEX, "bool", "string")

NUMBERS = {
    "general": (1.5, -2.0, 0.5, 3.0, 0.25, -1.0, 2.0),
    "unit": (0.5, 0.25, 0.75, 0.125, 0.625),
    "indices": (0, 1, 1, 0, 0),
    "sorted": (0, 0, 1, 1, 2, 2, 3, 3),
    "two": (2,),
}
TEXTS = ("a1", "bc", "", "d e", "7")


@dataclass(frozen=True)
class Operand:
    """A tensor, an array, a nested list of Python numbers, a composite tensor, or any other literal."""

    form: str  # tensor, numpy, python, sparse, ragged or literal
    dtype: str = "float32"
    shape: tuple[int, ...] = ()
    style: str = "general"
    literal: str = ""

    @property
    def is_array(self) -> bool:
        return self.form != "literal"

    def text(self) -> str:
        if self.form == "literal":
            return self.literal
        if self.form == "python":
            return repr(nested(self))
        if self.form == "numpy":
            if 0 in self.shape:
                return f"np.zeros({self.shape}, {numpy_dtype(self.dtype)})"
            return f"np.array({nested(self)!r}, {numpy_dtype(self.dtype)})"
        if 0 in self.shape:
            tensor = f"tf.zeros({list(self.shape)}, tf.{self.dtype})"
        else:
            tensor = f"tf.constant({nested(self)!r}, tf.{self.dtype})"
        if self.form == "sparse":
            return f"tf.sparse.from_dense({tensor})"
        return f"tf.RaggedTensor.from_tensor({tensor})" if self.form == "ragged" else tensor


def numpy_dtype(name: str) -> str:
    return {"bool": "np.bool_", "string": "object"}.get(name, f"np.{name}")


def nested(operand: Operand) -> Any:
    """Return the values as nested lists of Python numbers of the operand's dtype."""
    if operand.style == "definite":
        size = operand.shape[-1] if operand.shape else 1
        numbers: Iterator[float] = itertools.cycle(
            3.0 if row == column else 0.5 for row in range(size) for column in range(size)
        )
    else:
        numbers = itertools.cycle(NUMBERS[operand.style])
    count = math.prod(operand.shape)
    if operand.dtype == "string":
        values: list[Any] = list(itertools.islice(itertools.cycle(TEXTS), count))
    else:
        values = [number_of(number, operand.dtype) for number in itertools.islice(numbers, count)]
    for size in reversed(operand.shape[1:]):
        values = [values[start : start + size] for start in range(0, len(values), size)]
    return values if operand.shape else values[0]


def number_of(number: float, dtype: str) -> bool | int | float | complex:
    if dtype == "bool":
        return number > 0
    if dtype in COMPLEX:
        return complex(number, number / 2)
    if dtype in UNSIGNED:
        return abs(int(number))
    return int(number) if dtype in SIGNED else float(number)


def literal(text: str) -> Operand:
    return Operand("literal", literal=text)


def tensor(dtype: str, *shape: int, style: str = "general") -> Operand:
    return Operand("tensor", dtype, shape, style)


POOL = (
    tensor("float32", 2, 3), tensor("float32", 3), tensor("float32", 3, 3, style="definite"), tensor("float32"),
    tensor("int32", 3, style="indices"), tensor("int32", style="two"), tensor("string", 3), tensor("bool", 3),
    tensor("complex64", 3, 3, style="definite"), tensor("float32", 1, 4, 4, 3, style="unit"),
    tensor("float32", 2, 2, 3, 2), tensor("int32", 2, 3, style="indices"), tensor("float32", 1, 3, 3, 3, 2),
    tensor("float32", 2, 8), Operand("sparse", "float32", (2, 3)), Operand("ragged", "float32", (2, 3)),
    Operand("sparse", "int64", (2, 3), "sorted"), Operand("ragged", "int32", (2, 3), "indices"),
    tensor("uint8", 4, 4, 3, style="sorted"), tensor("int64", 3, 2, style="indices"),
    tensor("float32", 3, 4, style="unit"), tensor("string"),
)  # fmt: skip

HINTS = {
    "axis": ("0", "1", "[0]"), "axes": ("1", "[0]"), "dtype": ("tf.float32", "tf.int32"), "out_type": ("tf.int64",),
    "output_type": ("tf.int32",), "shape": ("[2, 3]", "[3]", "[4]"), "dims": ("[2, 3]",),
    "multiples": ("[2, 1]", "[2]"), "paddings": ("[[1, 1], [0, 2]]", "[[1, 2]]"), "perm": ("[1, 0]",), "depth": ("3",),
    "k": ("1",), "n": ("2",), "strides": ("1", "[1, 1, 1, 1]", "2"), "ksize": ("2", "[1, 2, 2, 1]"),
    "padding": ("'SAME'", "'VALID'"), "seed": ("[1, 2]", "7"), "equation": ("'ij,jk->ik'", "'ij->ji'"),
    "begin": ("[0, 1]", "[0]"), "block_size": ("2",), "pattern": ("'[ab]'",), "rewrite": ("'x'",), "sep": ("' '",),
    "num_segments": ("3",), "num_classes": ("3",), "num_bins": ("3",), "maxlen": ("3",), "repeats": ("2", "[1, 2, 0]"),
    "shift": ("1",), "size": ("[1, 2]", "[2, 2]"), "frame_length": ("4",), "frame_step": ("2",),
    "fft_length": ("4", "[4]"), "window_length": ("5",), "delta": ("0.1",), "factor": ("2",), "max_val": ("1.0",),
    "lower": ("0.5",), "upper": ("1.5",), "max_delta": ("0.2",), "saturation_factor": ("0.5",),
    "contrast_factor": ("0.5",), "central_fraction": ("0.5",), "gamma": ("0.5",), "offset_height": ("1",),
    "offset_width": ("1",), "target_height": ("2", "6"), "target_width": ("2", "6"), "sizes": ("[1, 2, 2, 1]",),
    "rates": ("[1, 1, 1, 1]",), "clip_norm": ("1.0",), "clip_value_min": ("-1.0", "0"), "clip_value_max": ("1.0", "2"),
    "num_buckets": ("5",), "key": ("[1, 2]",), "num": ("3",), "start": ("0", "0.0"), "stop": ("4", "1.0"),
    "limit": ("5", "5.0"), "num_rows": ("3",), "rate": ("0.5",), "alpha": ("0.3",), "beta": ("1.5",), "lam": ("2.0",),
    "num_samples": ("2",), "minval": ("0",), "maxval": ("5",), "keepdims": ("True",), "name": (),
    "num_or_size_splits": ("3", "[1, 1, 1]"), "num_partitions": ("2",), "num_lower": ("1",), "num_upper": ("0",),
    "indices": ("[0, 1]", "[[0, 1], [1, 0]]"), "mask": ("[True, False]",), "type": ("tf.int32", "tf.uint8"),
    "window_shape": ("[2, 2]",), "pooling_type": ("'MAX'",), "mean": ("0.5",), "stddev": ("2.0",), "variance": ("1.5",),
    "offset": ("0.1", "None"), "scale": ("1.5", "None"), "variance_epsilon": ("0.001",), "exclusive": ("True",),
    "reverse": ("True",), "adjoint": ("True",), "transpose_a": ("True",), "transpose_b": ("True",),
    "batch_dims": ("1",), "direction": ("'DESCENDING'",), "ord": ("1", "'fro'", "2"), "side": ("'right'",),
    "on_value": ("2", "2.0"), "off_value": ("0", "0.0"), "input_encoding": ("'UTF-8'",),
    "output_encoding": ("'UTF-16-BE'",), "errors": ("'replace'",), "pos": ("0", "1"), "len": ("1",),
    "method": ("'nearest'", "'bilinear'"), "base": ("2.0",), "crop_size": ("[2, 2]",), "box_indices": ("[0]",),
    "boxes": ("[[0.0, 0.0, 1.0, 1.0]]",), "scores": ("[0.5]",), "max_output_size": ("2",), "depth_radius": ("1",),
    "dilations": ("[1, 1, 1, 1]",), "ngram_width": ("2",), "weights": ("[1.0, 2.0, 3.0]",),
    "value_range": ("[0.0, 2.0]",), "nbins": ("3",), "counts": ("5",), "probs": ("0.5",), "saturate": ("True",),
    "width": ("5",), "fill": ("'0'",), "precision": ("2",), "unit": ("'UTF8_CHAR'",), "block_shape": ("[2, 2]",),
    "crops": ("[[0, 0], [0, 0]]",),
}  # fmt: skip
HINTED_PREFIXES = {"num_": "2", "max_": "3", "min_": "1"}


def candidates(parameter: str) -> list[Operand]:
    """Return the operands to try for a parameter: those that its name suggests first, then the pool."""
    hints = HINTS.get(parameter)
    if hints is None:
        hints = tuple(text for prefix, text in HINTED_PREFIXES.items() if parameter.startswith(prefix))
    return [*map(literal, hints), *POOL]
