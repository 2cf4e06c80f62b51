"""The public names, as `autoconv.name`. Some shadow Python's builtins: `abs`, `bool`, `print` …"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoconv import (
    autodiff,
    autograph,
    bitwise,
    config,
    dtypes,
    errors,
    linalg,
    math,
    nest,
    nn,
    numpy,
    random,
    strings,
    types,
)
from autoconv.api.control.checks import Assert, assert_equal, assert_greater, assert_less
from autoconv.api.control.flow import case, cond, switch_case, while_loop
from autoconv.api.control.functional import foldl, foldr, map_fn, scan
from autoconv.api.control.graphs import Graph
from autoconv.api.control.module import Module
from autoconv.api.control.output import print_ as print
from autoconv.api.control.shape_checks import assert_rank
from autoconv.api.control.vectorize import vectorized_map
from autoconv.api.extension_types import type_spec_from_value
from autoconv.api.gradients.accumulator import ForwardAccumulator
from autoconv.api.gradients.callbacks import numpy_function, py_function
from autoconv.api.gradients.custom import custom_gradient, gradients, hessians
from autoconv.api.gradients.recomputed import recompute_grad
from autoconv.api.gradients.tape import GradientTape, UnconnectedGradients
from autoconv.api.gradients.transforms import grad, hessian, jacobian, jvp, value_and_grad, vjp
from autoconv.api.graph_names import (
    AggregationMethod,
    CriticalSection,
    fingerprint,
    get_current_name_scope,
    get_logger,
    is_symbolic_tensor,
    load_library,
    no_gradient,
    parallel_stack,
)
from autoconv.api.graph_names import tuple_ as tuple
from autoconv.api.initializers import Constant as constant_initializer
from autoconv.api.initializers import Ones as ones_initializer
from autoconv.api.initializers import RandomNormal as random_normal_initializer
from autoconv.api.initializers import RandomUniform as random_uniform_initializer
from autoconv.api.initializers import Zeros as zeros_initializer
from autoconv.api.matrices.factors import eig, eigvals
from autoconv.api.matrices.linalg import einsum, matmul, tensordot
from autoconv.api.nn.blocks import reverse_sequence
from autoconv.api.nn.space_batches import (
    batch_to_space,
    extract_volume_patches,
    required_space_to_batch_paddings,
    space_to_batch,
)
from autoconv.api.ragged.tensor import RaggedTensor, RaggedTensorSpec
from autoconv.api.scopes import (
    control_dependencies,
    device,
    executing_eagerly,
    group,
    init_scope,
    inside_function,
    is_tensor,
    name_scope,
    no_op,
    timestamp,
)
from autoconv.api.sparse.ctc_decoding import edit_distance
from autoconv.api.sparse.tensor import SparseTensor, SparseTensorSpec
from autoconv.api.strings import as_string
from autoconv.api.tensors.arithmetic import add, add_n, divide, floordiv, multiply, negative, pow, subtract, truediv
from autoconv.api.tensors.casts import bitcast, cast, identity, saturate_cast, stop_gradient
from autoconv.api.tensors.comparison import (
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    equal,
    global_norm,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
)
from autoconv.api.tensors.constants import eye, fill, linspace, ones, ones_like, range, zeros, zeros_like
from autoconv.api.tensors.gather import (
    dynamic_partition,
    gather,
    gather_nd,
    one_hot,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
    where,
)
from autoconv.api.tensors.indexing import boolean_mask, newaxis, slice, strided_slice
from autoconv.api.tensors.maths import (
    abs,
    ceil,
    complex,
    cumsum,
    exp,
    floor,
    imag,
    log,
    real,
    round,
    sigmoid,
    sign,
    sqrt,
    square,
)
from autoconv.api.tensors.norms import norm
from autoconv.api.tensors.positions import (
    dynamic_stitch,
    grad_pass_through,
    guarantee_const,
    histogram_fixed_width,
    histogram_fixed_width_bins,
    identity_n,
    realdiv,
    scalar_mul,
    truncatediv,
    truncatemod,
    unravel_index,
)
from autoconv.api.tensors.reductions import (
    argmax,
    argmin,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from autoconv.api.tensors.shaping import (
    broadcast_to,
    concat,
    ensure_shape,
    expand_dims,
    meshgrid,
    pad,
    rank,
    repeat,
    reshape,
    reverse,
    roll,
    sequence_mask,
    shape,
    shape_n,
    size,
    split,
    squeeze,
    stack,
    tile,
    transpose,
    unstack,
)
from autoconv.api.tensors.sorting import approx_max_k as approx_top_k
from autoconv.api.tensors.sorting import argsort, searchsorted, sort, unique, unique_with_counts
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape, broadcast_static_shape, get_static_value
from autoconv.api.tensors.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from autoconv.api.value_specs import IndexedSlicesSpec, NoneTensorSpec, TensorArraySpec
from autoconv.config.device_spec import DeviceSpec
from autoconv.graph.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from autoconv.graph.dtypes import (
    bool_ as bool,
)
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.objects.variable_updates import (
    IndexedSlices,
    VariableAggregation,
    VariableSynchronization,
    variable_creator_scope,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions
from autoconv.runtime.support.shape import TensorShape, TensorSpec, TypeSpec
from autoconv.runtime.tensors.conversion import (
    constant,
    convert_to_tensor,
    python_number,
    register_tensor_conversion_function,
)
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_array import TensorArray
from autoconv.tracing import compile, function

if TYPE_CHECKING:  # each is loaded at its first use
    from autoconv import (
        clibrary,
        compat,
        data,
        debugging,
        distribute,
        experimental,
        image,
        io,
        lookup,
        quantization,
        ragged,
        saved_model,
        sets,
        signal,
        sparse,
        summary,
        train,
        xp,
    )
    from autoconv.data.optional import OptionalSpec

double, half = float64, float16
autodiff.ForwardAccumulator = ForwardAccumulator  # type: ignore[misc]  # its types stand in a .pyi file
autodiff.GradientTape = GradientTape  # type: ignore[attr-defined]

load_op_library = load_library
matrix_square_root = linalg.sqrtm

__all__ = [
    "AggregationMethod", "Assert", "CriticalSection", "DType", "DeviceSpec", "GradientTape", "Graph", "IndexedSlices",
    "IndexedSlicesSpec", "Module", "NoneTensorSpec", "OptionalSpec", "RaggedTensor", "RaggedTensorSpec", "SparseTensor",
    "SparseTensorSpec", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec", "TypeSpec",
    "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization", "abs", "acos", "acosh", "add",
    "add_n", "approx_top_k", "argmax", "argmin", "argsort", "as_dtype", "as_string", "asin", "asinh", "assert_equal",
    "assert_greater", "assert_less", "assert_rank", "atan", "atan2", "atanh", "autodiff", "autograph", "batch_to_space",
    "bfloat16", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape",
    "broadcast_to", "case", "cast", "ceil", "clibrary", "clip_by_global_norm", "clip_by_norm", "clip_by_value",
    "compat", "compile", "complex", "complex128", "complex64", "concat", "cond", "config", "constant",
    "constant_initializer", "control_dependencies", "convert_to_tensor", "cos", "cosh", "cumsum", "custom_gradient",
    "data", "debugging", "device", "distribute", "divide", "double", "dtypes", "dynamic_partition", "dynamic_stitch",
    "edit_distance", "eig", "eigvals", "einsum", "ensure_shape", "equal", "errors", "executing_eagerly", "exp",
    "expand_dims", "experimental", "extract_volume_patches", "eye", "fill", "fingerprint", "float16", "float32",
    "float64", "floor", "floordiv", "foldl", "foldr", "function", "gather", "gather_nd", "get_current_name_scope",
    "get_logger", "get_static_value", "global_norm", "grad", "grad_pass_through", "gradients", "greater",
    "greater_equal", "group", "guarantee_const", "half", "hessian", "hessians", "histogram_fixed_width",
    "histogram_fixed_width_bins", "identity", "identity_n", "imag", "image", "init_scope", "inside_function", "int16",
    "int32", "int64", "int8", "io", "is_symbolic_tensor", "is_tensor", "jacobian", "jvp", "less", "less_equal",
    "linalg", "linspace", "load_library", "load_op_library", "log", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lookup", "map_fn", "math", "matmul", "matrix_square_root", "maximum", "meshgrid", "minimum",
    "multiply", "name_scope", "negative", "nest", "newaxis", "nn", "no_gradient", "no_op", "norm", "not_equal", "numpy",
    "numpy_function", "one_hot", "ones", "ones_initializer", "ones_like", "pad", "parallel_stack", "pow", "print",
    "py_function", "python_number", "qint16", "qint32", "qint8", "quantization", "quint16", "quint8", "ragged",
    "random", "random_normal_initializer", "random_uniform_initializer", "range", "rank", "real", "realdiv",
    "recompute_grad", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min",
    "reduce_prod", "reduce_sum", "register_tensor_conversion_function", "repeat", "required_space_to_batch_paddings",
    "reshape", "resource", "reverse", "reverse_sequence", "roll", "round", "saturate_cast", "saved_model", "scalar_mul",
    "scan", "scatter_nd", "searchsorted", "sequence_mask", "sets", "shape", "shape_n", "sigmoid", "sign", "signal",
    "sin", "sinh", "size", "slice", "sort", "space_to_batch", "sparse", "split", "sqrt", "square", "squeeze", "stack",
    "stop_gradient", "strided_slice", "string", "strings", "subtract", "summary", "switch_case", "tan", "tanh",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensordot", "tile", "timestamp", "train", "transpose", "truediv", "truncatediv",
    "truncatemod", "tuple", "type_spec_from_value", "types", "uint16", "uint32", "uint64", "uint8", "unique",
    "unique_with_counts", "unravel_index", "unstack", "value_and_grad", "variable_creator_scope", "variant",
    "vectorized_map", "vjp", "where", "while_loop", "xp", "zeros", "zeros_initializer", "zeros_like",
]  # fmt: skip

_wrap_public_functions(globals())
