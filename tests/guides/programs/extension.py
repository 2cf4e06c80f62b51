from typing import Mapping, Tuple, Union  # noqa: UP035

import autoconv as tf


# %%
class TensorGraph(tf.experimental.ExtensionType):
    num_nodes: tf.Tensor
    edge_src: tf.Tensor
    edge_dst: tf.Tensor


class MaskedTensor(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def replace_mask(self, new_mask):
        self.values.shape.assert_is_compatible_with(new_mask.shape)
        return MaskedTensor(self.values, new_mask)

    def __repr__(self):
        return f"<MaskedTensor {self.values.numpy().tolist()} {self.mask.numpy().tolist()}>"

    def with_default(self, default):
        return tf.where(self.mask, self.values, default)

    def __add__(self, other):
        return MaskedTensor(self.values + other.values, self.mask & other.mask)


mt = MaskedTensor([1, 2, 3], [True, False, True])
print(mt, mt.values, mt.replace_mask(tf.constant([True, True, False])), mt.with_default(0), mt + mt)
print(TensorGraph(3, [0, 1], [1, 2]))
# %%
try:
    mt.values = 3
except AttributeError as e:
    print(type(e).__name__, e)
try:
    MaskedTensor([1, 2, 3])
except TypeError:
    print("TypeError")


class Network(tf.experimental.ExtensionType):
    shape: Tuple[int, ...]  # noqa: UP006
    weights: tf.Tensor
    bias: Union[tf.Tensor, None] = None  # noqa: UP007
    names: Mapping[str, tf.Tensor] = {}


n = Network([3, 4], weights=[[1.0]], names={"a": [2]})
print(n)
print(n == Network((3, 4), [[1.0]], names={"a": [2]}), n.names["a"], n.shape)
# %%
spec = MaskedTensor.Spec(values=tf.TensorSpec([None], tf.int32), mask=tf.TensorSpec([None], tf.bool))
print(spec)
print(spec.is_compatible_with(mt), tf.type_spec_from_value(mt))


@tf.function
def f(x):
    print("tracing")
    return MaskedTensor(x.values * 2, ~x.mask)


print(f(mt), f(MaskedTensor([4, 5, 6], [True, False, True])))
print(tf.function(lambda x: x.with_default(7), input_signature=[spec])(mt))


# %%
class BatchableMasked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)


ds = tf.data.Dataset.from_tensor_slices(BatchableMasked([[1, 2], [3, 4], [5, 6]], [[True, False]] * 3))
for x in ds:
    print(x.values.numpy(), x.mask.numpy())
for x in ds.batch(2):
    print(x.values.numpy().tolist(), x.shape)
print(
    tf.map_fn(
        lambda x: tf.reduce_sum(x.values),
        BatchableMasked([[1, 2], [3, 4]], [[True, False]] * 2),
        fn_output_signature=tf.int32,
    )
)


# %%
@tf.experimental.dispatch_for_api(tf.stack)
def masked_stack(values: list[BatchableMasked], axis=0):
    return BatchableMasked(tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis))


@tf.experimental.dispatch_for_unary_elementwise_apis(BatchableMasked)
def masked_unary(op, x):
    return BatchableMasked(op(x.values), x.mask)


@tf.experimental.dispatch_for_binary_elementwise_apis(BatchableMasked, BatchableMasked)
def masked_binary(op, x, y):
    return BatchableMasked(op(x.values, y.values), x.mask & y.mask)


b = BatchableMasked([1.0, 2.0], [True, False])
print(tf.stack([b, b]).values, tf.math.square(b).values, tf.add(b, b).values, tf.abs(tf.negative(b)).mask)
# %%
with tf.GradientTape() as tape:
    tape.watch(b.values)
    y = tf.reduce_sum(tf.where(b.mask, b.values**2, 0.0))
print(tape.gradient(y, b.values))


class Validated(tf.experimental.ExtensionType):
    x: tf.Tensor

    def __init__(self, x, scale=1.0):
        self.x = tf.convert_to_tensor(x) * scale

    def __validate__(self):
        assert self.x.shape.rank == 1


print(Validated([1.0, 2.0], 2.0), tf.nest.flatten(mt, expand_composites=True))
try:
    Validated(1.0)
except AssertionError:
    print("assertion")
print(tf.while_loop(lambda i, m: i < 3, lambda i, m: (i + 1, MaskedTensor(m.values + 1, m.mask)), (tf.constant(0), mt)))
print(tf.cond(tf.constant(True), lambda: mt, lambda: mt + mt))
