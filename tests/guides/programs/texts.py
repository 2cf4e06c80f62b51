import autoconv as tf

# %%
print(tf.constant("Thanks 😊"), tf.constant(["You're", "welcome!"]).shape)
text_utf8 = tf.constant("语言处理")
text_chars = tf.constant([ord(char) for char in "语言处理"])
print(text_utf8, text_chars)
print(tf.strings.unicode_decode(text_utf8, input_encoding="UTF-8"))
print(tf.strings.unicode_encode(text_chars, output_encoding="UTF-8"))
print(tf.strings.unicode_transcode(text_utf8, input_encoding="UTF8", output_encoding="UTF-16-BE"))
# %%
batch_utf8 = [s.encode("UTF-8") for s in ["hÃllo", "What is the weather tomorrow", "Göödnight", "😊"]]
batch_chars_ragged = tf.strings.unicode_decode(batch_utf8, input_encoding="UTF-8")
for sentence_chars in batch_chars_ragged.to_list():
    print(sentence_chars)
print(batch_chars_ragged.to_tensor(default_value=-1).numpy())
batch_chars_sparse = batch_chars_ragged.to_sparse()
print(batch_chars_sparse.shape, tf.strings.unicode_encode(batch_chars_ragged, output_encoding="UTF-8"))
print(tf.strings.unicode_encode(tf.RaggedTensor.from_sparse(batch_chars_sparse), output_encoding="UTF-8"))
# %%
thanks = "Thanks 😊".encode()
num_bytes = tf.strings.length(thanks).numpy()
num_chars = tf.strings.length(thanks, unit="UTF8_CHAR").numpy()
print(f"{num_bytes} bytes; {num_chars} UTF-8 characters", tf.strings.substr(thanks, pos=7, len=1).numpy())
print(tf.strings.substr(thanks, pos=7, len=1, unit="UTF8_CHAR").numpy())
print(tf.strings.unicode_split(thanks, "UTF-8").numpy())
codepoints, offsets = tf.strings.unicode_decode_with_offsets("🎈🎉🎊", "UTF-8")
for codepoint, offset in zip(codepoints.numpy(), offsets.numpy(), strict=True):
    print(f"At byte offset {offset}: codepoint {codepoint}")
# %%
sentence_texts = ["Hello, world.", "世界こんにちは"]
sentence_char_codepoint = tf.strings.unicode_decode(sentence_texts, "UTF-8")
letters = tf.cast(sentence_char_codepoint > 64, tf.int32)
sentence_char_script = letters + tf.cast(sentence_char_codepoint > 12500, tf.int32)
print(sentence_char_codepoint, sentence_char_script)
changes = tf.not_equal(sentence_char_script[:, 1:], sentence_char_script[:, :-1])
starts = tf.concat([tf.fill([sentence_char_script.nrows(), 1], True), changes], axis=1)
word_starts = tf.squeeze(tf.where(starts.values), axis=1)
print(word_starts)
word_char_codepoint = tf.RaggedTensor.from_row_starts(values=sentence_char_codepoint.values, row_starts=word_starts)
print(word_char_codepoint)
sentence_num_words = tf.reduce_sum(tf.cast(starts, tf.int64), axis=1)
words = tf.RaggedTensor.from_row_lengths(values=word_char_codepoint, row_lengths=sentence_num_words)
print(words, tf.strings.unicode_encode(words, "UTF-8").to_list())
# %%
print(tf.strings.split(["the quick brown", "fox"]), tf.strings.lower(["ÄB", "CD"], encoding="utf-8"))
print(tf.strings.regex_replace("a-b-c", "-", "+"), tf.strings.join(["x", "y"], separator="/"), tf.strings.strip("\ta "))
print(tf.strings.to_number(["1.5", "2"]), tf.strings.as_string([1.5, 2.25], precision=1))
print(tf.strings.format("{} and {}", (1, "b")))
print(tf.strings.ngrams(["a", "b", "c"], 2), tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-"))
print(tf.strings.to_hash_bucket_fast(["a", "b"], 10), tf.strings.to_hash_bucket_strong(["a"], 10, [1, 2]))
print(tf.strings.regex_full_match(["ab", "c"], "a.*"), tf.strings.bytes_split(["ab", "c"]))
# %%
raw = ["The movie was great!", "A terrible film", "great great acting"]
vectorize = tf.keras.layers.TextVectorization(max_tokens=10, output_mode="int", output_sequence_length=5)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(raw).batch(2))
print(vectorize.get_vocabulary(), vectorize(["great unknown film"]))
multi_hot = tf.keras.layers.TextVectorization(max_tokens=10, output_mode="multi_hot")
multi_hot.adapt(raw)
print(multi_hot(["great film"]))


@tf.keras.utils.register_keras_serializable("texts")
def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped_html = tf.strings.regex_replace(lowercase, "<br />", " ")
    return tf.strings.regex_replace(stripped_html, "[!.,]", "")


layer = tf.keras.layers.TextVectorization(standardize=custom_standardization, ngrams=2, output_mode="count")
layer.adapt(["Good<br />day, sir.", "good night"])
print(layer.get_vocabulary(), layer(["good night good"]))
# %%
lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c"], mask_token="")
print(lookup([["a", "z"], ["c", ""]]), lookup.get_vocabulary())
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list("abcdefg"), mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None)
ids = ids_from_chars(tf.strings.unicode_split(["abcdefg", "xyz"], input_encoding="UTF-8"))
print(ids, chars_from_ids(ids), tf.strings.reduce_join(chars_from_ids(ids), axis=-1).numpy())
all_ids = ids_from_chars(tf.strings.unicode_split("abcabc", "UTF-8"))
sequences = tf.data.Dataset.from_tensor_slices(all_ids).batch(3, drop_remainder=True)
print([(seq[:-1].numpy(), seq[1:].numpy()) for seq in sequences])
# %%
init = tf.lookup.KeyValueTensorInitializer(keys=["x", "y"], values=[3, 4], key_dtype=tf.string, value_dtype=tf.int64)
table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=2)
print(table.lookup(tf.constant(["x", "q", "y"])), table.size())
print(tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["y", "none"])))
# %%
embedding = tf.keras.layers.Embedding(10, 4, embeddings_initializer="ones", mask_zero=True)
head = tf.keras.layers.Dense(1, kernel_initializer="ones")
text_model = tf.keras.Sequential([embedding, tf.keras.layers.GlobalAveragePooling1D(), head])
print(text_model(vectorize(raw)))
