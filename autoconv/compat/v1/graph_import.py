"""Import of GraphDefs: graphs that TensorFlow has written, such as frozen models, as ops of the default graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv import math, nn
from autoconv.api.matrices import linalg
from autoconv.api.scopes import name_scope
from autoconv.api.tensors import arithmetic, casts, constants, gather, indexing, reductions, shaping
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


def import_graph_def(
    graph_def: Any, input_map: Mapping[str, Any] | None = None, return_elements: Sequence[str] | None = None,
    name: str | None = None, op_dict: Any = None, producer_op_list: Any = None,
) -> list[Any] | None:  # fmt: skip
    """Record the nodes of a GraphDef (a message or its bytes) in the default graph.

    Tensors are named under the scope `name` ("import"); an empty name keeps their names. `input_map` gives tensors in
    place of those of a name in the GraphDef. Return the tensors and operations of `return_elements`. Raises ValueError
    for an op that has no counterpart here, and for a name that the GraphDef lacks.

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
    with name_scope(f"{prefix}/" if prefix else ""):
        for node in message.node:
            importer.record_node(node.name)
    imported = get_default_graph().attachments.setdefault("imported", {})
    scope = f"{prefix}/" if prefix else ""
    for node_name, outputs in importer.outputs.items():
        imported.update({f"{scope}{node_name}:{index}": tensor for index, tensor in enumerate(outputs)})
    return None if return_elements is None else [importer.find_element(element) for element in return_elements]


class _Importer:
    def __init__(self, message: Any, tensors: dict[str, Any]) -> None:
        self.nodes = {node.name: node for node in message.node}
        self.tensors = {_full_tensor_name(name): tensor for name, tensor in tensors.items()}
        self.outputs: dict[str, list[Any]] = {}
        self._active: set[str] = set()

    def find_element(self, name: str) -> Any:
        if name.partition(":")[0] not in self.nodes:
            raise ValueError(f"Requested return_element {name!r} not found in graph_def.")
        return self.find_tensor(name) if ":" in name else self.record_node(name)[0].op

    def find_tensor(self, reference: str) -> Any:
        full = _full_tensor_name(reference)
        if full in self.tensors:
            return self.tensors[full]
        name, _, index = full.partition(":")
        return self.record_node(name)[int(index)]

    def record_node(self, name: str) -> list[Any]:
        """Record a node after its inputs, in whatever order the nodes are listed; return its outputs."""
        if name in self.outputs:
            return self.outputs[name]
        node = self.nodes.get(name)
        if node is None:
            raise ValueError(f"graph_def has no node {name!r}, which is an input of another")
        if name in self._active:
            raise ValueError(f"graph_def has a cycle through {name!r}: loops of version 1 cannot be imported")
        build = _OPS.get(node.op)
        if build is None:
            raise ValueError(f"No op named {node.op} can be imported (node {name!r})")
        self._active.add(name)
        inputs = [self.find_tensor(reference) for reference in node.input if not reference.startswith("^")]
        outputs = build(_Attributes(node), *inputs)
        self._active.discard(name)
        self.outputs[name] = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        return self.outputs[name]


