"""Import of GraphDefs: graphs that TensorFlow has written, such as frozen models, as ops of the default graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv import math, nn
from autoconv.api.matrices import linalg
from autoconv.api.scopes import name_scope
from autoconv.api.tensors import arithmetic, casts, constants, gather, indexing, reductions, shaping
from autoconv.compat.v1 import maths
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.operations import group
from autoconv.compat.v1.placeholders import placeholder, placeholder_with_default
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, int32, int64
from autoconv.io.tensor_records import parse_tensor
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.static_values import static_value
from autoconv.summary.protos import graph_messages
from autoconv.tensorflow import raw_ops


def import_graph_def(
    graph_def: Any, input_map: Mapping[str, Any] | None = None, return_elements: Sequence[str] | None = None,
    name: str | None = None, op_dict: Any = None, producer_op_list: Any = None,
) -> list[Any] | None:  # fmt: skip
    """Record the nodes of a GraphDef (a message or its bytes) in the default graph.

    Tensors are named under the scope `name`, by default "import"; an empty name keeps their names. `input_map` has
    tensors that replace tensors of the GraphDef, by the names of the latter. Return the tensors and operations named in
    `return_elements`. Raises ValueError for an op that has no counterpart here, and for a name that the GraphDef lacks.

    >>> with autoconv.Graph().as_default() as first:
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [2], name="x")
    ...     y = autoconv.math.tanh(x, name="y")
    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     (again,) = autoconv.compat.v1.import_graph_def(
    ...         first.as_graph_def(), {"x": autoconv.zeros([2])}, ["y:0"])
    ...     session.run(again)
    array([0., 0.], dtype=float32)
    """
    message = _parse_graph_def(graph_def)
    importer = _Importer(message, dict(input_map or {}))
    prefix = "import" if name is None else name
    scope = f"{prefix}/" if prefix else ""
    with name_scope(scope):
        for node in message.node:
            importer.record_node(node.name)
    imported_tensors = get_default_graph().attachments.setdefault("imported", {})
    for node_name, outputs in importer.outputs.items():
        imported_tensors.update({f"{scope}{node_name}:{index}": tensor for index, tensor in enumerate(outputs)})
    return None if return_elements is None else [importer.find_element(element) for element in return_elements]


class _Importer:
    """The recording of a GraphDef's nodes in the default graph, each after its inputs."""

    def __init__(self, message: Any, replacements: dict[str, Any]) -> None:
        self.nodes = {node.name: node for node in message.node}
        self.replacements = {_full_tensor_name(name): tensor for name, tensor in replacements.items()}
        self.outputs: dict[str, list[Any]] = {}
        self._nodes_in_progress: set[str] = set()

    def find_element(self, name: str) -> Any:
        """Return the tensor of a name with a colon, the operation of any other name."""
        if name.partition(":")[0] not in self.nodes:
            raise ValueError(f"Requested return_element {name!r} not found in graph_def.")
        return self.find_tensor(name) if ":" in name else self.record_node(name)[0].op

    def find_tensor(self, reference: str) -> Any:
        """Return the tensor that an input of a node refers to, or its replacement."""
        full_name = _full_tensor_name(reference)
        if full_name in self.replacements:
            return self.replacements[full_name]
        name, _, index = full_name.partition(":")
        return self.record_node(name)[int(index)]

    def record_node(self, name: str) -> list[Any]:
        """Record a node after its inputs, in whatever order the nodes are listed; return its outputs."""
        if name in self.outputs:
            return self.outputs[name]
        node = self.nodes.get(name)
        if node is None:
            raise ValueError(f"graph_def has no node {name!r}, which is an input of another")
        if name in self._nodes_in_progress:
            raise ValueError(f"graph_def has a cycle through {name!r}: loops of version 1 cannot be imported")
        rule = _RULES.get(node.op)
        if rule is None:
            raise ValueError(f"No op named {node.op} can be imported (node {name!r})")
        self._nodes_in_progress.add(name)
        inputs = [self.find_tensor(reference) for reference in node.input if not reference.startswith("^")]
        outputs = rule(_ImportedNode(node), *inputs)
        self._nodes_in_progress.discard(name)
        self.outputs[name] = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        return self.outputs[name]


class _ImportedNode:
    """A node of the GraphDef, with its attributes as Python values."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self.name = message.name

    def value(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute; tensors are returned as arrays, shapes as lists."""
        if name not in self.message.attr:
            return default
        attribute = self.message.attr[name]
        field = attribute.WhichOneof("value")
        value = getattr(attribute, field)
        match field:
            case "type":
                return as_dtype(value)
            case "s":
                return value.decode()
            case "list":
                return list(value.i) or [text.decode() for text in value.s]
            case "shape":
                return None if value.unknown_rank else [None if dim.size < 0 else dim.size for dim in value.dim]
            case "tensor":
                with recording(region=None):
                    tensor: Any = parse_tensor(value.SerializeToString(), as_dtype(value.dtype))
                return tensor.numpy()
        return value

    def values(self, *names: str) -> dict[str, Any]:
        """Return by name the values of those attributes that the node has."""
        return {name: self.value(name) for name in names if name in self.message.attr}


