"""Fourier transforms of real tensors over several dimensions, and of any tensors over chosen axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.shaping import pad, transpose
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of a real tensor over its last two dimensions, of sizes `fft_length`: n // 2 + 1 in the last one.

    >>> autoconv.signal.rfft2d(autoconv.ones([2, 2])).numpy()
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return rfftnd(input_tensor, fft_length, (-2, -1), name=name)


def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of a real tensor over its last three dimensions; see `rfft2d`.

    >>> autoconv.signal.rfft3d(autoconv.ones([2, 2, 4])).shape
    TensorShape([2, 2, 3])
    """
    return rfftnd(input_tensor, fft_length, (-3, -2, -1), name=name)


def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real tensor whose transform `rfft2d` is given, of sizes `fft_length` (by default an even one).

    >>> autoconv.signal.irfft2d(autoconv.signal.rfft2d([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return irfftnd(input_tensor, fft_length, (-2, -1), name=name)


def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real tensor whose transform `rfft3d` is given; see `irfft2d`.

    >>> autoconv.signal.irfft3d(autoconv.signal.rfft3d(autoconv.ones([2, 2, 2]))).shape
    TensorShape([2, 2, 2])
    """
    return irfftnd(input_tensor, fft_length, (-3, -2, -1), name=name)


def fftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The transform of a complex tensor over `axes` (all by default), of the sizes `fft_length`.

    `norm` is "backward" (the inverse is scaled), "ortho" or "forward".

    >>> autoconv.signal.fftnd(autoconv.ones([2, 2], autoconv.complex64)).numpy()[0, 0]
    np.complex64(4+0j)
    """
    x, over = _prepare(input_tensor, fft_length, axes)
    return apply("fft", x, axes=over, norm=norm or "backward", name=name)


def ifftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `fftnd`.

    >>> autoconv.signal.ifftnd(autoconv.ones([2, 2], autoconv.complex64)).numpy()[0, 0]
    np.complex64(1+0j)
    """
    x, over = _prepare(input_tensor, fft_length, axes)
    return apply("ifft", x, axes=over, norm=norm or "backward", name=name)


def rfftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The transform of a real tensor over `axes`, with the first n // 2 + 1 frequencies of the last one; see `fftnd`.

    >>> autoconv.signal.rfftnd(autoconv.ones([2, 4])).shape
    TensorShape([2, 3])
    """
    x, over = _prepare(input_tensor, fft_length, axes)
    scale = norm or "backward"
    order, back = _last(x, over[-1])
    half: Any = apply("rfft", transpose(x, order) if order else x, norm=scale)
    half = transpose(half, back) if back else half
    return apply("fft", half, axes=over[:-1], norm=scale, name=name) if over[:-1] else half


def irfftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The real tensor whose transform `rfftnd` is given, of the sizes `fft_length` along `axes`.

    >>> autoconv.signal.irfftnd(autoconv.signal.rfftnd(autoconv.ones([2, 4]))).numpy().ravel().tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    lengths = None if fft_length is None else _numbers(fft_length)
    last = None if lengths is None else lengths[-1]
    if lengths is not None:
        lengths = [*lengths[:-1], last // 2 + 1]  # type: ignore[operator]
    x, over = _prepare(input_tensor, lengths, axes)
    scale = norm or "backward"
    if over[:-1]:
        x = apply("ifft", x, axes=over[:-1], norm=scale)
    order, back = _last(x, over[-1])
    result = apply("irfft", transpose(x, order) if order else x, length=last, norm=scale)
    return apply("identity", transpose(result, back) if back else result, name=name)


def _numbers(lengths: Any) -> list[int]:
    static = static_axes(lengths)
    assert static is not None
    return list(static)


def _last(x: Tensor, axis: int) -> tuple[list[int] | None, list[int] | None]:
    """Return the permutation that makes an axis the last one, and its inverse; None where it is the last one."""
    rank = len(x.shape)
    if axis % rank == rank - 1:
        return None, None
    order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    return order, [order.index(i) for i in range(rank)]


def _prepare(tensor: TensorLike, fft_length: Any, axes: Any) -> tuple[Tensor, tuple[int, ...]]:
    """Return the tensor with the wanted sizes (cut, or padded with zeros), and the axes."""
    x = convert_to_tensor(tensor)
    rank = len(x.shape)
    lengths = None if fft_length is None else _numbers(fft_length)
    if axes is None:
        over: Sequence[int] = range(rank - (len(lengths) if lengths is not None else rank), rank)
    else:
        over = tuple(static_axes(axes) or ())
    for axis, length in zip(over, lengths or (), strict=False):
        at, size = axis % rank, x.shape[axis]
        cut = tuple(slice(None, length) if i == at else slice(None) for i in range(rank))
        if size is None or size < length:
            missing = length - size if size is not None else apply(
                "maximum", length - apply("dimension", x, axis=at), 0
            )  # fmt: skip
            x = pad(x, [[0, missing] if i == at else [0, 0] for i in range(rank)])
        x = get_item(x, cut) if size is None or size > length else x
    return x, tuple(over)

