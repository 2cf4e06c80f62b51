import numpy as np

import autoconv as tf

# %% scalars, vectors, matrices
scalar = tf.constant(4)
vector = tf.constant([2.0, 3.0, 4.0])
matrix = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16)
print(scalar)
print(vector)
print(matrix)
# %%
cube = tf.constant([[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], [[10, 11, 12, 13, 14], [15, 16, 17, 18, 19]]])
print(cube)
print(repr(cube))
# %%
print(np.array(matrix), matrix.numpy())
# %%
a = tf.constant([[1, 2], [3, 4]])
b = tf.ones([2, 2], dtype=tf.int32)
print(tf.add(a, b), "\n")
print(tf.multiply(a, b), "\n")
print(tf.matmul(a, b), "\n")
print(a + b, a * b, a @ b)
# %%
c = tf.constant([[4.0, 5.0], [10.0, 1.0]])
print(tf.reduce_max(c), tf.math.argmax(c), tf.nn.softmax(c))
# %%
print(tf.convert_to_tensor([1, 2, 3]), tf.reduce_max([1, 2, 3]), tf.reduce_max(np.array([1, 2, 3])))
# %%
rank_4 = tf.zeros([3, 2, 4, 5])
print("Type of every element:", rank_4.dtype)
print("Number of axes:", rank_4.ndim)
print("Shape of tensor:", rank_4.shape)
print("Elements along axis 0 of tensor:", rank_4.shape[0])
print("Elements along the last axis of tensor:", rank_4.shape[-1])
print("Total number of elements (3*2*4*5): ", tf.size(rank_4).numpy())
print(tf.rank(rank_4), tf.shape(rank_4))
# %%
row = tf.constant([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
print("First:", row[0].numpy(), "Last:", row[-1].numpy(), "Everything:", row[:].numpy())
print("Before 4:", row[:4].numpy(), "Every other:", row[::2].numpy(), "Reversed:", row[::-1].numpy())
# %%
print(matrix[1, 1].numpy(), matrix[1, :].numpy(), matrix[:, 1].numpy(), matrix[1:, :].numpy())
print(cube[:, :, 4])
# %%
x = tf.constant([[1], [2], [3]])
print(x.shape, x.shape.as_list())
print(tf.reshape(x, [1, 3]).shape, tf.reshape(cube, [-1]))
# %%
try:
    tf.reshape(cube, [7, -1])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
# %%
f64 = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
f16 = tf.cast(f64, dtype=tf.float16)
print(f16, tf.cast(f16, dtype=tf.uint8))
# %%
x, y, z = tf.constant([1, 2, 3]), tf.constant(2), tf.constant([2, 2, 2])
print(tf.multiply(x, 2), x * y, x * z)
# %%
x, y = tf.reshape(x, [3, 1]), tf.range(1, 5)
print(x, "\n", y, "\n", tf.multiply(x, y))
print(tf.broadcast_to(tf.constant([1, 2, 3]), [3, 3]))
# %%
ragged = tf.ragged.constant([[0, 1, 2, 3], [4, 5], [6, 7, 8], [9]])
print(ragged, ragged.shape)
# %%
try:
    tf.constant([[0, 1, 2, 3], [4, 5], [6, 7, 8], [9]])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
# %%
text = tf.constant("Gray wolf")
texts = tf.constant(["Gray wolf", "Quick brown fox", "Lazy dog"])
print(text, texts)
print(tf.strings.split(text, sep=" "))
print(tf.strings.split(texts))
# %%
print(tf.strings.to_number(tf.strings.split(tf.constant("1 10 100"), " ")))
print(tf.strings.bytes_split(tf.constant("Duck")), tf.io.decode_raw(tf.constant("Duck"), tf.uint8))
print(tf.strings.unicode_decode(tf.constant("アヒル"), "UTF-8"))
# %%
sparse = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
print(sparse, "\n")
print(tf.sparse.to_dense(sparse))
# %% slices
t1 = tf.constant([0, 1, 2, 3, 4, 5, 6, 7])
print(tf.slice(t1, begin=[1], size=[3]), t1[-3:], tf.gather(t1, indices=[0, 3, 6]))
# %%
t5 = tf.reshape(tf.range(18), [2, 3, 3])
print(tf.gather_nd(t5, indices=[[0, 0, 0], [1, 2, 1]]), tf.slice(t5, begin=[1, 1, 0], size=[1, 1, 2]))
# %%
t6 = tf.constant([10])
indices = tf.constant([[1], [3], [5], [7], [9]])
data = tf.constant([2, 4, 6, 8, 10])
print(tf.scatter_nd(indices=indices, updates=data, shape=t6))
print(tf.tensor_scatter_nd_add(tf.zeros([10], tf.int32), indices, data))
print(tf.tensor_scatter_nd_max(tf.fill([10], 5), indices, data))
# %%
print(tf.eye(2), tf.linspace(0.0, 1.0, 5), tf.one_hot([0, 2], 3))
print(tf.concat([a, b], axis=1), tf.stack([a, b]), tf.unstack(a), tf.split(row, 2))
# %%
print(tf.TensorShape([None, 3]), tf.TensorSpec([None], tf.float32), tf.float32, tf.as_dtype("int64"))
print(tf.where(tf.constant([1, 2, 3]) > 1), tf.transpose(a), tf.squeeze([[1]]), tf.expand_dims([1], 0))