def _constant(node: _ImportedNode) -> Any:
    """Record a `Const`."""
    return constant(node.value("value"), node.value("dtype"), name=node.name)


def _constant_input(tensor: Any, description: str) -> Any:
    """Return the value of an input that has to be a constant; `description` names it in the error."""
    constant_value = static_value(tensor)
    if constant_value is None:
        raise ValueError(f"{description} has to be a constant to import it")
    return constant_value.tolist()


def _constant_axis(node: _ImportedNode, tensor: Any) -> Any:
    """Return an axis, which has to be a constant."""
    return _constant_input(tensor, f"the axis of {node.name!r}")


def _transpose(node: _ImportedNode, x: Any, permutation: Any) -> Any:
    """Record a `Transpose`, whose permutation is its second input."""
    return shaping.transpose(x, _constant_input(permutation, f"the permutation of {node.name!r}"), name=node.name)


def _reduction_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule of a reduction, which `function` computes; its axes are its second input."""

    def build(node: _ImportedNode, x: Any, axes: Any) -> Any:
        return function(x, _constant_axis(node, axes), bool(node.value("keep_dims", False)), node.name)

    return build


def _batch_norm(node: _ImportedNode, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> list[Any]:
    """Record a batch normalisation by the last version of the op."""
    attributes = node.values("epsilon", "exponential_avg_factor", "data_format", "is_training")
    return list(raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=mean, variance=variance, **attributes))


def _strided_slice(node: _ImportedNode, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    """Record a `StridedSlice`, whose masks are attributes."""
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {f"{name}_mask": node.value(f"{name}_mask", 0) for name in names}
    return indexing.strided_slice(x, begin, end, strides, **masks)


def _conv2d(node: _ImportedNode, x: Any, kernel: Any) -> Any:
    """Record a `Conv2D`."""
    data_format, dilations = node.value("data_format", "NHWC"), node.value("dilations", [1, 1, 1, 1])
    return nn.conv2d(x, kernel, node.value("strides"), node.value("padding"), data_format, dilations, node.name)


def _depthwise_conv2d(node: _ImportedNode, x: Any, kernel: Any) -> Any:
    """Record a `DepthwiseConv2dNative`."""
    attributes = node.values("strides", "padding", "explicit_paddings", "data_format", "dilations")
    return raw_ops.DepthwiseConv2dNative(input=x, filter=kernel, **attributes)


def _pool_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule of a pooling op, which `function` computes."""

    def build(node: _ImportedNode, x: Any) -> Any:
        data_format = node.value("data_format", "NHWC")
        return function(x, node.value("ksize"), node.value("strides"), node.value("padding"), data_format, node.name)

    return build


def _matmul(node: _ImportedNode, a: Any, b: Any) -> Any:
    """Record a product of matrices: `MatMul` may transpose its inputs, `BatchMatMul` conjugates them, too."""
    transpose_a, transpose_b, adjoint_a, adjoint_b = (
        bool(node.value(name, False)) for name in ("transpose_a", "transpose_b", "adj_x", "adj_y")
    )
    return linalg.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)


def _arg_extreme_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule of `ArgMax` or `ArgMin`, whose axis is its second input."""

    def build(node: _ImportedNode, x: Any, axis: Any) -> Any:
        return function(x, _constant_axis(node, axis), node.value("output_type", int64), node.name)

    return build


def _function_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule of an op whose inputs are the arguments of a function."""
    return lambda node, *inputs: function(*inputs, name=node.name)


# By the name of TensorFlow's op: functions whose arguments are the inputs of the op.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": math.abs, "Add": arithmetic.add, "AddV2": arithmetic.add, "Sub": arithmetic.subtract,
    "Mul": arithmetic.multiply, "RealDiv": arithmetic.divide, "FloorDiv": arithmetic.floordiv,
    "Neg": arithmetic.negative, "Pow": arithmetic.pow, "Exp": math.exp, "Log": math.log, "Log1p": math.log1p,
    "Sqrt": math.sqrt, "Rsqrt": math.rsqrt, "Square": math.square, "SquaredDifference": math.squared_difference,
    "Tanh": math.tanh,
    "Sigmoid": math.sigmoid, "Relu": nn.relu, "Relu6": nn.relu6, "Elu": nn.elu, "Selu": nn.selu,
    "Softplus": math.softplus, "Softsign": math.softsign, "Erf": math.erf, "Floor": math.floor, "Ceil": math.ceil,
    "Round": math.round, "Sign": math.sign, "Sin": math.sin, "Cos": math.cos, "Maximum": math.maximum,
    "Minimum": math.minimum, "Greater": math.greater, "GreaterEqual": math.greater_equal, "Less": math.less,
    "LessEqual": math.less_equal, "Equal": math.equal, "NotEqual": math.not_equal, "LogicalAnd": math.logical_and,
    "LogicalOr": math.logical_or, "LogicalNot": math.logical_not, "Softmax": nn.softmax, "LogSoftmax": nn.log_softmax,
    "Identity": casts.identity, "StopGradient": casts.stop_gradient, "Select": maths.where, "SelectV2": gather.where,
    "Reshape": shaping.reshape, "Tile": shaping.tile, "Fill": constants.fill, "ZerosLike": constants.zeros_like,
    "OnesLike": constants.ones_like, "Reciprocal": math.reciprocal, "FloorMod": math.floormod,
}  # fmt: skip

