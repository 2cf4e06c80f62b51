"""`tf.raw_ops`: the raw ops that public functions implement, and the few others that libraries call.

Raw ops take all arguments by name. Names without an implementation raise AttributeError.
"""

from __future__ import annotations

import functools
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
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tensorflow.raw_op_results import result_class


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
    """Normalise by the moments of the batch, or if not `is_training` by `mean` and `variance`; return both moments.

    The returned variance is that of a sample, divided by the number of elements less one. With an
    `exponential_avg_factor` below 1, the returned moments are weighted means of the batch's moments, by this factor,
    and of `mean` and `variance`.
    """
    tensor = convert_to_tensor(x)
    rank = tensor.shape.rank or 4  # images, if the rank is unknown
    axis = 1 if data_format.startswith("NC") else rank - 1
    broadcast_shape = [1 if dimension != axis else -1 for dimension in range(rank)]
    float_tensor = cast(tensor, "float32")
    if not is_training:
        used_mean = new_mean = convert_to_tensor(mean)
        used_variance = new_variance = convert_to_tensor(variance)
    else:
        other_axes = [dimension for dimension in range(rank) if dimension != axis]
        used_mean, used_variance = moments(float_tensor, other_axes)
        count = cast(size(float_tensor) // shape(float_tensor)[axis], float_tensor.dtype)
        new_mean, new_variance = used_mean, used_variance * (count / maximum(count - 1.0, 1.0))
        if exponential_avg_factor != 1.0:
            weight, old_weight = exponential_avg_factor, 1.0 - exponential_avg_factor
            new_mean = new_mean * weight + convert_to_tensor(mean) * old_weight
            new_variance = new_variance * weight + convert_to_tensor(variance) * old_weight
    broadcast_mean, broadcast_variance, broadcast_offset, broadcast_scale = (
        reshape(convert_to_tensor(operand), broadcast_shape) for operand in (used_mean, used_variance, offset, scale)
    )
    y = batch_normalization(
        float_tensor, broadcast_mean, broadcast_variance, broadcast_offset, broadcast_scale, epsilon
    )
    return _FusedBatchNorm(cast(y, tensor.dtype), new_mean, new_variance, used_mean, used_variance, zeros([0]))


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
    namespace_by_op, forms = _load_tables()
    return sorted([*namespace_by_op, *forms, *(name for name in globals() if name[0].isupper())])


# The modules `raw_op_<part>` whose FORM_BY_OP are added to those of `raw_op_forms`.
_FURTHER_TABLES = ("resources", "strings", "sparse", "updates", "recurrent", "distinct", "derivatives")


@functools.cache
def _load_tables() -> tuple[dict[str, str], dict[str, Callable[..., object]]]:
    """Return two tables by op: namespaces of public functions with the same parameters, and functions for other ops.

    The modules of these tables are imported at the first use only.
    """
    forms, parameters, *modules = (
        importlib.import_module(f"autoconv.tensorflow.raw_op_{part}")
        for part in ("forms", "parameters", *_FURTHER_TABLES)
    )
    functions = {**forms.FORM_BY_OP, **dict(parameters.forms())}
    for module in modules:
        functions.update(module.FORM_BY_OP)
    return {op: namespace for namespace, ops in forms.OPS_BY_NAMESPACE.items() for op in ops}, functions


def _find_form(name: str) -> Callable[..., object] | None:
    """Return the function of named arguments that computes a raw op; None for an unknown op."""
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
    """Return the op as a function of named arguments; its argument `name` has no effect."""
    named = result_class(op)

    def raw_op(*, name: str | None = None, **arguments: object) -> object:
        results = form(**arguments)
        return named(*results) if named is not None and isinstance(results, (tuple, list)) else results

    return give_name(raw_op, op, f"The raw op {op}.")
