import autoconv as tf

# %%
st1 = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[10, 20], dense_shape=[3, 10])
print(st1)


# %%
def pprint_sparse_tensor(st):
    s = f"<SparseTensor shape={st.dense_shape.numpy().tolist()} \n values={{"
    for index, value in zip(st.indices, st.values, strict=False):
        s += f"\n  {index.numpy().tolist()}: {value.numpy().tolist()}"
    return s + "}>"


print(pprint_sparse_tensor(st1))
# %%
st2 = tf.sparse.from_dense([[1, 0, 0, 8], [0, 0, 0, 0], [0, 0, 3, 0]])
print(pprint_sparse_tensor(st2), st2.shape, st2.dtype)
print(tf.sparse.to_dense(st2))
# %%
st_a = tf.sparse.SparseTensor(indices=[[0, 2], [3, 4]], values=[31, 2], dense_shape=[4, 10])
st_b = tf.sparse.SparseTensor(indices=[[0, 2], [3, 0]], values=[56, 38], dense_shape=[4, 10])
print(pprint_sparse_tensor(tf.sparse.add(st_a, st_b)))
# %%
st_c = tf.sparse.SparseTensor(indices=([0, 1], [1, 0], [1, 1]), values=[13, 15, 17], dense_shape=(2, 2))
mb = tf.constant([[4], [6]])
print(tf.sparse.sparse_dense_matmul(st_c, mb))
# %%
sparse_pattern_A = tf.sparse.SparseTensor(
    indices=[[2, 4], [3, 3], [3, 4], [4, 3], [4, 4], [5, 4]], values=[1] * 6, dense_shape=[8, 5]
)
sparse_pattern_B = tf.sparse.SparseTensor(
    indices=[[0, 2], [1, 1], [1, 3], [2, 0], [2, 4]], values=[1] * 5, dense_shape=[8, 6]
)
print(tf.sparse.to_dense(tf.sparse.concat(axis=1, sp_inputs=[sparse_pattern_A, sparse_pattern_B])))
print(tf.sparse.to_dense(tf.sparse.slice(sparse_pattern_A, start=[2, 3], size=[3, 2])))
print(pprint_sparse_tensor(tf.sparse.transpose(sparse_pattern_A)))
# %%
st2_plus_5 = tf.sparse.map_values(tf.add, st2, 5)
print(tf.sparse.to_dense(st2_plus_5))
st2_again = tf.sparse.SparseTensor(st2.indices, st2.values + 5, st2.dense_shape)
print(st2_again)
# %%
print(tf.sparse.reduce_sum(st2, axis=1), tf.sparse.reduce_max(st2), tf.sparse.reduce_sum(st2, axis=0, keepdims=True))
print(tf.sparse.reshape(st2, [4, 3]), tf.sparse.expand_dims(st2, 0).shape, tf.sparse.eye(3))
print(tf.sparse.reorder(tf.sparse.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])))
print(tf.sparse.fill_empty_rows(st2, -1))
print(
    tf.sparse.maximum(st_a, st_b).values,
    tf.sparse.minimum(st_a, st_b).values,
    tf.sparse.mask(tf.IndexedSlices([1, 2], [0, 1]), [0]).values,
)
print(
    tf.sparse.split(st2, 2, axis=1)[1],
    tf.sparse.to_indicator(tf.sparse.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 1]), 3),
)
print(
    tf.sparse.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 1], [0, 0]),
    tf.sparse.softmax(tf.sparse.from_dense([[1.0, 2.0], [0.0, 3.0]])),
)
print(st1 * 2, st1 / [[2.0]] if False else "")
# %%
print(tf.sparse.retain(st2, [True, False, True]), tf.sparse.bincount([[1, 1], [0, 2]], axis=-1))
print(tf.sparse.sparse_dense_matmul(tf.cast(st_c, tf.float32), [[1.0, 2.0], [3.0, 4.0]], adjoint_a=True))


# %%
@tf.function
def f(x, y):
    return tf.sparse.sparse_dense_matmul(x, y)


a = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[15, 25], dense_shape=[3, 10])
b = tf.sparse.to_dense(tf.sparse.transpose(a))
print(f(a, b))
# %%
ds = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0, 2], [0, 3, 0]]))
for element in ds:
    print(element)
print(ds.element_spec)
print(next(iter(ds.batch(2))))
print(next(iter(ds.map(lambda s: tf.sparse.to_dense(s)))))
# %%
try:
    tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 5]], [1], [1, 2]))
except Exception as e:
    print(type(e).__name__)
try:
    tf.sparse.SparseTensor([[0, 5]], [1, 2], [1, 2])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
print(tf.SparseTensorSpec([None, 3], tf.int32), tf.type_spec_from_value(st2))