# By the name of TensorFlow's op: rules (node, *inputs) -> outputs, which record the node.
_RULES: dict[str, Callable[..., Any]] = {
    **{op: _function_rule(function) for op, function in _FUNCTIONS.items()},
    "Const": _constant,
    "Placeholder": lambda node: placeholder(node.value("dtype"), node.value("shape"), node.name),
    "PlaceholderWithDefault": lambda node, x: placeholder_with_default(x, node.value("shape"), node.name),
    "NoOp": lambda node: group(name=node.name),
    "MatMul": _matmul, "BatchMatMul": _matmul, "BatchMatMulV2": _matmul,
    "BiasAdd": lambda node, x, b: nn.bias_add(x, b, node.value("data_format", "NHWC"), node.name),
    "Conv2D": _conv2d, "DepthwiseConv2dNative": _depthwise_conv2d,
    "MaxPool": _pool_rule(nn.max_pool), "AvgPool": _pool_rule(nn.avg_pool),
    "FusedBatchNorm": _batch_norm, "FusedBatchNormV2": _batch_norm, "FusedBatchNormV3": _batch_norm,
    "LeakyRelu": lambda node, x: nn.leaky_relu(x, node.value("alpha", 0.2), node.name),
    "Cast": lambda node, x: casts.cast(x, node.value("DstT"), node.name),
    "Shape": lambda node, x: shaping.shape(x, node.value("out_type", int32), node.name),
    "Rank": lambda node, x: shaping.rank(x, node.name),
    "Size": lambda node, x: shaping.size(x, node.value("out_type", int32), node.name),
    "Squeeze": lambda node, x: shaping.squeeze(x, node.value("squeeze_dims") or None, node.name),
    "ExpandDims": lambda node, x, axis: shaping.expand_dims(x, _constant_axis(node, axis), node.name),
    "ConcatV2": lambda node, *x: shaping.concat(list(x[:-1]), _constant_axis(node, x[-1]), node.name),
    "Pack": lambda node, *x: shaping.stack(list(x), node.value("axis", 0), node.name),
    "Unpack": lambda node, x: shaping.unstack(x, node.value("num"), node.value("axis", 0), node.name),
    "Split": lambda node, axis, x: shaping.split(x, node.value("num_split"), _constant_axis(node, axis)),
    "Transpose": _transpose,
    "Pad": lambda node, x, paddings: shaping.pad(x, paddings, name=node.name),
    "PadV2": lambda node, x, paddings, value: shaping.pad(x, paddings, constant_values=value, name=node.name),
    "StridedSlice": _strided_slice,
    "Slice": lambda node, x, begin, size: indexing.slice(x, begin, size, node.name),
    "Gather": lambda node, x, i: gather.gather(x, i, name=node.name),
    "GatherV2": lambda node, x, i, axis: gather.gather(
        x, i, axis=_constant_axis(node, axis), batch_dims=node.value("batch_dims", 0)
    ),
    "Range": lambda node, start, limit, delta: constants.range(start, limit, delta, name=node.name),
    "ArgMax": _arg_extreme_rule(math.argmax), "ArgMin": _arg_extreme_rule(math.argmin),
    "Sum": _reduction_rule(reductions.reduce_sum), "Mean": _reduction_rule(reductions.reduce_mean),
    "Max": _reduction_rule(reductions.reduce_max), "Min": _reduction_rule(reductions.reduce_min),
    "Prod": _reduction_rule(reductions.reduce_prod), "All": _reduction_rule(reductions.reduce_all),
    "Any": _reduction_rule(reductions.reduce_any),
}  # fmt: skip


def _parse_graph_def(graph_def: Any) -> Any:
    """Return the GraphDef that was serialised to bytes; a message is returned unchanged."""
    if hasattr(graph_def, "node"):
        return graph_def
    result = graph_messages().GraphDef()
    try:
        result.ParseFromString(bytes(graph_def))
    except Exception as error:
        raise InvalidArgumentError(f"these bytes are no GraphDef: {error}") from None
    return result


def _full_tensor_name(name: str) -> str:
    """Return the name of a tensor with its output index: `:0` is added if there is none."""
    return name if ":" in name else f"{name}:0"
