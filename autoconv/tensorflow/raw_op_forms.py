"""Tables of raw ops of TensorFlow: names of public functions with the same parameters, and expressions for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autoconv as tf
from autoconv.api.image_transforms import projective_transform
from autoconv.runtime.annotations import IntLike, TensorLike

# Public functions that take the parameters of raw ops under the same names, by namespace. The function's name is the
# op's in lower case, without the number of a version.
OPS_BY_NAMESPACE: dict[str, tuple[str, ...]] = {
    "": (
        "AsString", "Bitcast", "BroadcastTo", "ClipByValue", "ConcatV2", "DynamicPartition", "DynamicStitch",
        "ExpandDims", "ExtractVolumePatches", "Fill", "Fingerprint", "Gather", "GatherNd", "GatherV2",
        "GuaranteeConst", "HistogramFixedWidth", "Identity", "IdentityN", "NoOp", "OneHot", "Range", "Rank",
        "Reshape", "ReverseV2", "Roll", "Shape", "ShapeN", "Size", "Squeeze", "StopGradient", "Tile", "Timestamp",
        "Unique", "UniqueWithCounts", "UnravelIndex", "Where",
    ),
    "bitwise": ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "LeftShift", "RightShift"),
    "debugging": ("CheckNumerics", "CheckNumericsV2"),
    "image": (
        "CombinedNonMaxSuppression", "DrawBoundingBoxesV2", "HSVToRGB", "NonMaxSuppression", "NonMaxSuppressionV2",
        "NonMaxSuppressionV3", "RGBToHSV",
    ),
    "io": (
        "DecodeAndCropJpeg", "DecodeBase64", "DecodeBmp", "DecodeCSV", "DecodeCompressed", "DecodeGif",
        "DecodeImage", "DecodeJpeg", "DecodePng", "EncodeBase64", "EncodeJpeg", "EncodePng", "ExtractJpegShape",
        "MatchingFiles", "ParseTensor", "ReadFile", "SerializeTensor", "WriteFile",
    ),
    "linalg": ("Cholesky", "Cross", "Lu", "Qr", "TridiagonalSolve"),
    "math": (
        "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "BesselI0",
        "BesselI0e", "BesselI1", "BesselI1e", "Betainc", "Ceil", "Cos", "Cosh", "Cumprod", "Cumsum",
        "CumulativeLogsumexp", "Digamma", "Erf", "Erfc", "Erfinv", "Exp", "Expm1", "Floor", "Greater",
        "GreaterEqual", "Igamma", "Igammac", "InTopK", "InTopKV2", "InvertPermutation", "IsFinite", "IsInf", "IsNan",
        "Less", "LessEqual", "Lgamma", "Log", "Log1p", "LogSoftmax", "LogicalAnd", "LogicalNot", "LogicalOr",
        "Maximum", "Minimum", "Ndtri", "Polygamma", "Pow", "Reciprocal", "Rint", "Round", "Rsqrt", "SegmentMax",
        "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax",
        "Softplus", "Softsign", "Sqrt", "Square", "SquaredDifference", "Tan", "Tanh", "TopK", "TopKV2",
        "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum", "Xdivy", "Xlog1py",
        "Xlogy", "Zeta",
    ),
    "math.special": (
        "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Dawsn",
        "Expint", "FresnelCos", "FresnelSin", "Spence",
    ),
    "nn": (
        "BiasAdd", "BiasAddV1", "DepthToSpace", "Elu", "L2Loss", "LRN", "LeakyRelu", "MaxPoolV2", "Relu", "Relu6",
        "Selu", "SpaceToDepth",
    ),
    "quantization": ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
    "signal": ("FFT", "IFFT"),
    "strings": (
        "RegexFullMatch", "RegexReplace", "Substr", "UnicodeScript", "UnicodeTranscode", "UnsortedSegmentJoin",
    ),
}  # fmt: skip


def _draw_seed(seed: int, seed2: int) -> int | None:
    """Return the seed of a stateful draw: the second if it is not 0, else the first, None if both are 0."""
    return seed2 or seed or None


def _padding(padding: str, explicit_paddings: Sequence[int]) -> Any:
    """Return the padding as public functions take it: a name, or the pairs of all dimensions."""
    return np.reshape(explicit_paddings, [-1, 2]).tolist() if padding == "EXPLICIT" else padding


# Methods of resizing that have the half-pixel centres of the public function.
_RESIZE_METHODS = {"Bilinear": "bilinear", "NearestNeighbor": "nearest"}


def _make_resize(name: str) -> Callable[..., object]:
    """Return the function of the raw op that resizes by the method `name`."""

    def resize(
        images: TensorLike, size: TensorLike, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> object:
        if align_corners or not half_pixel_centers:
            raise tf.errors.UnimplementedError(None, None, f"Resize{name} is here with half_pixel_centers=True only")
        return tf.image.resize(images, size, _RESIZE_METHODS[name])

    return resize


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    # arithmetic and comparisons
    "ApproximateEqual": lambda x, y, tolerance=1e-5: tf.abs(tf.subtract(x, y)) < tolerance,
    # reductions
    "Bincount": lambda arr, size, weights: _bincount(
        arr, size, weights, axis=None, binary=False
    ),
    "DenseBincount": lambda input, size, weights, binary_output=False: _bincount(
        input, size, weights, -1 if _rank(input) > 1 else None, binary_output
    ),
    # matrices
    "Einsum": lambda inputs, equation: tf.einsum(equation, *inputs),
    "MatrixDiagV3": lambda diagonal, k, num_rows, num_cols, padding_value, align="RIGHT_LEFT": tf.linalg.diag(
        diagonal, None, k, num_rows, num_cols, padding_value, align
    ),
    "MatrixDiagPartV3": lambda input, k, padding_value, align="RIGHT_LEFT": tf.linalg.diag_part(
        input, None, k, padding_value, align
    ),
    "MatrixSetDiagV3": lambda input, diagonal, k, align="RIGHT_LEFT": tf.linalg.set_diag(
        input, diagonal, None, k, align
    ),
    "TridiagonalMatMul": lambda superdiag, maindiag, subdiag, rhs: tf.linalg.tridiagonal_matmul(
        [tf.squeeze(diagonal, -2) for diagonal in map(tf.convert_to_tensor, (superdiag, maindiag, subdiag))], rhs,
        "sequence",
    ),
    "SelfAdjointEigV2": lambda input, compute_v=True: (
        tf.linalg.eigh(input) if compute_v else (tf.linalg.eigvalsh(input), tf.zeros([0]))
    ),
    "Svd": lambda input, compute_uv=True, full_matrices=False: (
        tf.linalg.svd(input, full_matrices)
        if compute_uv
        else (tf.linalg.svd(input, compute_uv=False), tf.zeros([0]), tf.zeros([0]))
    ),
    # shapes
    "ParallelConcat": lambda values, shape: tf.concat(values, 0),
    "StridedSlice": lambda input, **bounds: tf.strided_slice(input, **bounds),
    "ConjugateTranspose": lambda x, perm: tf.transpose(x, perm, conjugate=True),
    "LowerBound": lambda sorted_inputs, values, out_type=tf.int32: tf.searchsorted(
        sorted_inputs, values, "left", out_type
    ),
    "UpperBound": lambda sorted_inputs, values, out_type=tf.int32: tf.searchsorted(
        sorted_inputs, values, "right", out_type
    ),
    # neural networks
    "Conv2D": lambda input, filter, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
    data_format="NHWC", dilations=(1, 1, 1, 1): tf.nn.conv2d(
        input, filter, strides, _padding(padding, explicit_paddings), data_format, dilations
    ),
    "Conv2DBackpropInput": lambda input_sizes, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    explicit_paddings=(), data_format="NHWC", dilations=(1, 1, 1, 1): tf.nn.conv2d_transpose(
        out_backprop, filter, input_sizes, strides, _padding(padding, explicit_paddings), data_format, dilations
    ),
    "DepthwiseConv2dNative": lambda input, filter, strides, padding, explicit_paddings=(), data_format="NHWC",
    dilations=(1, 1, 1, 1): tf.nn.depthwise_conv2d(
        input, filter, strides, _padding(padding, explicit_paddings), data_format,
        dilations[1:3] if data_format == "NHWC" else dilations[2:],
    ),
    "MaxPool": lambda input, ksize, strides, padding, explicit_paddings=(), data_format="NHWC": tf.nn.max_pool(
        input, ksize, strides, _padding(padding, explicit_paddings), data_format
    ),
    "Dilation2D": lambda input, filter, strides, rates, padding: tf.nn.dilation2d(
        input, filter, strides, padding, "NHWC", rates
    ),
    "ReluGrad": lambda gradients, features: tf.where(tf.convert_to_tensor(features) > 0, gradients, 0),
    "Relu6Grad": lambda gradients, features: tf.where(
        (tf.convert_to_tensor(features) > 0) & (tf.convert_to_tensor(features) < 6), gradients, 0
    ),
    "SigmoidGrad": lambda y, dy: tf.convert_to_tensor(dy) * y * (1 - tf.convert_to_tensor(y)),
    "TanhGrad": lambda y, dy: tf.convert_to_tensor(dy) * (1 - tf.square(y)),
    "SqrtGrad": lambda y, dy: tf.math.divide_no_nan(tf.convert_to_tensor(dy) * 0.5, y),
    "RsqrtGrad": lambda y, dy: tf.convert_to_tensor(dy) * -0.5 * tf.convert_to_tensor(y) ** 3,
    "ReciprocalGrad": lambda y, dy: -tf.convert_to_tensor(dy) * tf.square(y),
    "SoftplusGrad": lambda gradients, features: tf.convert_to_tensor(gradients) * tf.sigmoid(features),
    "SoftsignGrad": lambda gradients, features: tf.convert_to_tensor(gradients) / tf.square(1 + tf.abs(features)),
    "LeakyReluGrad": lambda gradients, features, alpha=0.2: tf.where(
        tf.convert_to_tensor(features) > 0, gradients, tf.convert_to_tensor(gradients) * alpha
    ),
    "EluGrad": lambda gradients, outputs: tf.where(
        tf.convert_to_tensor(outputs) < 0, tf.convert_to_tensor(gradients) * (outputs + 1), gradients
    ),
    "BiasAddGrad": lambda out_backprop, data_format="NHWC": tf.reduce_sum(
        out_backprop, [axis for axis in range(_rank(out_backprop)) if axis != _channel_axis(out_backprop, data_format)]
    ),
    "SoftmaxCrossEntropyWithLogits": lambda features, labels: (
        tf.nn.softmax_cross_entropy_with_logits(labels, features),
        tf.nn.softmax(features) - labels,
    ),
    "SparseSoftmaxCrossEntropyWithLogits": lambda features, labels: (
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels, features),
        tf.nn.softmax(features) - tf.one_hot(labels, tf.shape(features)[-1], dtype=tf.nn.softmax(features).dtype),
    ),
    # images
    "ImageProjectiveTransformV2": lambda images, transforms, output_shape, interpolation, fill_mode="CONSTANT": (
        projective_transform(images, transforms, output_shape, 0.0, interpolation, fill_mode)
    ),
    **{f"Resize{name}": _make_resize(name) for name in _RESIZE_METHODS},
    # random numbers
    "RandomUniform": lambda shape, dtype, seed=0, seed2=0: tf.random.uniform(
        shape, dtype=dtype, seed=_draw_seed(seed, seed2)
    ),
    "RandomUniformInt": lambda shape, minval, maxval, seed=0, seed2=0: tf.random.uniform(
        shape, minval, maxval, tf.convert_to_tensor(minval).dtype, _draw_seed(seed, seed2)
    ),
    "RandomStandardNormal": lambda shape, dtype, seed=0, seed2=0: tf.random.normal(
        shape, dtype=dtype, seed=_draw_seed(seed, seed2)
    ),
    "TruncatedNormal": lambda shape, dtype, seed=0, seed2=0: tf.random.truncated_normal(
        shape, dtype=dtype, seed=_draw_seed(seed, seed2)
    ),
    "RandomShuffle": lambda value, seed=0, seed2=0: tf.random.shuffle(value, _draw_seed(seed, seed2)),
    "Multinomial": lambda logits, num_samples, seed=0, seed2=0, output_dtype=tf.int64: tf.random.categorical(
        logits, num_samples, output_dtype, _draw_seed(seed, seed2)
    ),
    "StatelessRandomUniformInt": lambda shape, seed, minval, maxval: tf.random.stateless_uniform(
        shape, seed, minval, maxval, tf.convert_to_tensor(minval).dtype
    ),
}  # fmt: skip


def _bincount(arr: TensorLike, size: IntLike, weights: TensorLike, axis: int | None, binary: bool) -> object:
    """Count the numbers below `size`, or sum their weights; `binary` marks numbers that occur by 1.

    Without elements in `weights`, each number has the weight 1.
    """
    weights_tensor = tf.convert_to_tensor(weights)
    weights_or_none = None if weights_tensor.shape.num_elements() == 0 else weights_tensor
    return tf.math.bincount(arr, weights_or_none, size, size, weights_tensor.dtype, axis=axis, binary_output=binary)


def _channel_axis(value: object, data_format: str) -> int:
    """Return the axis of channels in a tensor of the format."""
    return 1 if data_format.startswith("NC") else _rank(value) - 1


def _rank(value: object) -> int:
    """Return the rank, which has to be known."""
    return len(tf.convert_to_tensor(value).shape)
