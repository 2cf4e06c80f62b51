"""`tf.raw_ops`: those that public functions implement, and the few others that libraries call.

Raw ops take all arguments by name. Names without an implementation raise AttributeError.
"""

from __future__ import annotations

import importlib
import re
from collections import namedtuple
from collections.abc import Callable, Sequence

import numpy as np

from autoconv.api.image_transforms import projective_transform
from autoconv.api.nn.layers import batch_normalization, moments
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import maximum
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import reshape, shape, size
from autoconv.api.tensors.sorting import searchsorted
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def Bucketize(*, input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """Return for each number the count of sorted boundaries that are not above it."""
    values = convert_to_tensor(input)
    edges = convert_to_tensor(np.asarray(boundaries, np.float32))
    bins = searchsorted(edges, reshape(cast(values, edges.dtype), [-1]), side="right")
    return reshape(bins, shape(values))


def ImageProjectiveTransformV3(
    *, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, fill_value: float, interpolation: str,
    fill_mode: str = "CONSTANT", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return projected images; see `projective_transform`."""
    return projective_transform(images, transforms, output_shape, fill_value, interpolation, fill_mode)


_FusedBatchNorm = namedtuple(
    "_FusedBatchNorm", ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3")
)


def FusedBatchNormV3(
    *, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike,
    epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
    name: str | None = None,
) -> _FusedBatchNorm:  # fmt: skip
    """Normalise by the moments of the batch, or by the given ones if not `is_training`, and return the moments.

    The variance that is returned is that of a sample (divided by one element less). With an `exponential_avg_factor`
    below 1, it and the mean are mixed with the given ones.
    """
    tensor = convert_to_tensor(x)
    rank = tensor.shape.rank
    axis = 1 if data_format.startswith("NC") else (rank or 4) - 1
    broadcast_shape = [1 if dimension != axis else -1 for dimension in range(rank or 4)]
    float_tensor = cast(tensor, "float32")
    if not is_training:
        moments_used = returned = convert_to_tensor(mean), convert_to_tensor(variance)
    else:
        moments_used = moments(float_tensor, [dimension for dimension in range(rank or 4) if dimension != axis])
        count = cast(size(float_tensor) // shape(float_tensor)[axis], float_tensor.dtype)
        returned = moments_used[0], moments_used[1] * (count / maximum(count - 1.0, 1.0))
        if exponential_avg_factor != 1.0:
            new_weight = exponential_avg_factor
            old_moments = convert_to_tensor(mean), convert_to_tensor(variance)
            old_mean, old_variance = (moment * (1.0 - new_weight) for moment in old_moments)
            returned = returned[0] * new_weight + old_mean, returned[1] * new_weight + old_variance
    used_mean, used_variance, used_offset, used_scale = (
        reshape(convert_to_tensor(part), broadcast_shape) for part in (*moments_used, offset, scale)
    )
    y = batch_normalization(float_tensor, used_mean, used_variance, used_offset, used_scale, epsilon)
    return _FusedBatchNorm(cast(y, tensor.dtype), *returned, *moments_used, zeros([0]))


def FusedBatchNormV2(
    *, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike, variance: TensorLike,
    epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The first five results of `FusedBatchNormV3`."""
    return FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor, data_format=data_format, is_training=is_training,
    )[:5]  # fmt: skip


def __getattr__(name: str) -> Callable[..., object]:
    form = _find_form(name)
    if form is None:
        raise AttributeError(f"module 'autoconv.raw_ops' has no attribute {name!r}")
    op = _make_raw_op(name, form)
    globals()[name] = op
    return op


def __dir__() -> list[str]:
    return sorted([*_load_tables()[0], *_load_tables()[1], *(name for name in globals() if name[0].isupper())])


def _load_tables() -> tuple[dict[str, str], dict[str, Callable[..., object]]]:
    """Return the namespaces of ops that are public functions, and the forms of others; imports their modules lazily."""
    forms, parameters, *modules = (
        importlib.import_module(f"autoconv.tensorflow.raw_op_{part}")
        for part in ("forms", "parameters", "resources", "updates", "recurrent", "distinct", "derivatives")
    )
    others = {**forms.FORMS, **dict(parameters.forms())}
    for module in modules:
        others.update(module.FORMS)
    return {op: space for space, ops in forms.SAME_PARAMETERS.items() for op in ops}, others


def _find_form(name: str) -> Callable[..., object] | None:
    namespace_by_op, forms = _load_tables()
    if name not in namespace_by_op:
        return forms.get(name)
    namespace: object = importlib.import_module("autoconv")
    for part in filter(None, namespace_by_op[name].split(".")):
        namespace = getattr(namespace, part)
    snake_case_name = re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])", r"_\g<0>", re.sub(r"V\d$", "", name))
    form: Callable[..., object] = getattr(namespace, snake_case_name.lower())
    return form


def _make_raw_op(op: str, form: Callable[..., object]) -> Callable[..., object]:
    """Return the op as a function of named arguments, with the optional `name` of its node."""

    def raw_op(*, name: str | None = None, **arguments: object) -> object:
        return form(**arguments)

    raw_op.__name__ = raw_op.__qualname__ = op
    raw_op.__doc__ = f"The raw op {op}."
    return raw_op
