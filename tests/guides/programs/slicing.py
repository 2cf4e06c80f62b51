import numpy as np

import autoconv as tf

# %%
t1 = tf.constant([0, 1, 2, 3, 4, 5, 6, 7])
print(tf.slice(t1, begin=[1], size=[3]), t1[1:4], t1[-3:])
t2 = tf.constant([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]])
print(t2[:-1, 1:3])
t3 = tf.constant([[[1, 3, 5, 7], [9, 11, 13, 15]], [[17, 19, 21, 23], [25, 27, 29, 31]]])
print(tf.slice(t3, begin=[1, 1, 0], size=[1, 1, 2]))
# %%
print(tf.gather(t1, indices=[0, 3, 6]), t1[::3])
alphabet = tf.constant(list("abcdefghijklmnopqrstuvwxyz"))
print(tf.gather(alphabet, indices=[2, 0, 19, 18]))
t4 = tf.constant([[0, 5], [1, 6], [2, 7], [3, 8], [4, 9]])
print(tf.gather_nd(t4, indices=[[2], [3], [0]]))
t5 = np.reshape(np.arange(18), [2, 3, 3])
print(tf.gather_nd(t5, indices=[[0, 0, 0], [1, 2, 1]]))
print(tf.gather_nd(t5, indices=[[[0, 0], [0, 2]], [[1, 0], [1, 2]]]))
# %%
t6 = tf.constant([10])
indices = tf.constant([[1], [3], [5], [7], [9]])
data = tf.constant([2, 4, 6, 8, 10])
print(tf.scatter_nd(indices=indices, updates=data, shape=t6))
t7 = tf.gather_nd(t2, indices=[[2, 2], [3, 4]])
t8 = tf.scatter_nd(indices=[[0, 0], [1, 1]], updates=t7, shape=tf.constant([2, 2]))
print(t7, t8)
t9 = tf.SparseTensor(indices=[[0, 2], [2, 2], [3, 1]], values=[2, 3, 4], dense_shape=[4, 3])
print(t9, tf.sparse.to_dense(t9))
# %%
t11 = tf.constant([[2, 7, 0], [9, 0, 1], [0, 3, 8]])
t12 = tf.tensor_scatter_nd_add(t11, indices=[[0, 2], [1, 1], [2, 0]], updates=[6, 5, 4])
print(t12)
t13 = tf.tensor_scatter_nd_sub(
    t11, indices=[[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 2]], updates=[1, 6, 8, -1, 2, 7]
)
print(t13)
t14 = tf.constant([[-2, -7, 0], [-9, 0, 1], [0, -3, -8]])
print(tf.tensor_scatter_nd_min(t14, indices=[[0, 2], [1, 1], [2, 0]], updates=[-6, -5, -4]))
print(tf.tensor_scatter_nd_max(t14, indices=[[0, 2], [1, 1], [2, 0]], updates=[6, 5, 4]))
# %%
x = tf.reshape(tf.range(24), [2, 3, 4])
print(x[..., 0], x[:, tf.newaxis, 1], x[0, ::-1], x[tf.constant(1), :, -1], x[1][2][3], x[:, 1:, 2:4])
print(tf.strided_slice(x, [0, 0, 0], [2, 3, 4], [1, 2, 3]), tf.boolean_mask(x, x > 20), tf.split(x, [1, 2], axis=1)[1])
print(tf.unstack(x)[1], tf.roll(x, 1, 2)[0], tf.reverse(x, [2])[0], tf.where(x > 20), x[x > 21])
# %%
for bad in (lambda: x[2], lambda: x[0, 0, 0, 0], lambda: tf.gather(t1, [9]), lambda: tf.slice(t1, [6], [4])):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__)
print(tf.gather(x, [0, 2], axis=1, batch_dims=0)[0], tf.gather(x, [[0], [1]], axis=1, batch_dims=1))
print(
    tf.meshgrid([1, 2], [3, 4]),
    tf.tile([[1, 2]], [2, 2]),
    tf.repeat([1, 2], [2, 1]),
    tf.pad([[1]], [[1, 0], [0, 1]], constant_values=9),
)
