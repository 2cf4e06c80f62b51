import autoconv as tf

# %%
digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(tf.add(digits, 3))
print(tf.reduce_mean(digits, axis=1))
print(tf.concat([digits, [[5, 3]]], axis=0))
print(tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2))
print(tf.map_fn(tf.math.square, digits))
# %%
print(digits[0], digits[:, :2], digits[:, -2:])
print(digits + 3)
print(digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []]))
print(tf.ragged.map_flat_values(lambda x: x * 2 + 1, digits))
print(digits.to_list(), digits.numpy())
# %%
sentences = tf.ragged.constant([["Let's", "build", "some", "ragged", "tensors", "!"], ["We", "can", "use", "constant"]])
paragraphs = tf.ragged.constant(
    [
        [["I", "have", "a", "cat"], ["His", "name", "is", "Mat"]],
        [["Do", "you", "want", "to", "come", "visit"], ["I'm", "free", "tomorrow"]],
    ]
)
print(sentences)
print(paragraphs)
try:
    tf.ragged.constant([["one", "two"], [3, 4]])
except ValueError as exception:
    print(type(exception).__name__)
try:
    tf.ragged.constant(["A", ["B", "C"]])
except ValueError as exception:
    print(type(exception).__name__)
# %%
print(tf.RaggedTensor.from_value_rowids(values=[3, 1, 4, 1, 5, 9, 2], value_rowids=[0, 0, 0, 0, 2, 2, 3]))
print(tf.RaggedTensor.from_row_lengths(values=[3, 1, 4, 1, 5, 9, 2], row_lengths=[4, 0, 2, 1]))
print(tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9, 2], row_splits=[0, 4, 4, 6, 7]))
print(tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 2, 2]), tf.RaggedTensor.from_row_limits([3, 1, 4], [2, 2, 3]))
print(tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2))
print(
    tf.RaggedTensor.from_nested_row_splits(
        flat_values=[3, 1, 4, 1, 5, 9, 2], nested_row_splits=([0, 3, 5], [0, 4, 4, 5, 7, 7])
    )
)
# %%
rt = tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9, 2], row_splits=[0, 4, 4, 6, 7])
print(rt.values, rt.row_splits, rt.row_lengths(), rt.value_rowids(), rt.nrows(), rt.ragged_rank, rt.flat_values)
print(rt.shape, rt.bounding_shape(), rt.dtype)
print(tf.RaggedTensor.from_row_splits([[1, 3], [0, 0], [1, 3]], [0, 2, 3]).shape)
print(repr(rt))
# %%
print(tf.shape(rt))
print(tf.ragged.constant([[[1, 2], [3]], [[4]]]).shape, tf.shape(tf.ragged.constant([[[1, 2], [3]], [[4]]])))
print(tf.ragged.constant([[[1, 3], [0, 0]], [[6, 0]]], ragged_rank=1).shape)
print(tf.shape(rt)[0], tf.rank(rt), tf.size(rt))
# %%
queries = tf.ragged.constant([["Who", "is", "Dan", "Smith"], ["Pause"], ["Will", "it", "rain", "later", "today"]])
num_buckets, embedding_size = 1024, 4
table = tf.reshape(tf.range(1024.0 * 4), [1024, 4])
word_buckets = tf.strings.to_hash_bucket_fast(queries, num_buckets)
word_embeddings = tf.nn.embedding_lookup(table, word_buckets)
marker = tf.fill([queries.nrows(), 1], "#")
padded = tf.concat([marker, queries, marker], axis=1)
bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator="+")
print(bigrams)
bigram_embeddings = tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(bigrams, num_buckets))
all_embeddings = tf.concat([word_embeddings, bigram_embeddings], axis=1)
print(tf.reduce_mean(all_embeddings, axis=1))
# %%
ragged_x = tf.ragged.constant([["John"], ["a", "big", "dog"], ["my", "cat"]])
ragged_y = tf.ragged.constant([["fell", "asleep"], ["barked"], ["is", "fuzzy"]])
print(tf.concat([ragged_x, ragged_y], axis=1))
print(tf.stack([ragged_x, ragged_y]))
print(tf.ragged.stack([ragged_x, ragged_y]).shape)
print(ragged_x.to_tensor(default_value="", shape=[None, 4]))
print(tf.RaggedTensor.from_tensor([[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]], padding=-1))
print(ragged_x.to_sparse())
st = tf.SparseTensor(indices=[[0, 0], [2, 0], [2, 1]], values=["a", "b", "c"], dense_shape=[3, 3])
print(tf.RaggedTensor.from_sparse(st))
# %%
x = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
y = tf.ragged.constant([[1, 1], [2], [3, 3, 3]])
print(x + y, x * 2, 10 - x, x == y, x > 1, x**2, -x, abs(-x), x // y, x % 2)
print(tf.add(tf.ragged.constant([[1, 2], [3]]), [[100], [200]]))
print(tf.reduce_sum(x, axis=0), tf.reduce_max(x, axis=1), tf.reduce_sum(x), tf.reduce_any(x > 5, axis=1))
# %%
print(tf.gather(x, [2, 0]), tf.gather_nd(x, [[0, 1], [2, 2]]), tf.boolean_mask(x, [True, False, True]))
print(tf.boolean_mask(x, x > 2), tf.where(x > 2, x, -x), tf.expand_dims(x, 0), tf.reverse(x, [0]))
print(tf.one_hot(x, 3), tf.cast(x, tf.float32), tf.zeros_like(x), tf.ragged.range([3, 0, 2]))
print(x.with_values(tf.range(6) * 10), x.merge_dims(0, 1))


# %%
@tf.function
def make_palindrome(x, axis):
    return tf.concat([x, tf.reverse(x, [axis])], axis)


print(make_palindrome(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]), axis=1))


@tf.function(input_signature=[tf.RaggedTensorSpec(shape=[None, None], dtype=tf.int32)])
def max_and_min(rt):
    return (tf.math.reduce_max(rt, axis=-1), tf.math.reduce_min(rt, axis=-1))


print(max_and_min(tf.ragged.constant([[1, 2], [3], [4, 5, 6]])))


@tf.function
def increment(x):
    return x + 1


cf = increment.get_concrete_function(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]))
print(cf(tf.ragged.constant([[1, 2], [3], [4, 5, 6]])))
# %%
ds = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [4, 5, 6]]))
for row in ds:
    print(row)
for batch in tf.data.Dataset.from_tensor_slices([1, 3, 2]).map(tf.range).ragged_batch(2):
    print(batch)
for batch in tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [4, 5, 6]])).batch(2):
    print(batch)
print(ds.element_spec)
# %%
print(tf.RaggedTensorSpec([None, None], tf.int32), tf.type_spec_from_value(x))
rt1 = tf.ragged.constant([[1.0, 2.0], [3.0]])
with tf.GradientTape() as tape:
    tape.watch(rt1.flat_values)
    z = tf.reduce_sum(rt1 * rt1)
print(tape.gradient(z, rt1.flat_values))
shape = tf.experimental.DynamicRaggedShape.from_lengths([2, (2, 1)])
print(shape, tf.experimental.RowPartition.from_row_lengths([2, 1]).row_splits())
print(shape.rank)