class _Attributes:
    """The attributes of a node as Python values."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.name = node.name

    def value(self, name: str, default: Any = None) -> Any:
        if name not in self.node.attr:
            return default
        attribute = self.node.attr[name]
        kind = attribute.WhichOneof("value")
        value = getattr(attribute, kind)
        match kind:
            case "type":
                return as_dtype(value)
            case "s":
                return value.decode()
            case "list":
                return list(value.i) or [text.decode() for text in value.s]
            case "shape":
                return None if value.unknown_rank else [None if d.size < 0 else d.size for d in value.dim]
            case "tensor":
                with recording(None):
                    parsed: Any = parse_tensor(value.SerializeToString(), as_dtype(value.dtype))
                return parsed.numpy()
        return value


def _constant(n: _Attributes) -> Any:
    return constant(n.value("value"), n.value("dtype"), name=n.name)


def _constant_input(tensor: Any, description: str) -> Any:
    """Return an input that has to be a constant, such as an axis."""
    static = static_value(tensor)
    if static is None:
        raise ValueError(f"{description} has to be a constant to import it")
    return static.tolist()


def _reduction_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    def build(n: _Attributes, x: Any, axes: Any) -> Any:
        return function(x, _constant_input(axes, f"the axis of {n.name!r}"), bool(n.value("keep_dims", False)), n.name)

    return build


def _batch_norm(n: _Attributes, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> list[Any]:
    if n.value("is_training", True):
        mean, variance = nn.moments(x, [0, 1, 2])
    normalised = nn.batch_normalization(x, mean, variance, offset, scale, n.value("epsilon", 1e-4))
    return [normalised, mean, variance, mean, variance]


def _strided_slice(n: _Attributes, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {f"{name}_mask": n.value(f"{name}_mask", 0) for name in names}
    return indexing.strided_slice(x, begin, end, strides, **masks)


def _conv2d(n: _Attributes, x: Any, kernel: Any) -> Any:
    form, gaps = n.value("data_format", "NHWC"), n.value("dilations", [1, 1, 1, 1])
    return nn.conv2d(x, kernel, n.value("strides"), n.value("padding"), form, gaps, n.name)


def _depthwise_conv2d(n: _Attributes, x: Any, kernel: Any) -> Any:
    return nn.depthwise_conv2d(x, kernel, n.value("strides"), n.value("padding"), n.value("data_format", "NHWC"))


def _pool_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    def build(n: _Attributes, x: Any) -> Any:
        return function(
            x, n.value("ksize"), n.value("strides"), n.value("padding"), n.value("data_format", "NHWC"), n.name
        )

    return build


def _matmul(n: _Attributes, a: Any, b: Any) -> Any:
    first, second = ("transpose_a", "transpose_b") if "transpose_a" in n.node.attr else ("adj_x", "adj_y")
    return linalg.matmul(a, b, transpose_a=bool(n.value(first, False)), transpose_b=bool(n.value(second, False)))


def _arg_extreme_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    def build(n: _Attributes, x: Any, axis: Any) -> Any:
        return function(x, _constant_input(axis, f"the axis of {n.name!r}"), n.value("output_type", int64), n.name)

    return build


def _function_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda n, *inputs: function(*inputs, name=n.name)


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
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
    "Identity": casts.identity, "StopGradient": casts.stop_gradient, "Select": gather.where, "SelectV2": gather.where,
    "Reshape": shaping.reshape, "Tile": shaping.tile, "Fill": constants.fill, "ZerosLike": constants.zeros_like,
    "OnesLike": constants.ones_like, "Reciprocal": math.reciprocal, "FloorMod": math.floormod,
}  # fmt: skip

_OPS: dict[str, Callable[..., Any]] = {
    **{op: _function_rule(function) for op, function in _ELEMENTWISE.items()},
    "Const": _constant,
    "Placeholder": lambda n: placeholder(n.value("dtype"), n.value("shape"), n.name),
    "PlaceholderWithDefault": lambda n, x: placeholder_with_default(x, n.value("shape"), n.name),
    "NoOp": lambda n: group(name=n.name),
    "MatMul": _matmul, "BatchMatMul": _matmul, "BatchMatMulV2": _matmul,
    "BiasAdd": lambda n, x, b: nn.bias_add(x, b, n.value("data_format", "NHWC"), n.name),
    "Conv2D": _conv2d, "DepthwiseConv2dNative": _depthwise_conv2d,
    "MaxPool": _pool_rule(nn.max_pool), "AvgPool": _pool_rule(nn.avg_pool),
    "FusedBatchNorm": _batch_norm, "FusedBatchNormV2": _batch_norm, "FusedBatchNormV3": _batch_norm,
    "LeakyRelu": lambda n, x: nn.leaky_relu(x, n.value("alpha", 0.2), n.name),
    "Cast": lambda n, x: casts.cast(x, n.value("DstT"), n.name),
    "Shape": lambda n, x: shaping.shape(x, n.value("out_type", int32), n.name),
    "Rank": lambda n, x: shaping.rank(x, n.name),
    "Size": lambda n, x: shaping.size(x, n.value("out_type", int32), n.name),
    "Squeeze": lambda n, x: shaping.squeeze(x, n.value("squeeze_dims") or None, n.name),
    "ExpandDims": lambda n, x, axis: shaping.expand_dims(x, _constant_input(axis, f"the axis of {n.name!r}"), n.name),
    "ConcatV2": lambda n, *x: shaping.concat(list(x[:-1]), _constant_input(x[-1], f"the axis of {n.name!r}"), n.name),
    "Pack": lambda n, *x: shaping.stack(list(x), n.value("axis", 0), n.name),
    "Unpack": lambda n, x: shaping.unstack(x, n.value("num"), n.value("axis", 0), n.name),
    "Split": lambda n, axis, x: shaping.split(
        x, n.value("num_split"), _constant_input(axis, f"the axis of {n.name!r}")
    ),
    "Transpose": lambda n, x,
    perm: shaping.transpose(x, _constant_input(perm, f"the permutation of {n.name!r}"), name=n.name),
    "Pad": lambda n, x, paddings: shaping.pad(x, paddings, name=n.name),
    "PadV2": lambda n, x, paddings, value: shaping.pad(x, paddings, constant_values=value, name=n.name),
    "StridedSlice": _strided_slice,
    "Slice": lambda n, x, begin, size: indexing.slice(x, begin, size, n.name),
    "Gather": lambda n, x, i: gather.gather(x, i, name=n.name),
    "GatherV2": lambda n, x, i, axis: gather.gather(x, i, axis=_constant_input(axis, f"the axis of {n.name!r}")),
    "Range": lambda n, start, limit, delta: constants.range(start, limit, delta, name=n.name),
    "ArgMax": _arg_extreme_rule(math.argmax), "ArgMin": _arg_extreme_rule(math.argmin),
    "Sum": _reduction_rule(reductions.reduce_sum), "Mean": _reduction_rule(reductions.reduce_mean),
    "Max": _reduction_rule(reductions.reduce_max), "Min": _reduction_rule(reductions.reduce_min),
    "Prod": _reduction_rule(reductions.reduce_prod), "All": _reduction_rule(reductions.reduce_all),
    "Any": _reduction_rule(reductions.reduce_any),
}  # fmt: skip


def _parse_graph_def(graph_def: Any) -> Any:
    if hasattr(graph_def, "node"):
        return graph_def
    result = graph_messages().GraphDef()
    try:
        result.ParseFromString(bytes(graph_def))
    except Exception as error:
        raise InvalidArgumentError(f"these bytes are no GraphDef: {error}") from None
    return result


def _full_tensor_name(name: str) -> str:
    return name if ":" in name else f"{name}:0"


__all__ = ["import_graph_def"]
