"""Parsing of Example and SequenceExample records, at once and in graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoconv.graph.dtypes import as_dtype, float32, int64, string
from autoconv.io.composite_features import composite_features, composite_steps, split_features
from autoconv.io.example_decoding import DecodeExamples, DecodeSequences, FeatureSpec, flat_default
from autoconv.io.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from autoconv.io.host_function import call_on_host
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec, as_shape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_FEATURE_DTYPES = (float32, int64, string)


def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Tensor]:
    """Return the features of serialized Examples, a vector of them or one, as a dict of tensors.

    `features` has a FixedLenFeature or FixedLenSequenceFeature for each key to read, or a VarLenFeature, SparseFeature
    or RaggedFeature for sparse and ragged tensors. A result has the dimension of the vector before the shape of the
    feature.

    Raises InvalidArgumentError for a record that is no Example or lacks a feature without a default. The same holds for
    a feature of another dtype or number of values.

    >>> number = autoconv.train.Feature(int64_list=autoconv.train.Int64List(value=[3]))
    >>> record = autoconv.train.Example(features=autoconv.train.Features(feature={"n": number})).SerializeToString()
    >>> autoconv.io.parse_example([record, record], {"n": autoconv.io.FixedLenFeature([], autoconv.int64)})["n"].numpy()
    array([3, 3])
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    dense, composite = split_features(features)
    specs = _feature_specs(dense)
    records = convert_to_tensor(serialized, string)
    rank = records.shape.rank
    batch_shape = None if rank is None else tuple(records.shape.as_list())
    tensors = _decode_examples(records, specs, batch_shape) if specs else {}
    return _merge_results(tensors, composite_features(records, composite), composite)


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Tensor]:
    """Return the features of one serialized Example, a scalar string tensor: see `parse_example`.

    Raises ValueError for a tensor with dimensions.

    >>> number = autoconv.train.Feature(int64_list=autoconv.train.Int64List(value=[3]))
    >>> record = autoconv.train.Example(features=autoconv.train.Features(feature={"n": number})).SerializeToString()
    >>> autoconv.io.parse_single_example(record, {"n": autoconv.io.FixedLenFeature([], autoconv.int64)})["n"].numpy()
    np.int64(3)
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    dense, composite = split_features(features)
    record = _scalar(serialized)
    tensors = _decode_examples(record, _feature_specs(dense), ()) if dense else {}
    return _merge_results(tensors, composite_features(record, composite), composite)


def _merge_results(dense: dict[str, Any], composites: dict[str, Any], features: Mapping[str, Any]) -> dict[str, Any]:
    """Return all results in TensorFlow's order: those of VarLenFeatures, dense tensors, then the other composites."""
    keys = sorted(composites)
    sparse_keys = [key for key in keys if isinstance(features[key], VarLenFeature)]
    return {
        **{key: composites[key] for key in sparse_keys},
        **dense,
        **{key: composites[key] for key in keys if key not in sparse_keys},
    }


