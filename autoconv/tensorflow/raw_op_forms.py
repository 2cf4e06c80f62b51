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
SAME_PARAMETERS: dict[str, tuple[str, ...]] = {
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
    """Return the seed of a stateful draw, None if both seeds are 0."""
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
FORMS: dict[str, Callable[..., object]] = {
    # arithmetic and comparisons
    "Sub": lambda x, y: tf.subtract(x, y),
    "Mul": lambda x, y: tf.multiply(x, y),
    "MulNoNan": lambda x, y: tf.math.multiply_no_nan(x, y),
    "Neg": lambda x: tf.negative(x),
    "Inv": lambda x: tf.math.reciprocal(x),
    "Div": lambda x, y: tf.compat.v1.div(x, y),
    "RealDiv": lambda x, y: tf.realdiv(x, y),
    "DivNoNan": lambda x, y: tf.math.divide_no_nan(x, y),
    "FloorDiv": lambda x, y: tf.math.floordiv(x, y),
    "FloorMod": lambda x, y: tf.math.floormod(x, y),
    "Mod": lambda x, y: tf.truncatemod(x, y),
    "TruncateDiv": lambda x, y: tf.truncatediv(x, y),
    "TruncateMod": lambda x, y: tf.truncatemod(x, y),
    "NextAfter": lambda x1, x2: tf.math.nextafter(x1, x2),
    "Equal": lambda x, y, incompatible_shape_error=True: tf.equal(x, y),
    "NotEqual": lambda x, y, incompatible_shape_error=True: tf.not_equal(x, y),
    "ApproximateEqual": lambda x, y, tolerance=1e-5: tf.abs(tf.subtract(x, y)) < tolerance,
    "AccumulateNV2": lambda inputs, shape: tf.math.accumulate_n(inputs),
    "Cast": lambda x, DstT, Truncate=False: tf.cast(x, DstT),
    "Complex": lambda real, imag, Tout=None: tf.complex(real, imag),
    "ComplexAbs": lambda x, Tout=None: tf.abs(x),
    "Angle": lambda input, Tout=None: tf.math.angle(input),
    "Real": lambda input, Tout=None: tf.math.real(input),
    "Imag": lambda input, Tout=None: tf.math.imag(input),
    "Conj": lambda input: tf.math.conj(input),
    "Select": lambda condition, x, y: tf.compat.v1.where(condition, x, y),
    "SelectV2": lambda condition, t, e: tf.where(condition, t, e),
    "LinSpace": lambda start, stop, num: tf.linspace(start, stop, num),
    # reductions
    "Sum": lambda input, axis, keep_dims=False: tf.reduce_sum(input, axis, keep_dims),
    "Mean": lambda input, axis, keep_dims=False: tf.reduce_mean(input, axis, keep_dims),
    "Prod": lambda input, axis, keep_dims=False: tf.reduce_prod(input, axis, keep_dims),
    "Max": lambda input, axis, keep_dims=False: tf.reduce_max(input, axis, keep_dims),
    "Min": lambda input, axis, keep_dims=False: tf.reduce_min(input, axis, keep_dims),
    "All": lambda input, axis, keep_dims=False: tf.reduce_all(input, axis, keep_dims),
    "Any": lambda input, axis, keep_dims=False: tf.reduce_any(input, axis, keep_dims),
    "EuclideanNorm": lambda input, axis, keep_dims=False: tf.math.reduce_euclidean_norm(input, axis, keep_dims),
    "ArgMax": lambda input, dimension, output_type=tf.int64: tf.argmax(input, dimension, output_type),
    "ArgMin": lambda input, dimension, output_type=tf.int64: tf.argmin(input, dimension, output_type),
    "Bincount": lambda arr, size, weights: _bincount(arr, size, weights, None, False),
    "DenseBincount": lambda input, size, weights, binary_output=False: _bincount(
        input, size, weights, -1 if _rank(input) > 1 else None, binary_output
    ),
    "SegmentSumV2": lambda data, segment_ids, num_segments: tf.math.unsorted_segment_sum(
        data, segment_ids, num_segments
    ),
    "SparseSegmentSum": lambda data, indices, segment_ids, sparse_gradient=False: tf.sparse.segment_sum(
        data, indices, segment_ids
    ),
    "SparseSegmentMean": lambda data, indices, segment_ids, sparse_gradient=False: tf.sparse.segment_mean(
        data, indices, segment_ids
    ),
    "SparseSegmentSqrtN": lambda data, indices, segment_ids, sparse_gradient=False: tf.sparse.segment_sqrt_n(
        data, indices, segment_ids
    ),
    # matrices
    "MatMul": lambda a, b, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False: tf.matmul(
        a, b, transpose_a, transpose_b
    ),
    "BatchMatMul": lambda x, y, adj_x=False, adj_y=False, **_: tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y),
    "BatchMatMulV2": lambda x, y, adj_x=False, adj_y=False, **_: tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y),
    "BatchMatMulV3": lambda x, y, Tout, adj_x=False, adj_y=False, **_: tf.matmul(
        x, y, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout
    ),
    "Einsum": lambda inputs, equation: tf.einsum(equation, *inputs),
    "Diag": lambda diagonal: tf.linalg.tensor_diag(diagonal),
    "DiagPart": lambda input: tf.linalg.tensor_diag_part(input),
    "MatrixBandPart": lambda input, num_lower, num_upper: tf.linalg.band_part(input, num_lower, num_upper),
    "MatrixDeterminant": lambda input: tf.linalg.det(input),
    "LogMatrixDeterminant": lambda input: tf.linalg.slogdet(input),
    "MatrixDiag": lambda diagonal: tf.linalg.diag(diagonal),
    "MatrixDiagPart": lambda input: tf.linalg.diag_part(input),
    "MatrixSetDiag": lambda input, diagonal: tf.linalg.set_diag(input, diagonal),
    "MatrixDiagV3": lambda diagonal, k, num_rows, num_cols, padding_value, align="RIGHT_LEFT": tf.linalg.diag(
        diagonal, None, k, num_rows, num_cols, padding_value, align
    ),
    "MatrixDiagPartV3": lambda input, k, padding_value, align="RIGHT_LEFT": tf.linalg.diag_part(
        input, None, k, padding_value, align
    ),
    "MatrixSetDiagV3": lambda input, diagonal, k, align="RIGHT_LEFT": tf.linalg.set_diag(
        input, diagonal, None, k, align
    ),
    "MatrixExponential": lambda input: tf.linalg.expm(input),
    "MatrixLogarithm": lambda input: tf.linalg.logm(input),
    "MatrixSquareRoot": lambda input: tf.linalg.sqrtm(input),
    "MatrixInverse": lambda input, adjoint=False: tf.linalg.inv(input, adjoint),
    "MatrixSolve": lambda matrix, rhs, adjoint=False: tf.linalg.solve(matrix, rhs, adjoint),
    "MatrixSolveLs": lambda matrix, rhs, l2_regularizer, fast=True: tf.linalg.lstsq(
        matrix, rhs, l2_regularizer, fast
    ),
    "MatrixTriangularSolve": lambda matrix, rhs, lower=True, adjoint=False: tf.linalg.triangular_solve(
        matrix, rhs, lower, adjoint
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
    "BroadcastArgs": lambda s0, s1: tf.broadcast_dynamic_shape(s0, s1),
    "Concat": lambda concat_dim, values: tf.concat(values, concat_dim),
    "Pack": lambda values, axis=0: tf.stack(values, axis),
    "ParallelConcat": lambda values, shape: tf.concat(values, 0),
    "Unpack": lambda value, num, axis=0: tf.unstack(value, num, axis),
    "Split": lambda axis, value, num_split: tf.split(value, num_split, axis),
    "SplitV": lambda value, size_splits, axis, num_split: tf.split(value, size_splits, axis, num_split),
    "Slice": lambda input, begin, size: tf.slice(input, begin, size),
    "StridedSlice": lambda input, **bounds: tf.strided_slice(input, **bounds),
    "Transpose": lambda x, perm: tf.transpose(x, perm),
    "ConjugateTranspose": lambda x, perm: tf.transpose(x, perm, conjugate=True),
    "Pad": lambda input, paddings: tf.pad(input, paddings),
    "PadV2": lambda input, paddings, constant_values: tf.pad(input, paddings, constant_values=constant_values),
    "MirrorPad": lambda input, paddings, mode: tf.pad(input, paddings, mode),
    "OnesLike": lambda x: tf.ones_like(x),
    "ZerosLike": lambda x: tf.zeros_like(x),
    "Empty": lambda shape, dtype, init=False: tf.zeros(shape, dtype),
    "EnsureShape": lambda input, shape: tf.ensure_shape(input, shape),
    "PreventGradient": lambda input, message="": tf.identity(input),
    "DeepCopy": lambda x: tf.identity(x),
    "ReverseSequence": lambda input, seq_lengths, seq_dim, batch_dim=0: tf.reverse_sequence(
        input, seq_lengths, seq_dim, batch_dim
    ),
    "SpaceToBatchND": lambda input, block_shape, paddings: tf.space_to_batch(input, block_shape, paddings),
    "BatchToSpaceND": lambda input, block_shape, crops: tf.batch_to_space(input, block_shape, crops),
    "ScatterNd": lambda indices, updates, shape, bad_indices_policy="": tf.scatter_nd(indices, updates, shape),
    "TensorScatterUpdate": lambda tensor, indices, updates, bad_indices_policy="": tf.tensor_scatter_nd_update(
        tensor, indices, updates
    ),
    "TensorScatterAdd": lambda tensor, indices, updates, bad_indices_policy="": tf.tensor_scatter_nd_add(
        tensor, indices, updates
    ),
    "TensorScatterSub": lambda tensor, indices, updates, bad_indices_policy="": tf.tensor_scatter_nd_sub(
        tensor, indices, updates
    ),
    "TensorScatterMax": lambda tensor, indices, updates, bad_indices_policy="": tf.tensor_scatter_nd_max(
        tensor, indices, updates
    ),
    "TensorScatterMin": lambda tensor, indices, updates, bad_indices_policy="": tf.tensor_scatter_nd_min(
        tensor, indices, updates
    ),
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
    "Conv3D": lambda input, filter, strides, padding, data_format="NDHWC", dilations=(1,) * 5: tf.nn.conv3d(
        input, filter, strides, padding, data_format, dilations
    ),
    "DepthwiseConv2dNative": lambda input, filter, strides, padding, explicit_paddings=(), data_format="NHWC",
    dilations=(1, 1, 1, 1): tf.nn.depthwise_conv2d(
        input, filter, strides, _padding(padding, explicit_paddings), data_format, dilations[1:3]
    ),
    "AvgPool": lambda value, ksize, strides, padding, data_format="NHWC": tf.nn.avg_pool(
        value, ksize, strides, padding, data_format
    ),
    "AvgPool3D": lambda input, ksize, strides, padding, data_format="NDHWC": tf.nn.avg_pool3d(
        input, ksize, strides, padding, data_format
    ),
    "MaxPool": lambda input, ksize, strides, padding, explicit_paddings=(), data_format="NHWC": tf.nn.max_pool(
        input, ksize, strides, _padding(padding, explicit_paddings), data_format
    ),
    "MaxPool3D": lambda input, ksize, strides, padding, data_format="NDHWC": tf.nn.max_pool3d(
        input, ksize, strides, padding, data_format
    ),
    "MaxPoolWithArgmax": lambda input, ksize, strides, padding, Targmax=tf.int64, include_batch_in_index=False: (
        tf.nn.max_pool_with_argmax(
            input, ksize, strides, padding, output_dtype=Targmax, include_batch_in_index=include_batch_in_index
        )
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
    "AdjustContrastv2": lambda images, contrast_factor: tf.image.adjust_contrast(images, contrast_factor),
    "AdjustHue": lambda images, delta: tf.image.adjust_hue(images, delta),
    "AdjustSaturation": lambda images, scale: tf.image.adjust_saturation(images, scale),
    "CropAndResize": lambda image, boxes, box_ind, crop_size, method="bilinear", extrapolation_value=0.0: (
        tf.image.crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value)
    ),
    "ImageProjectiveTransformV2": lambda images, transforms, output_shape, interpolation, fill_mode="CONSTANT": (
        projective_transform(images, transforms, output_shape, 0.0, interpolation, fill_mode)
    ),
    "ExtractImagePatches": lambda images, ksizes, strides, rates, padding: tf.image.extract_patches(
        images, ksizes, strides, rates, padding
    ),
    **{f"Resize{name}": _make_resize(name) for name in _RESIZE_METHODS},
    # Fourier transforms
    "FFT2D": lambda input: tf.signal.fft2d(input),
    "FFT3D": lambda input: tf.signal.fft3d(input),
    "IFFT2D": lambda input: tf.signal.ifft2d(input),
    "IFFT3D": lambda input: tf.signal.ifft3d(input),
    "RFFT": lambda input, fft_length, Tcomplex=None: tf.signal.rfft(input, fft_length),
    "RFFT2D": lambda input, fft_length, Tcomplex=None: tf.signal.rfft2d(input, fft_length),
    "RFFT3D": lambda input, fft_length, Tcomplex=None: tf.signal.rfft3d(input, fft_length),
    "IRFFT": lambda input, fft_length, Treal=None: tf.signal.irfft(input, fft_length),
    "IRFFT2D": lambda input, fft_length, Treal=None: tf.signal.irfft2d(input, fft_length),
    "IRFFT3D": lambda input, fft_length, Treal=None: tf.signal.irfft3d(input, fft_length),
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
    "StatelessRandomUniform": lambda shape, seed, dtype=tf.float32: tf.random.stateless_uniform(
        shape, seed, dtype=dtype
    ),
    "StatelessRandomUniformInt": lambda shape, seed, minval, maxval: tf.random.stateless_uniform(
        shape, seed, minval, maxval, tf.convert_to_tensor(minval).dtype
    ),
    "StatelessRandomNormal": lambda shape, seed, dtype=tf.float32: tf.random.stateless_normal(
        shape, seed, dtype=dtype
    ),
    "StatelessTruncatedNormal": lambda shape, seed, dtype=tf.float32: tf.random.stateless_truncated_normal(
        shape, seed, dtype=dtype
    ),
    "StatelessMultinomial": lambda logits, num_samples, seed, output_dtype=tf.int64: (
        tf.random.stateless_categorical(logits, num_samples, seed, output_dtype)
    ),
}  # fmt: skip


def _bincount(arr: TensorLike, size: IntLike, weights: TensorLike, axis: int | None, binary: bool) -> object:
    """Count the numbers below `size`, or sum their weights; `binary` only marks those that occur.

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
