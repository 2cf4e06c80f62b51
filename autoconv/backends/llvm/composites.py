"""Ops that move, cut, or choose elements in terms of those that have loops: rules for `expand`."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.roles import is_scalar, sizes
from autoconv.graph.dtypes import uint64
from autoconv.graph.graph import Node
from autoconv.ops.builder import GraphBuilder

_WHOLE = ("slice", None, None, None)


def _shift(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """By one along an axis: what lies outside is zero."""
    (x,) = inputs
    shape = sizes(x.type)
    axis = node.attributes["axis"] % len(shape)
    if not shape[axis]:
        return x
    back = node.attributes.get("reverse", False)
    kept = ("slice", 1, None, None) if back else ("slice", None, -1, None)
    part = b.get_item(x, spec=(*[_WHOLE] * axis, kept))
    paddings = [(0, 0)] * len(shape)
    paddings[axis] = (0, 1) if back else (1, 0)
    return b.pad(part, paddings=tuple(paddings), mode="CONSTANT", constant_values=0)


def _unpad(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    if node.attributes.get("mode", "CONSTANT") != "CONSTANT" or len(inputs) > 1:
        return None
    (x,), pairs = inputs, node.attributes["paddings"]
    spec = [("slice", before, size - after, None) for size, (before, after) in zip(sizes(x.type), pairs, strict=True)]
    return b.get_item(x, spec=tuple(spec))


def _split(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """By the sizes that the results have."""
    if node.op.name == "split" and len(inputs) > 1:
        return None
    x, axis = inputs[0], node.attributes.get("axis", 0) % len(sizes(inputs[0].type))
    found, start = [], 0
    for value in node.results:
        stop = start + sizes(value.type)[axis]
        found.append(b.get_item(x, spec=(*[_WHOLE] * axis, ("slice", start, stop, None))))
        start = stop
    return tuple(found) if len(found) > 1 else found[0] if found else None


def _sum_tiles(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    x, parts = inputs[0], sizes(node.results[0].type)
    if 0 in parts or x.type.dtype.is_bool:
        return None
    shape: list[int] = []
    for whole, part in zip(sizes(x.type), parts, strict=True):
        shape += [whole // part, part]
    return b.reduce_sum(b.reshape(x, shape=tuple(shape)), axis=tuple(range(0, len(shape), 2)), keepdims=False)


def _shuffle(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Rows in the order of random numbers, one a row."""
    x = inputs[-1]
    if is_scalar(x.type):
        return None
    # The bits of its seed, or of its algorithm.
    how = {"shape": sizes(x.type)[:1], "dtype": uint64, **node.attributes}
    bits = b.random_bits(**how) if node.op.name == "random_shuffle" else b.stateless_random_bits(inputs[0], **how)
    return b.gather(x, b.argsort(bits, axis=0, descending=False), axis=0, batch_dims=0)


def _masked(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """A number written where a mask holds."""
    spec, rest = node.attributes["spec"], list(inputs)
    if spec != (("mask",),) or not is_scalar(rest[1].type):
        return None
    x, value, mask = rest
    missing = len(sizes(x.type)) - len(sizes(mask.type))
    mask = b.reshape(mask, shape=(*sizes(mask.type), *[1] * missing))
    return b.select(mask, value if value.type.dtype is x.type.dtype else b.cast(value, dtype=x.type.dtype), x)


def _clip(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Of integers: of -0.0 and 0.0, NumPy's clip keeps the one that is there."""
    x, low, high = inputs
    return b.minimum(b.maximum(x, low), high) if x.type.dtype.is_integer else None


def _matmul(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Of matrices that are another one the other way round: of those."""
    found, flips = list(inputs), [node.attributes.get(name, False) for name in ("transpose_a", "transpose_b")]
    for i, value in enumerate(inputs):
        if value.node is None or len(sizes(value.type)) != 2:
            continue
        turns = value.node.op.name == "matrix_transpose"
        if value.node.op.name == "transpose":
            perm = value.node.attributes.get("perm")
            turns = len(value.node.inputs) == 1 and (perm is None or [axis % 2 for axis in perm] == [1, 0])
        if turns:
            found[i], flips[i] = value.node.inputs[0], not flips[i]
    return None if found == list(inputs) else b.matmul(*found, transpose_a=flips[0], transpose_b=flips[1])


COMPOSITES: dict[str, Any] = {
    "shift": _shift, "unpad": _unpad, "split": _split, "split_like": _split, "sum_tiles": _sum_tiles,
    "stateless_shuffle": _shuffle, "random_shuffle": _shuffle, "set_item": _masked,
    "numpy_clip": _clip, "matmul": _matmul,
}  # fmt: skip
