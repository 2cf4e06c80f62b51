"""Common mistakes, and the classes of the errors that programs catch."""

# %%
import numpy as np

import autoconv as tf


def kinds(mistake):
    """Return which classes of errors catch the mistake."""
    try:
        mistake()
    except Exception as error:
        return [kind.__name__ for kind in KINDS if isinstance(error, kind)][:1] or [type(error).__name__]
    return []


KINDS = (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError, AttributeError)
matrix, row = tf.ones([2, 3]), tf.ones([3])
print(kinds(lambda: tf.matmul(matrix, matrix)), kinds(lambda: tf.matmul(row, row)))
print(kinds(lambda: matrix + tf.ones([2, 4])), kinds(lambda: matrix + tf.ones([2, 3], tf.float64)))
print(kinds(lambda: tf.concat([matrix, tf.ones([3, 4])], 0)), kinds(lambda: tf.stack([row, tf.ones([2])])))
print(kinds(lambda: tf.reshape(matrix, [4])), kinds(lambda: tf.reshape(matrix, [-1, -1])))

# %%
print(kinds(lambda: tf.gather(row, [5])), kinds(lambda: tf.gather(row, [0], axis=2)))
print(kinds(lambda: tf.einsum("ij,jk->ik", matrix, matrix)), kinds(lambda: tf.split(tf.ones([5]), 2)))
print(kinds(lambda: tf.reduce_sum(matrix, axis=3)), kinds(lambda: tf.expand_dims(row, 5)))
print(kinds(lambda: tf.tile(matrix, [2])), kinds(lambda: tf.pad(matrix, [[1, 1]])))

# %% kernels and dtypes
print(kinds(lambda: tf.math.lgamma(tf.ones([1], tf.bfloat16))), kinds(lambda: tf.sqrt(tf.constant([4]))))
print(kinds(lambda: tf.matmul(tf.ones([2, 2], tf.uint8), tf.ones([2, 2], tf.uint8))))
print(kinds(lambda: tf.linalg.svd(tf.ones([2, 2], tf.float16))), kinds(lambda: tf.linalg.logm(tf.ones([2, 2]))))
print(kinds(lambda: tf.add(1, tf.ones([1], tf.float64))), kinds(lambda: tf.cast("1.0", tf.float32)))

# %% values that are wrong for a parameter
for mistake in (
    lambda: tf.one_hot([1], 1.0),
    lambda: tf.complex(row, tf.ones([3], tf.float64)),
    lambda: tf.constant(tf.constant([1]), tf.float32),
    lambda: tf.math.cumulative_logsumexp(row, exclusive=1),
    lambda: tf.strings.unicode_decode("a", 1),
):
    try:
        print("accepted", mistake())
    except TypeError:
        print("TypeError")

# %% shapes of images, lists of tensors
for mistake in (
    lambda: tf.image.flip_up_down(matrix),
    lambda: tf.image.flip_left_right(tf.ones([2, 2, 0])),
    lambda: tf.shape_n(np.ones([2, 2])),
    lambda: tf.constant([[1, 2], [3]]),
    lambda: tf.constant(None),
):
    try:
        print("accepted", mistake())
    except ValueError:
        print("ValueError")

# %% the lower triangle is that of a symmetric matrix
print(tf.linalg.cholesky([[4.0, 9.0], [2.0, 5.0]]).numpy())
print(tf.image.adjust_hue(tf.constant([[[2, 2, 3], [3, 0, 0]]]), 0.2).numpy())
