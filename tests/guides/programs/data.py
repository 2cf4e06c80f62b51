import autoconv as tf

# %%
dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
print(dataset)
for elem in dataset:
    print(elem.numpy())
print(next(iter(dataset)).numpy(), dataset.reduce(0, lambda state, value: state + value).numpy())
# %%
dataset1 = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(40), [4, 10]))
dataset2 = tf.data.Dataset.from_tensor_slices((tf.range(4.0), tf.reshape(tf.range(400), [4, 100])))
dataset3 = tf.data.Dataset.zip((dataset1, dataset2))
print(dataset1.element_spec, dataset2.element_spec, dataset3.element_spec, sep="\n")
print(dataset3)
for a, (b, c) in dataset3:
    print(f"shapes: {a.shape}, {b.shape}, {c.shape}")
# %%
dataset4 = tf.data.Dataset.from_tensors(tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4]))
print(dataset4.element_spec, dataset4.element_spec.value_type.__name__)


# %%
def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for count_batch in ds_counter.repeat().batch(10).take(3):
    print(count_batch.numpy())


def gen_series():
    for i in range(7):
        yield i, [float(j) for j in range(i)]


ds_series = tf.data.Dataset.from_generator(
    gen_series, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
)
print(ds_series)
ids, sequences = next(iter(ds_series.padded_batch(4, padded_shapes=([], [None]))))
print(ids.numpy(), sequences.numpy(), sep="\n")
# %%
inc_dataset = tf.data.Dataset.range(100)
dec_dataset = tf.data.Dataset.range(0, -100, -1)
batched = tf.data.Dataset.zip((inc_dataset, dec_dataset)).batch(4)
for batch in batched.take(2):
    print([arr.numpy() for arr in batch])
print(batched, batched.cardinality().numpy(), len(batched))
print(inc_dataset.batch(7, drop_remainder=True))
# %%
dataset = tf.data.Dataset.range(100).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
for batch in dataset.padded_batch(4, padded_shapes=(None,)).take(2):
    print(batch.numpy())
# %%
range_ds = tf.data.Dataset.range(100000)
for batch in range_ds.batch(10, drop_remainder=True).take(2):
    print(batch.numpy())
print(
    [
        x.numpy().tolist()
        for x in range_ds.window(5, shift=2).flat_map(lambda w: w.batch(5, drop_remainder=True)).take(2)
    ]
)
for w in range_ds.window(3).take(2):
    print([x.numpy() for x in w], w)
# %%
print(
    list(
        tf.data.Dataset.range(3)
        .interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        .as_numpy_iterator()
    )
)
print(list(tf.data.Dataset.range(10).filter(lambda x: x % 3 == 0).as_numpy_iterator()))
print(list(tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(8, 10)).enumerate().as_numpy_iterator()))
print(
    list(tf.data.Dataset.range(10).shard(3, 1).skip(1).as_numpy_iterator()),
    list(tf.data.Dataset.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)).as_numpy_iterator()),
)
print(list(tf.data.Dataset.range(10).take_while(lambda x: x < 4).as_numpy_iterator()))
print(
    sorted(tf.data.Dataset.range(10).shuffle(4).as_numpy_iterator()),
    list(tf.data.Dataset.from_tensor_slices([1, 1, 2]).unique().as_numpy_iterator()),
)
print(
    [b.numpy().tolist() for b in tf.data.Dataset.range(6).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)]
)
print(
    list(tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [3, 4]}).as_numpy_iterator()),
    tf.data.Dataset.from_tensor_slices({"a": [1, 2]}),
)
print(
    tf.data.Dataset.range(4).repeat().cardinality() == tf.data.INFINITE_CARDINALITY,
    tf.data.Dataset.range(4).filter(lambda x: True).cardinality().numpy(),
)
print([b.numpy() for b in tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(tf.range).ragged_batch(2)])
# %%
print(
    [
        x.numpy().tolist()
        for x in tf.data.Dataset.from_tensor_slices([3, 1, 2])
        .map(tf.range)
        .bucket_by_sequence_length(lambda e: tf.shape(e)[0], [2], [2, 2])
    ]
)
print(
    tf.data.Dataset.range(1).get_single_element().numpy(),
    [
        x.numpy()
        for x in tf.data.Dataset.choose_from_datasets(
            [tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7)],
            tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 1, 0], tf.int64)),
        )
    ],
)
