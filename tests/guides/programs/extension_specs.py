"""Specs of extension types that a program writes: in functions, loops, `map_fn` and datasets."""

# %%
import autoconv as tf


class Weighted(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    weights: tf.Tensor

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.weights = tf.TensorSpec(shape, tf.int32)

        def __repr__(self):
            return f"Weighted.Spec({self.shape}, {self.dtype})"

        shape = property(lambda self: self.values.shape)
        dtype = property(lambda self: self.values.dtype)

    shape = property(lambda self: self.values.shape)


x = Weighted([[1.0, 2.0], [3.0, 4.0]], [[1, 0], [2, 1]])
print(Weighted.Spec([3]), Weighted.Spec(None, tf.float64), x.shape)

# %%
print(tf.map_fn(lambda row: Weighted(row.values * 2.0, row.weights + 1), x))
print(tf.while_loop(lambda i, _: i < 3, lambda i, w: (i + 1, Weighted(w.values + 1.0, w.weights)), [0, x])[1].values)


# %%
def rows():
    for i in range(3):
        yield Weighted([1.0 * i, 2.0], [i, 0])


dataset = tf.data.Dataset.from_generator(rows, output_signature=Weighted.Spec([2])).batch(2)
for batch in dataset:
    print(batch.values.numpy().tolist(), batch.weights.numpy().tolist())
print(iter(dataset).next().weights)


# %%
@tf.function
def total(x: Weighted):
    return tf.reduce_sum(x.values * tf.cast(x.weights, x.values.dtype))


print(total.get_concrete_function(Weighted.Spec(None))(x))


# %%
class Box(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    sides: tf.Tensor

    def __init__(self, sides):
        self.sides = tf.convert_to_tensor(sides)
        self.shape = self.sides.shape[:-1]


boxes = Box([[1.0, 2.0], [3.0, 4.0]])
for box in tf.data.Dataset.from_tensor_slices(boxes):
    print(box.shape, box.sides.numpy())
print(tf.map_fn(lambda box: Box(box.sides * 2.0), boxes).shape)

# %%
shape = tf.experimental.DynamicRaggedShape.from_tensor(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1))
print(shape[:1], shape[:2], shape[:3], shape[:0])
