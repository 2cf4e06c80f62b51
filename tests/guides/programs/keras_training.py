import numpy as np

import autoconv as tf

X = np.arange(32, dtype="float32").reshape(16, 2) / 32
Y = (X.sum(1, keepdims=True) > 1).astype("float32")


def make():
    inputs = tf.keras.Input(shape=(2,))
    h = tf.keras.layers.Dense(3, activation="tanh", kernel_initializer=tf.keras.initializers.Constant(0.3))(inputs)
    return inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(h)


# %%
class CustomModel(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        return {"mae_by_hand": tf.reduce_mean(tf.abs(y - y_pred))}


model = CustomModel(*make())
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
print(model.fit(X, Y, epochs=3, shuffle=False, verbose=0).history)
print(model.evaluate(X, Y, verbose=0, return_dict=True))
# %%
model = tf.keras.Model(*make())
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)
metric = tf.keras.metrics.BinaryAccuracy(threshold=0.0)
train = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss_value = loss_fn(y, logits)
        loss_value += sum(model.losses)
    grads = tape.gradient(loss_value, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    metric.update_state(y, logits)
    return loss_value


for epoch in range(2):
    for step, (xb, yb) in enumerate(train):
        loss_value = train_step(xb, yb)
        print(epoch, step, float(loss_value))
    print("accuracy", float(metric.result()))
    metric.reset_state()


# %%
class Log(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print("Starting training; got log keys:", list((logs or {}).keys()))

    def on_epoch_end(self, epoch, logs=None):
        print("End epoch", epoch, sorted(logs.keys()))

    def on_train_batch_end(self, batch, logs=None):
        print("batch", batch, round(float(logs["loss"]), 4))


model = tf.keras.Model(*make())
model.compile(tf.keras.optimizers.RMSprop(0.01), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
early = tf.keras.callbacks.EarlyStopping(monitor="loss", min_delta=10.0, patience=1, verbose=0)
model.fit(X, Y, batch_size=8, epochs=5, verbose=0, shuffle=False, callbacks=[Log(), early])
print(early.stopped_epoch)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9, staircase=True)
print([float(schedule(s)) for s in (0, 9, 10, 25)], tf.keras.optimizers.schedules.CosineDecay(0.1, 10)(5))
print(tf.keras.optimizers.Adam(schedule).learning_rate)


# %%
class BinaryTruePositives(tf.keras.metrics.Metric):
    def __init__(self, name="tp", **kwargs):
        super().__init__(name=name, **kwargs)
        self.true_positives = self.add_weight(name="tp", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values = tf.cast(tf.logical_and(tf.cast(y_true, tf.bool), y_pred > 0), self.dtype)
        if sample_weight is not None:
            values *= tf.cast(sample_weight, self.dtype)
        self.true_positives.assign_add(tf.reduce_sum(values))

    def result(self):
        return self.true_positives


m = BinaryTruePositives()
m.update_state([1.0, 0.0, 1.0], tf.constant([2.0, 1.0, -1.0]))
print(m.result())
for metric in (
    tf.keras.metrics.AUC(),
    tf.keras.metrics.Precision(),
    tf.keras.metrics.Mean(),
    tf.keras.metrics.MeanIoU(2),
):
    metric.update_state(*([[1.0, 2.0]] if metric.name == "mean" else [[0, 1, 1, 1], [0, 1, 0, 1]]))
    print(metric.name, float(metric.result()))
model = tf.keras.Model(*make())
model.compile("sgd", loss="mse", metrics=[BinaryTruePositives()], weighted_metrics=["mae"])
print(model.fit(X, Y, sample_weight=np.linspace(0, 1, 16), verbose=0, shuffle=False, validation_data=(X, Y)).history)
print(model.fit(train, class_weight={0: 1.0, 1: 2.0}, verbose=0).history)
# %%
strategy = tf.distribute.get_strategy()
print(strategy.num_replicas_in_sync, type(strategy).__name__)
with strategy.scope():
    model = tf.keras.Model(*make())
    model.compile("sgd", loss="mse")
print(model.fit(train, epochs=1, verbose=0).history)
one = tf.distribute.OneDeviceStrategy("/cpu:0")
with one.scope():
    v = tf.Variable(1.0)
print(one.run(lambda x: x + v, args=(tf.constant(2.0),)), one.reduce("SUM", tf.constant(3.0), axis=None))
for batch in one.experimental_distribute_dataset(train.take(1)):
    print(batch[0].shape)
mirrored = tf.distribute.MirroredStrategy(["/cpu:0"])
print(
    mirrored.num_replicas_in_sync,
    mirrored.reduce(tf.distribute.ReduceOp.MEAN, mirrored.run(lambda: tf.constant([1.0, 3.0])), axis=0),
)
