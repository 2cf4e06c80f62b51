import tempfile

import numpy as np

import autoconv as tf

layers = tf.keras.layers
tf.keras.utils.set_random_seed(1)

# %%
model = tf.keras.Sequential(
    [
        layers.Dense(2, activation="relu", kernel_initializer="ones", name="layer1"),
        layers.Dense(3, kernel_initializer="ones", name="layer2"),
    ]
)
x = tf.ones((3, 3))
print(model.built)
y = model(x)
print(y, [w.path for w in model.weights], len(model.layers))
model.pop()
print(len(model.layers), model.layers[0].weights)
# %%
model = tf.keras.Sequential(name="my_sequential")
model.add(tf.keras.Input(shape=(16, 16, 3)))
model.add(layers.Conv2D(4, 3, strides=2, activation="relu", kernel_initializer="ones"))
model.add(layers.MaxPooling2D(2))
model.add(layers.GlobalMaxPooling2D())
model.summary()
print(model(tf.ones((1, 16, 16, 3))), model.output_shape)
# %%
inputs = tf.keras.Input(shape=(8,), name="digits")
h = layers.Dense(4, activation="relu", kernel_initializer="ones")(inputs)
outputs = layers.Dense(2, kernel_initializer="ones")(h)
model = tf.keras.Model(inputs=inputs, outputs=outputs, name="mlp")
model.summary()
print(inputs.shape, inputs.dtype, outputs.shape)
model.compile(loss=tf.keras.losses.MeanSquaredError(), optimizer=tf.keras.optimizers.SGD(0.001), metrics=["mae"])
data = np.arange(64, dtype="float32").reshape(8, 8) / 64
target = np.ones((8, 2), "float32")
history = model.fit(data, target, batch_size=4, epochs=2, shuffle=False, verbose=0)
print(history.history)
print(model.evaluate(data, target, verbose=0), model.predict(data[:2], verbose=0))
# %%
title = tf.keras.Input(shape=(None,), name="title")
tags = tf.keras.Input(shape=(3,), name="tags")
t = layers.Embedding(10, 4, embeddings_initializer="ones")(title)
t = layers.LSTM(3, kernel_initializer="ones", recurrent_initializer="ones")(t)
both = layers.concatenate([t, tags])
priority = layers.Dense(1, name="priority", kernel_initializer="ones")(both)
department = layers.Dense(2, name="department", kernel_initializer="ones")(both)
two = tf.keras.Model(inputs=[title, tags], outputs={"priority": priority, "department": department})
two.compile("sgd", loss={"priority": "mse", "department": "mae"}, loss_weights={"priority": 1.0, "department": 0.2})
print(two({"title": tf.ones((1, 5), tf.int32), "tags": tf.ones((1, 3))}))
print(
    two.train_on_batch(
        {"title": np.ones((1, 5)), "tags": np.ones((1, 3))},
        {"priority": np.ones((1, 1)), "department": np.ones((1, 2))},
    )
)


# %%
class Linear(layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", trainable=True, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        self.add_loss(1e-2 * tf.reduce_sum(inputs))
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units}


layer = Linear(4)
print(layer(tf.ones((2, 2))), layer.losses, layer.get_config()["units"], [w.name for w in layer.trainable_weights])
print(Linear.from_config(layer.get_config()).units)


class ComputeSum(layers.Layer):
    def __init__(self, input_dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(input_dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(tf.reduce_sum(inputs, axis=0))
        return self.total


s = ComputeSum(2)
print(s(tf.ones((2, 2))).numpy(), s(tf.ones((2, 2))).numpy(), len(s.non_trainable_weights), s.trainable_weights)
# %%
inp = tf.keras.Input((3,))
custom = tf.keras.Model(inp, Linear(2, name="linear")(inp))
path = tempfile.mkdtemp() + "/m.keras"
custom.save(path)
back = tf.keras.models.load_model(path, custom_objects={"Linear": Linear})
print(np.array_equal(back(tf.ones((1, 3))), custom(tf.ones((1, 3)))), back.get_layer("linear").units)
custom.save_weights(path + ".weights.h5")
back.load_weights(path + ".weights.h5")
print(back.get_weights())
print(
    sorted(custom.get_config()),
    tf.keras.Model.from_config(custom.get_config(), custom_objects={"Linear": Linear}).count_params(),
)
custom.export(path + "x", verbose=False)
print(tf.saved_model.load(path + "x").serve(tf.ones((1, 3))))
# %%
embedding = layers.Embedding(input_dim=10, output_dim=2, mask_zero=True, embeddings_initializer="ones")
padded = tf.keras.utils.pad_sequences([[7, 8], [1, 2, 3], [4]], padding="post")
masked = embedding(padded)
print(padded, embedding.compute_mask(padded), layers.Masking()(tf.zeros((1, 2, 2)))._keras_mask)
print(
    layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")(masked, mask=embedding.compute_mask(padded))
)
for cls in (layers.SimpleRNN, layers.GRU):
    out = cls(2, return_sequences=True, return_state=True, kernel_initializer="ones", recurrent_initializer="ones")(
        tf.ones((1, 3, 2))
    )
    print([o.numpy().tolist() for o in out])
print(layers.Bidirectional(layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones"))(tf.ones((1, 3, 2))))
print(layers.RNN(layers.LSTMCell(2, kernel_initializer="ones", recurrent_initializer="ones"))(tf.ones((1, 3, 2))))
# %%
norm = layers.Normalization()
norm.adapt(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]))
print(norm(np.array([[1.0, 2.0]])))
lookup = layers.StringLookup(vocabulary=["a", "b"])
print(lookup(tf.constant([["a", "z"], ["b", "a"]])), lookup.get_vocabulary())
text = layers.TextVectorization(output_mode="int", output_sequence_length=4)
text.adapt(["the cat sat", "the dog"])
print(text(["the cat ran"]), text.get_vocabulary())
print(
    layers.IntegerLookup(vocabulary=[3, 7])([3, 9]), layers.Discretization(bin_boundaries=[0.0, 1.0])([-1.0, 0.5, 2.0])
)
print(
    layers.CategoryEncoding(3, output_mode="multi_hot")([0, 2]),
    layers.Hashing(3)([["a"], ["b"]]),
    layers.Rescaling(0.5)([2.0]),
)