def _decode_examples(
    records: Tensor, specs: tuple[FeatureSpec, ...], batch_shape: tuple[int | None, ...] | None
) -> dict[str, Tensor]:
    """Return the dense features of records by key."""
    return _tensors_by_key(specs, call_on_host(DecodeExamples(specs), [records], _result_specs(specs, batch_shape)))


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the features of one serialized SequenceExample: those of its context, and those of its steps.

    A feature of steps is a FixedLenSequenceFeature, or a VarLenFeature or RaggedFeature for steps of any length. Its
    result has the number of steps as first dimension.

    >>> step = autoconv.train.Feature(int64_list=autoconv.train.Int64List(value=[3]))
    >>> steps = autoconv.train.FeatureLists(feature_list={"n": autoconv.train.FeatureList(feature=[step, step])})
    >>> record = autoconv.train.SequenceExample(feature_lists=steps).SerializeToString()
    >>> feature = autoconv.io.FixedLenSequenceFeature([], autoconv.int64)
    >>> autoconv.io.parse_single_sequence_example(record, sequence_features={"n": feature})[1]["n"].numpy()
    array([3, 3])
    """
    context, steps, _ = _parse_sequences(_scalar(serialized), context_features, sequence_features)
    return context, steps


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """Return the features of a vector of serialized SequenceExamples, with the number of steps of each.

    The results are the context features, those of steps, and the numbers of steps of dense ones. Dense features of
    steps are padded to the longest; a VarLenFeature gives a sparse tensor, a RaggedFeature a ragged one.

    >>> step = autoconv.train.Feature(int64_list=autoconv.train.Int64List(value=[3]))
    >>> steps = autoconv.train.FeatureLists(feature_list={"n": autoconv.train.FeatureList(feature=[step, step])})
    >>> record = autoconv.train.SequenceExample(feature_lists=steps).SerializeToString()
    >>> feature = autoconv.io.FixedLenSequenceFeature([], autoconv.int64)
    >>> autoconv.io.parse_sequence_example([record], sequence_features={"n": feature})[2]["n"].numpy()
    array([2])
    """
    return _parse_sequences(convert_to_tensor(serialized, string), context_features, sequence_features)


def _parse_sequences(
    records: Tensor, context_features: Mapping[str, Any] | None, sequence_features: Mapping[str, Any] | None
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """Return by key the context features, the features of steps and the numbers of steps."""
    if not context_features and not sequence_features:
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    dense_context, composite_context = split_features(context_features or {})
    dense_steps, steps_of_any_length = split_features(sequence_features or {})
    context_specs = _feature_specs(dense_context)
    step_specs = _feature_specs(dense_steps, of_steps=True)
    rank = records.shape.rank
    batch_shape = None if rank is None else tuple(records.shape.as_list())
    lengths = [TensorSpec(batch_shape, int64) for _ in step_specs]
    specs = [*_result_specs(context_specs, batch_shape), *_result_specs(step_specs, batch_shape), *lengths]
    tensors = call_on_host(DecodeSequences(context_specs, step_specs), [records], specs) if specs else []
    context_end, steps_end = len(context_specs), len(context_specs) + len(step_specs)
    return (
        _merge_results(
            _tensors_by_key(context_specs, tensors[:context_end]),
            composite_features(records, composite_context, of_context=True),
            composite_context,
        ),
        _merge_results(
            _tensors_by_key(step_specs, tensors[context_end:steps_end]),
            composite_steps(records, steps_of_any_length),
            steps_of_any_length,
        ),
        _tensors_by_key(step_specs, tensors[steps_end:]),
    )


def _scalar(serialized: TensorLike) -> Tensor:
    """Return a serialized record as a scalar tensor; raise ValueError for one with dimensions."""
    record = convert_to_tensor(serialized, string)
    if record.shape.rank not in (None, 0):
        raise ValueError(f"Input serialized must be a scalar, found the shape {record.shape}")
    return record


def _tensors_by_key(specs: tuple[FeatureSpec, ...], tensors: list[Tensor]) -> dict[str, Tensor]:
    """Return the results of a host function by the keys of their features."""
    return {feature.key: value for feature, value in zip(specs, tensors, strict=True)}


def _result_specs(specs: tuple[FeatureSpec, ...], batch_shape: tuple[int | None, ...] | None) -> list[TensorSpec]:
    """Return the specs of dense results: the batch's shape, an open size if the feature varies, its own shape."""
    varying_sizes = [(None,) if feature.varies else () for feature in specs]
    return [
        TensorSpec(None if batch_shape is None else (*batch_shape, *varying_size, *feature.shape), feature.dtype)
        for feature, varying_size in zip(specs, varying_sizes, strict=True)
    ]


def _feature_specs(features: Mapping[str, Any], of_steps: bool = False) -> tuple[FeatureSpec, ...]:
    """Return the specs of dense features in the order of their keys."""
    return tuple(_feature_spec(key, features[key], of_steps) for key in sorted(features))


def _feature_spec(key: str, feature: object, of_steps: bool) -> FeatureSpec:
    """Return the spec of a key's feature; raises ValueError for an unsupported feature."""
    allowed_classes = FixedLenSequenceFeature if of_steps else (FixedLenFeature, FixedLenSequenceFeature)
    if not isinstance(feature, allowed_classes):
        raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r}")
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
    if feature.dtype is None:
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
    dtype = as_dtype(feature.dtype)
    if dtype not in _FEATURE_DTYPES:
        raise ValueError(f"Features are float32, int64 or string; {key!r} is requested as {dtype.name}.")
    declared_shape = as_shape(feature.shape)
    shape = tuple(size for size in declared_shape or () if isinstance(size, int))
    if declared_shape is None or len(shape) < len(declared_shape):
        raise ValueError(f"The feature {key!r} needs a shape whose sizes are known, found {feature.shape}.")
    if isinstance(feature, FixedLenFeature):
        default = flat_default(key, feature.default_value, dtype, shape)
        is_optional = feature.default_value is not None
        return FeatureSpec(key, dtype, shape, varies=False, optional=is_optional, default=default)
    if not of_steps and not feature.allow_missing:
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    default = flat_default(key, feature.default_value, dtype, ())
    return FeatureSpec(key, dtype, shape, varies=True, optional=bool(feature.allow_missing), default=default)
