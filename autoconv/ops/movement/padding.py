"""Padding of dimensions, and its adjoint `unpad`: it adds elements of the padding to the elements they copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import Dimension, TensorType
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.traits import SizeOperand

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_PAIRS = ((1, 0), (2, 1))
_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}
# The attribute `paddings`: a pair (before, after) for each dimension, with None for a number that is known only at run
# time. If there is a None, the operand `amounts` has all pairs. If no pair is known, None replaces the whole tuple.
Paddings = tuple[tuple[int | None, int | None], ...]


def _pad_type(
    x: TensorType, amounts: TensorType | None = None, *, paddings: Paddings | None, mode: str = "CONSTANT",
    constant_values: Any = 0,
) -> TensorType:  # fmt: skip
    """Return the type of the padded tensor; sizes are unknown where paddings are."""
    _numpy_mode(mode)
    if paddings is None:
        return x.with_shape(None if x.shape is None else (None,) * len(x.shape))
    if x.shape is None:
        return x.with_shape((None,) * len(paddings))
    _check_count(paddings, len(x.shape))
    return x.with_shape(tuple(_padded_size(size, pair, mode) for size, pair in zip(x.shape, paddings, strict=True)))


def _unpad_type(
    x: TensorType, amounts: TensorType | None = None, *, paddings: Paddings | None, mode: str = "CONSTANT"
) -> TensorType:
    if x.shape is None or paddings is None:
        return x.with_shape(None if x.shape is None else (None,) * len(x.shape))
    return x.with_shape(tuple(_unpadded_size(size, pair) for size, pair in zip(x.shape, paddings, strict=True)))


def _numpy_mode(mode: str) -> str:
    """Return NumPy's name of a mode; raise ValueError for an unknown mode."""
    if mode not in _MODES:
        raise ValueError(f"pad: the mode has to be one of {', '.join(_MODES)}, found {mode!r}")
    return _MODES[mode]


def _check_count(paddings: Any, rank: int) -> None:
    """Raise ValueError unless there is a pair for each dimension."""
    if len(paddings) != rank:
        raise ValueError(f"pad: there are {len(paddings)} pairs of paddings for {rank} dimensions")


def _padded_size(size: Dimension, pair: tuple[int | None, int | None], mode: str) -> Dimension:
    """Return the size of a padded dimension, None if unknown; raises ValueError for an invalid pair."""
    before, after = pair
    if not isinstance(before, int) or not isinstance(after, int):
        return None  # known only at run time
    if before < 0 or after < 0:
        raise ValueError(f"pad: paddings must not be negative, found {pair}")
    if before == after == 0:
        return size
    if not isinstance(size, int):
        return None
    limit = size - 1 if mode == "REFLECT" else size
    if mode != "CONSTANT" and max(before, after) > limit:
        raise ValueError(
            f"pad: paddings must be no greater than {limit} for a dimension of {size} in mode {mode}"
        )
    return before + size + after


def _unpadded_size(size: Dimension, pair: tuple[int | None, int | None]) -> Dimension:
    """Return the size of a dimension without its padding; None if unknown."""
    before, after = pair
    if pair == (0, 0):
        return size
    if not isinstance(size, int) or not isinstance(before, int) or not isinstance(after, int):
        return None
    return size - before - after


def _padding_pairs(paddings: Any, amounts: Any, rank: int) -> list[tuple[int, int]]:
    """Return (before, after) for each dimension; raises InvalidArgumentError unless they fit the rank."""
    pairs = paddings if amounts is None else np.reshape(amounts, (-1, 2))
    if len(pairs) != rank or np.min(pairs, initial=0) < 0:
        raise InvalidArgumentError(
            f"pad: the paddings {np.asarray(pairs).tolist()} do not fit {rank} dimensions"
        )
    return [(int(before), int(after)) for before, after in pairs]


def _pad(
    x: Any, amounts: Any = None, *, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0
) -> Any:
    """Return the padded tensor."""
    pairs = _padding_pairs(paddings, amounts, np.ndim(x))
    if mode == "CONSTANT":
        filler: Any = constant_values
        if np.asarray(x).dtype == object:
            filler = b"" if filler == 0 else filler.encode() if isinstance(filler, str) else filler
        padded_sizes = [before + size + after for size, (before, after) in zip(np.shape(x), pairs, strict=True)]
        result = np.full(padded_sizes, filler, np.asarray(x).dtype)
        result[_inner_slices(x, pairs)] = x
        return result
    for size, pair in zip(np.shape(x), pairs, strict=True):
        limit = size - 1 if mode == "REFLECT" else size
        if max(pair) > limit:
            raise InvalidArgumentError(
                f"pad: paddings must be no greater than {limit} for a dimension of {size}"
            )
    return np.pad(x, pairs, _numpy_mode(mode))  # type: ignore[call-overload]


def _inner_slices(x: Any, pairs: list[tuple[int, int]]) -> tuple[slice, ...]:
    """Return the slices of the padded array that hold the elements of `x`."""
    return tuple(slice(before, before + size) for size, (before, _) in zip(np.shape(x), pairs, strict=True))


def _unpad(x: Any, amounts: Any = None, *, paddings: Any, mode: str = "CONSTANT") -> Any:
    """Return x without the padding; except in mode CONSTANT, its elements are added to those they are copies of."""
    pairs = _padding_pairs(paddings, amounts, np.ndim(x))
    sizes = [size - before - after for size, (before, after) in zip(np.shape(x), pairs, strict=True)]
    if mode == "CONSTANT":
        return x[tuple(slice(before, before + size) for size, (before, _) in zip(sizes, pairs, strict=True))]
    source_positions = [
        np.pad(np.arange(size), pair, _numpy_mode(mode))  # type: ignore[call-overload]
        for size, pair in zip(sizes, pairs, strict=True)
    ]
    result = np.zeros(sizes, np.asarray(x).dtype)
    np.add.at(result, np.ix_(*source_positions), x)
    return result


def _pad_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    unpad_attributes = {"paddings": attributes["paddings"], "mode": attributes.get("mode", "CONSTANT")}
    return (b.unpad(cotangents[0], *inputs[1:], **unpad_attributes), *(None for _ in inputs[1:]))


def _unpad_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.pad(cotangents[0], *inputs[1:], **attributes), *(None for _ in inputs[1:]))


pad = define(
    name="pad", graphdef="PadV2", result=_pad_type, kernel=_pad, gradient=_pad_gradient,
    samples=(
        sample(_X, paddings=_PAIRS, mode="CONSTANT", constant_values=1.5),
        sample(_X, paddings=_PAIRS, mode="REFLECT"),
        sample(_X, paddings=_PAIRS, mode="SYMMETRIC"),
        sample(_X, np.array(_PAIRS, np.int32), paddings=None),
    ),
    sizes=SizeOperand("paddings", 1, "pairs"),
)  # fmt: skip
unpad = define(
    name="unpad", graphdef="MirrorPadGrad", result=_unpad_type, kernel=_unpad, gradient=_unpad_gradient,
    samples=(
        sample(np.arange(18.0).reshape(3, 6), paddings=_PAIRS, mode="REFLECT"),
        sample(np.arange(18.0).reshape(3, 6), paddings=_PAIRS, mode="SYMMETRIC"),
        sample(np.arange(18.0).reshape(3, 6), paddings=_PAIRS, mode="CONSTANT"),
    ),
    may_alias=True,
    sizes=SizeOperand("paddings", 1, "pairs"),
)  # fmt: skip
