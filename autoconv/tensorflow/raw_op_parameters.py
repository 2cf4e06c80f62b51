"""Raw ops as rows of a table: the public function that computes them, and its arguments.

A row is `function: parameters`. The parameters are the raw op's, in the order in which the public function takes them:

- `name=default` may be left out;
- `name=default>keyword`, or `name>keyword`, is passed by keyword;
- `-name=default` is accepted and has no effect here;
- `<prefix` is a sparse tensor, given by the prefix with `_indices`, `_values` and `_shape`; a single `<`
  has no prefix: the parameters are `indices`, `values` and `shape`.

A result that is a sparse tensor becomes its indices, values and shape.

Gradients are rows of a second table, with four names: the raw op that is differentiated; its parameter by which it is
differentiated; the gradient's parameter with the value or shape of that parameter; and the gradient's parameter with
the cotangent.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import autoconv as tf

ROW_BY_OP: dict[str, str] = {
    # arithmetic and arrays
    "ApproxTopK": "math.approx_max_k: input k reduction_dimension=-1 recall_target=0.95 -is_max_k=True "
    "reduction_input_size_override=-1 aggregate_to_topk=True",
    "BatchToSpace": "compat.v1.batch_to_space: input block_size crops",
    "SpaceToBatch": "compat.v1.space_to_batch: input block_size paddings",
    "BandedTriangularSolve": "linalg.banded_triangular_solve: matrix rhs lower=True adjoint=False",
    "Eig": "linalg.eig: input -Tout=None -compute_v=True",
    "FFTND": "signal.fftnd: input fft_length axes",
    "IFFTND": "signal.ifftnd: input fft_length axes",
    "RFFTND": "signal.rfftnd: input fft_length axes -Tcomplex=None",
    "IRFFTND": "signal.irfftnd: input fft_length axes -Treal=None",
    "IsotonicRegression": "nn.isotonic_regression: input -output_dtype=None",
    "MatrixDiagPartV2": "linalg.diag_part: input k>k padding_value>padding_value",
    "MatrixDiagV2": "linalg.diag: diagonal k>k num_rows>num_rows num_cols>num_cols padding_value>padding_value",
    "MatrixSetDiagV2": "linalg.set_diag: input diagonal k>k",
    "ParallelDynamicStitch": "dynamic_stitch: indices data",
    "PlaceholderWithDefault": "identity: input -shape=None",
    "SegmentMaxV2": "math.unsorted_segment_max: data segment_ids num_segments",
    "SegmentMinV2": "math.unsorted_segment_min: data segment_ids num_segments",
    "SegmentProdV2": "math.unsorted_segment_prod: data segment_ids num_segments",
    "Snapshot": "identity: input",
    "SobolSample": "math.sobol_sample: dim num_results skip dtype='float32'",
    "SparseMatMul": "matmul: a b transpose_a=False transpose_b=False a_is_sparse=False>a_is_sparse "
    "b_is_sparse=False>b_is_sparse",
    # sparse tensors and sets
    "EditDistance": "edit_distance: <hypothesis <truth normalize=True",
    "SetSize": "sets.size: <set validate_indices=True",
    **{f"SparseSegment{name}{suffix}": f"sparse.segment_{function}: data indices segment_ids{count} "
       "-sparse_gradient=False" for name, function in (("Sum", "sum"), ("Mean", "mean"), ("SqrtN", "sqrt_n"))
       for suffix, count in (("", ""), ("WithNumSegments", " num_segments"))},
    "SparseAdd": "sparse.add: <a <b thresh",
    **{f"SparseReduce{name}": f"sparse.reduce_{name.lower()}: <input reduction_axes keep_dims=False"
       for name in ("Max", "Sum")},
    "SparseSlice": "sparse.slice: < start size",
    "SparseTensorDenseMatMul": "sparse.sparse_dense_matmul: <a b adjoint_a=False adjoint_b=False",
    # images, sounds, networks
    "DecodeWav": "audio.decode_wav: contents desired_channels=-1 desired_samples=-1",
    "DecodeWebP": "image.decode_webp: contents channels=0 dtype='uint8'",
    "DrawBoundingBoxes": "image.draw_bounding_boxes: images boxes -colors=None>colors",
    "EncodeWav": "audio.encode_wav: audio sample_rate",
    "EncodeJpegVariableQuality": "io.encode_jpeg: images quality>quality",
    "NonMaxSuppressionWithOverlaps": "image.non_max_suppression_overlaps: overlaps scores max_output_size "
    "overlap_threshold score_threshold",
    # random numbers
    "AllCandidateSampler": "random.all_candidate_sampler: true_classes num_true num_sampled unique seed=0 -seed2=0",
    **{f"{name}CandidateSampler": f"random.{function}_candidate_sampler: true_classes num_true num_sampled unique "
       "range_max seed=0 -seed2=0" for name, function in (
           ("LearnedUnigram", "learned_unigram"), ("LogUniform", "log_uniform"), ("Uniform", "uniform"),
    )},
    "ComputeAccidentalHits": "nn.compute_accidental_hits: true_classes sampled_candidates num_true seed=0 -seed2=0",
    "StatelessRandomBinomial": "random.stateless_binomial: shape seed counts probs dtype='int64'",
    "StatelessRandomPoisson": "random.stateless_poisson: shape seed lam dtype",
    "StatelessRandomUniform": "random.stateless_uniform: shape seed dtype='float32'>dtype",
    "StatelessRandomNormal": "random.stateless_normal: shape seed dtype='float32'>dtype",
    "StatelessTruncatedNormal": "random.stateless_truncated_normal: shape seed dtype='float32'>dtype",
    "StatelessMultinomial": "random.stateless_categorical: logits num_samples seed output_dtype='int64'",
    # functions of Python, messages, texts
    "PyFunc": "numpy_function: token input Tout",
    "EagerPyFunc": "py_function: token input Tout -is_async=False",
    "StringSplit": "compat.v1.string_split: input delimiter skip_empty=True",
    "StringJoin": "strings.join: inputs separator=''", "StringLength": "strings.length: input unit='BYTE'",
    "StringLower": "strings.lower: input encoding=''", "StringUpper": "strings.upper: input encoding=''",
    "StringStrip": "strings.strip: input", "StringToNumber": "strings.to_number: string_tensor out_type='float32'",
    "StringToHashBucketFast": "strings.to_hash_bucket_fast: input num_buckets",
    "StringToHashBucketStrong": "strings.to_hash_bucket_strong: input num_buckets key",
    "StringToHashBucket": "strings.to_hash_bucket: string_tensor num_buckets",
    "StringFormat": "strings.format: template='%s' inputs placeholder='%s' summarize=3",
    "StaticRegexReplace": "strings.regex_replace: input pattern rewrite replace_global=True",
    "StaticRegexFullMatch": "strings.regex_full_match: input pattern",
    "ReduceJoin": "strings.reduce_join: inputs reduction_indices keep_dims=False separator=''",
    "DecodeRaw": "io.decode_raw: bytes out_type little_endian=True",
    "DecodePaddedRaw": "io.decode_raw: input_bytes out_type little_endian=True fixed_length",
    # messages
    "Assert": "debugging.Assert: condition data summarize=3",
    # arithmetic and comparisons
    "Sub": "subtract: x y", "Mul": "multiply: x y", "MulNoNan": "math.multiply_no_nan: x y", "Neg": "negative: x",
    "Inv": "math.reciprocal: x", "Div": "compat.v1.div: x y", "RealDiv": "realdiv: x y",
    "DivNoNan": "math.divide_no_nan: x y", "FloorDiv": "math.floordiv: x y", "FloorMod": "math.floormod: x y",
    "Mod": "truncatemod: x y", "TruncateDiv": "truncatediv: x y", "TruncateMod": "truncatemod: x y",
    "NextAfter": "math.nextafter: x1 x2", "Equal": "equal: x y -incompatible_shape_error=True",
    "NotEqual": "not_equal: x y -incompatible_shape_error=True",
    "AccumulateNV2": "math.accumulate_n: inputs -shape=None", "Cast": "cast: x DstT -Truncate=False",
    "Complex": "complex: real imag -Tout=None", "ComplexAbs": "abs: x -Tout=None",
    "Angle": "math.angle: input -Tout=None", "Real": "math.real: input -Tout=None",
    "Imag": "math.imag: input -Tout=None", "Conj": "math.conj: input", "Select": "compat.v1.where: condition x y",
    "SelectV2": "where: condition t e", "LinSpace": "linspace: start stop num",
    # reductions
    **{name: f"reduce_{name.lower()}: input axis keep_dims=False"
       for name in ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any")},
    "EuclideanNorm": "math.reduce_euclidean_norm: input axis keep_dims=False",
    "ArgMax": "argmax: input dimension output_type='int64'", "ArgMin": "argmin: input dimension output_type='int64'",
    "SegmentSumV2": "math.unsorted_segment_sum: data segment_ids num_segments",
    # matrices
    "MatMul": "matmul: a b transpose_a=False transpose_b=False -grad_a=False -grad_b=False",
    "BatchMatMul": "matmul: x y adj_x=False>adjoint_a adj_y=False>adjoint_b -grad_x=False -grad_y=False",
    "BatchMatMulV2": "matmul: x y adj_x=False>adjoint_a adj_y=False>adjoint_b -grad_x=False -grad_y=False",
    "BatchMatMulV3": "matmul: x y adj_x=False>adjoint_a adj_y=False>adjoint_b Tout>output_type "
    "-grad_x=False -grad_y=False",
    "Diag": "linalg.tensor_diag: diagonal", "DiagPart": "linalg.tensor_diag_part: input",
    "MatrixBandPart": "linalg.band_part: input num_lower num_upper", "MatrixDeterminant": "linalg.det: input",
    "LogMatrixDeterminant": "linalg.slogdet: input", "MatrixDiag": "linalg.diag: diagonal",
    "MatrixDiagPart": "linalg.diag_part: input", "MatrixSetDiag": "linalg.set_diag: input diagonal",
    "MatrixExponential": "linalg.expm: input", "MatrixLogarithm": "linalg.logm: input",
    "MatrixSquareRoot": "linalg.sqrtm: input", "MatrixInverse": "linalg.inv: input adjoint=False",
    "MatrixSolve": "linalg.solve: matrix rhs adjoint=False",
    "MatrixSolveLs": "linalg.lstsq: matrix rhs l2_regularizer fast=True",
    "MatrixTriangularSolve": "linalg.triangular_solve: matrix rhs lower=True adjoint=False",
    # shapes
    "BroadcastArgs": "broadcast_dynamic_shape: s0 s1", "Concat": "concat: values concat_dim",
    "Pack": "stack: values axis=0", "Unpack": "unstack: value num axis=0", "Split": "split: value num_split axis",
    "SplitV": "split: value size_splits axis num_split", "Slice": "slice: input begin size",
    "Transpose": "transpose: x perm", "Pad": "pad: input paddings",
    "PadV2": "pad: input paddings constant_values>constant_values", "MirrorPad": "pad: input paddings mode",
    "OnesLike": "ones_like: x", "ZerosLike": "zeros_like: x", "Empty": "zeros: shape dtype -init=False",
    "EnsureShape": "ensure_shape: input shape", "PreventGradient": "identity: input -message=''",
    "DeepCopy": "identity: x", "ReverseSequence": "reverse_sequence: input seq_lengths seq_dim batch_dim=0",
    "SpaceToBatchND": "space_to_batch: input block_shape paddings",
    "BatchToSpaceND": "batch_to_space: input block_shape crops",
    "ScatterNd": "scatter_nd: indices updates shape -bad_indices_policy=''",
    **{f"TensorScatter{name}": f"tensor_scatter_nd_{name.lower()}: tensor indices updates -bad_indices_policy=''"
       for name in ("Update", "Add", "Sub", "Max", "Min")},
    # neural networks
    "Conv3D": "nn.conv3d: input filter strides padding data_format='NDHWC' dilations=(1,1,1,1,1)",
    "AvgPool": "nn.avg_pool: value ksize strides padding data_format='NHWC'",
    "AvgPool3D": "nn.avg_pool3d: input ksize strides padding data_format='NDHWC'",
    "MaxPool3D": "nn.max_pool3d: input ksize strides padding data_format='NDHWC'",
    "MaxPoolWithArgmax": "nn.max_pool_with_argmax: input ksize strides padding "
    "Targmax='int64'>output_dtype include_batch_in_index=False>include_batch_in_index",
    # images
    "AdjustContrastv2": "image.adjust_contrast: images contrast_factor", "AdjustHue": "image.adjust_hue: images delta",
    "AdjustSaturation": "image.adjust_saturation: images scale",
    "CropAndResize": "image.crop_and_resize: image boxes box_ind crop_size method='bilinear' extrapolation_value=0.0",
    "ExtractImagePatches": "image.extract_patches: images ksizes strides rates padding",
    # Fourier transforms
    **{f"{name}{rank}": f"signal.{name.lower()}{rank.lower()}: input"
       for name in ("FFT", "IFFT") for rank in ("2D", "3D")},
    **{f"{name}{rank}": f"signal.{name.lower()}{rank.lower()}: input fft_length -{dtype}=None"
       for name, dtype in (("RFFT", "Tcomplex"), ("IRFFT", "Treal")) for rank in ("", "2D", "3D")},
}  # fmt: skip

GRADIENT_ROW_BY_OP: dict[str, tuple[str, str, str, str]] = {
    "AvgPoolGrad": ("AvgPool", "value", "orig_input_shape", "grad"),
    "AvgPool3DGrad": ("AvgPool3D", "input", "orig_input_shape", "grad"),
    "Conv2DBackpropFilter": ("Conv2D", "filter", "filter_sizes", "out_backprop"),
    "Conv3DBackpropFilterV2": ("Conv3D", "filter", "filter_sizes", "out_backprop"),
    "Conv3DBackpropInputV2": ("Conv3D", "input", "input_sizes", "out_backprop"),
    "DepthwiseConv2dNativeBackpropFilter": ("DepthwiseConv2dNative", "filter", "filter_sizes", "out_backprop"),
    "DepthwiseConv2dNativeBackpropInput": ("DepthwiseConv2dNative", "input", "input_sizes", "out_backprop"),
    "Dilation2DBackpropFilter": ("Dilation2D", "filter", "filter", "out_backprop"),
    "Dilation2DBackpropInput": ("Dilation2D", "input", "input", "out_backprop"),
    "FakeQuantWithMinMaxArgsGradient": ("FakeQuantWithMinMaxArgs", "inputs", "inputs", "gradients"),
    "LRNGrad": ("LRN", "input", "input_image", "input_grads"),
    "MaxPoolGrad": ("MaxPool", "input", "orig_input", "grad"),
    "MaxPoolGradV2": ("MaxPoolV2", "input", "orig_input", "grad"),
    "MaxPool3DGrad": ("MaxPool3D", "input", "orig_input", "grad"),
    "StridedSliceGrad": ("StridedSlice", "input", "shape", "dy"),
}
_RESULTS_OF_FORWARD_OP = ("orig_output", "output_image")
_SHAPE_PARAMETERS = ("orig_input_shape", "filter_sizes", "input_sizes", "shape")


def form_of_parameters(name: str) -> Callable[..., object]:
    """Return the function that computes a raw op of the first table."""
    function_path, _, parameter_texts = ROW_BY_OP[name].partition(": ")
    parameters = [_Parameter(part) for part in parameter_texts.split()]
    allowed_names = {part for parameter in parameters for part in parameter.names}

    def call(**arguments: Any) -> object:
        if unknown_names := sorted(set(arguments) - allowed_names):
            raise TypeError(f"{name} got an unexpected keyword argument {unknown_names[0]!r}")
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for parameter in parameters:
            value = parameter.value(name, arguments)
            if parameter.keyword:
                keywords[parameter.keyword] = value
            elif parameter.mark != "-":
                positional.append(value)
        function: Any = tf
        for part in function_path.split("."):
            function = getattr(function, part)
        return _without_sparse_tensors(function(*positional, **keywords))

    return call


_PARAMETER = re.compile(r"([-<]?)(\w*)(?:=([^>]+))?(?:>(\w+))?")


class _Parameter:
    """A parameter of a row: its mark ("-", "<" or ""), its names, the text of its default, and its keyword."""

    def __init__(self, text: str) -> None:
        match = _PARAMETER.fullmatch(text)
        assert match is not None, text
        self.mark, name, self.default, self.keyword = match.groups("")
        self.names: tuple[str, ...] = (name,)
        if self.mark == "<":
            self.names = tuple(f"{name}_{part}".removeprefix("_") for part in ("indices", "values", "shape"))

    def value(self, op: str, arguments: dict[str, Any]) -> Any:
        """Return the argument for this parameter, or its default; raises TypeError without either."""
        missing_names = [name for name in self.names if name not in arguments]
        if missing_names and not self.default:
            raise TypeError(f"{op} missing a required argument: {missing_names[0]!r}")
        if missing_names:
            return ast.literal_eval(self.default)
        values = [arguments[name] for name in self.names]
        return tf.sparse.SparseTensor(*values) if self.mark == "<" else values[0]


def _without_sparse_tensors(result: object) -> object:
    """Return the indices, values and shape of a sparse tensor, and any other result unchanged."""
    if isinstance(result, tf.sparse.SparseTensor):
        return result.indices, result.values, result.dense_shape
    return result


def form_of_gradient(name: str) -> Callable[..., object]:
    """Return the function that computes a raw op of the second table, the gradient of another raw op."""
    op, parameter, point_parameter, cotangent_parameter = GRADIENT_ROW_BY_OP[name]

    def gradient(**arguments: Any) -> object:
        cotangent = tf.convert_to_tensor(arguments.pop(cotangent_parameter))
        point_or_shape = arguments.pop(point_parameter)
        if point_parameter in _SHAPE_PARAMETERS:
            point = tf.zeros(point_or_shape, cotangent.dtype)
        else:
            point = tf.convert_to_tensor(point_or_shape)
        options = {key: value for key, value in arguments.items() if key not in _RESULTS_OF_FORWARD_OP}
        raw_ops: Any = import_module("autoconv.tensorflow.raw_ops")  # which imports this table
        with tf.GradientTape() as tape:
            tape.watch(point)
            result = getattr(raw_ops, op)(**options, **{parameter: point})
        return tape.gradient(result, point, cotangent, tf.UnconnectedGradients.ZERO)

    return gradient


def forms() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the ops of both tables, each with the function that computes it."""
    for name in ROW_BY_OP:
        yield name, form_of_parameters(name)
    for name in GRADIENT_ROW_BY_OP:
        yield name, form_of_gradient(name)
