import autoconv as tf

# %%
tf.random.set_seed(7)
TRUE_W, TRUE_B = 3.0, 2.0
x = tf.cast(tf.linspace(-2, 2, 201), tf.float32)
noise = tf.random.stateless_normal([201], seed=[1, 2])
y = x * TRUE_W + TRUE_B + noise
print(x[:3], y[:3], y.dtype)


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


model = MyModel()
print("Variables:", model.variables)
assert model(3.0).numpy() == 15.0


# %%
def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


for epoch in range(5):
    train(model, x, y, learning_rate=0.1)
    print(f"Epoch {epoch:2d}: W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, {loss(y, model(x)):2.5f}")
# %%


class MyModelKeras(tf.keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def call(self, x):
        return self.w * x + self.b


keras_model = MyModelKeras()
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
keras_model.compile(run_eagerly=False, optimizer=optimizer, loss=tf.keras.losses.MeanSquaredError())
history = keras_model.fit(x, y, epochs=3, batch_size=len(x), verbose=0, shuffle=False)
print([round(value, 4) for value in history.history["loss"]])
# %%
# The core APIs: a quadratic
xs = tf.linspace(-2.0, 2.0, 101)


def f(x):
    return x**2 + 2 * x - 5


ys = f(xs) + tf.random.stateless_normal([101], [3, 4])


class Quadratic(tf.Module):
    def __init__(self):
        self.w_q = tf.Variable(0.5)
        self.w_l = tf.Variable(-0.25)
        self.b = tf.Variable(0.1)

    @tf.function
    def __call__(self, x):
        return self.w_q * (x**2) + self.w_l * x + self.b


def mse_loss(y_pred, y):
    return tf.reduce_mean(tf.square(y_pred - y))


dataset = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(32)
quad_model = Quadratic()
losses = []
for epoch in range(20):
    for x_batch, y_batch in dataset:
        with tf.GradientTape() as tape:
            batch_loss = mse_loss(quad_model(x_batch), y_batch)
        grads = tape.gradient(batch_loss, quad_model.variables)
        for g, v in zip(grads, quad_model.variables, strict=True):
            v.assign_sub(0.01 * g)
    losses.append(mse_loss(quad_model(xs), ys))
    if epoch % 5 == 0:
        print(f"Mean squared error for step {epoch}: {losses[-1].numpy():0.3f}")
print(quad_model.w_q, quad_model.w_l, quad_model.b)
# %%
# Logistic regression
features = tf.random.stateless_normal([120, 4], [5, 6])
labels = tf.cast(tf.reduce_sum(features[:, :2], 1) > 0, tf.float32)[:, None]


class Normalize(tf.Module):
    def __init__(self, x):
        self.mean = tf.Variable(tf.math.reduce_mean(x, axis=0))
        self.std = tf.Variable(tf.math.reduce_std(x, axis=0))

    def norm(self, x):
        return (x - self.mean) / self.std

    def unnorm(self, x):
        return (x * self.std) + self.mean


norm_x = Normalize(features)


def log_loss(y_pred, y):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y_pred))


class LogisticRegression(tf.Module):
    def __init__(self):
        self.built = False

    def __call__(self, x, train=True):
        if not self.built:
            rand_w = tf.random.uniform(shape=[x.shape[-1], 1], seed=22)
            rand_b = tf.random.uniform(shape=[], seed=22)
            self.w = tf.Variable(rand_w)
            self.b = tf.Variable(rand_b)
            self.built = True
        z = tf.add(tf.matmul(x, self.w), self.b)
        z = tf.squeeze(z, axis=1)[:, None]
        return z if train else tf.sigmoid(z)


log_reg = LogisticRegression()
y_pred = log_reg(norm_x.norm(features[:5]), train=False)
print(y_pred.numpy())


def predict_class(y_pred, thresh=0.5):
    return tf.cast(y_pred > thresh, tf.float32)


def accuracy(y_pred, y):
    return tf.reduce_mean(tf.cast(predict_class(tf.math.sigmoid(y_pred)) == y, tf.float32))


for _ in range(10):
    for x_batch, y_batch in tf.data.Dataset.from_tensor_slices((norm_x.norm(features), labels)).batch(40):
        with tf.GradientTape() as tape:
            batch_loss = log_loss(log_reg(x_batch), y_batch)
        for g, v in zip(tape.gradient(batch_loss, log_reg.variables), log_reg.variables, strict=True):
            v.assign_sub(0.5 * g)
whole = log_reg(norm_x.norm(features))
print(f"{log_loss(whole, labels):.3f} {accuracy(whole, labels):.3f}", log_reg.variables)


# %%
# A multilayer perceptron with Adam by hand
def xavier_init(shape):
    in_dim, out_dim = shape
    xavier_lim = tf.sqrt(6.0) / tf.sqrt(tf.cast(in_dim + out_dim, tf.float32))
    return tf.random.uniform(shape=(in_dim, out_dim), minval=-xavier_lim, maxval=xavier_lim, seed=22)


class DenseLayer(tf.Module):
    def __init__(self, out_dim, weight_init=xavier_init, activation=tf.identity):
        self.out_dim = out_dim
        self.weight_init = weight_init
        self.activation = activation
        self.built = False

    def __call__(self, x):
        if not self.built:
            self.in_dim = x.shape[1]
            self.w = tf.Variable(self.weight_init(shape=(self.in_dim, self.out_dim)))
            self.b = tf.Variable(tf.zeros(shape=(self.out_dim,)))
            self.built = True
        z = tf.add(tf.matmul(x, self.w), self.b)
        return self.activation(z)


class MLP(tf.Module):
    def __init__(self, layers):
        self.layers = layers

    @tf.function
    def __call__(self, x, preds=False):
        for layer in self.layers:
            x = layer(x)
        return x


class Adam:
    def __init__(self, learning_rate=1e-3, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.learning_rate, self.ep = beta_1, beta_2, learning_rate, ep
        self.t = 1.0
        self.v_dvar, self.s_dvar = [], []
        self.built = False

    def apply_gradients(self, grads, vars):
        if not self.built:
            for var in vars:
                self.v_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
                self.s_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, vars, strict=True)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var))
            v_dvar_bc = self.v_dvar[i] / (1 - (self.beta_1**self.t))
            s_dvar_bc = self.s_dvar[i] / (1 - (self.beta_2**self.t))
            var.assign_sub(self.learning_rate * (v_dvar_bc / (tf.sqrt(s_dvar_bc) + self.ep)))
        self.t += 1.0


mlp = MLP([DenseLayer(8, activation=tf.nn.relu), DenseLayer(2)])
print([layer.out_dim for layer in mlp.layers], mlp(features).shape)
classes = tf.cast(labels[:, 0], tf.int64)
optimizer = Adam(0.05)
for step in range(15):
    with tf.GradientTape() as tape:
        cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=mlp(features)))
    optimizer.apply_gradients(tape.gradient(cost, mlp.variables), mlp.variables)
    if step % 5 == 0:
        print(f"{cost:.4f}")
print(tf.reduce_mean(tf.cast(tf.argmax(mlp(features), axis=1) == classes, tf.float32)))
print([v.name for v in mlp.variables], [v.shape for v in mlp.trainable_variables])
# %%
print(tf.math.confusion_matrix(labels[:, 0], predict_class(tf.sigmoid(whole))[:, 0]))
# %%
# Transfer learning: a frozen base and a new head
hidden = tf.keras.layers.Dense(6, activation="relu", kernel_initializer="ones")
base = tf.keras.Sequential([tf.keras.Input([4]), hidden])
base.trainable = False
head = tf.keras.layers.Dense(1, kernel_initializer="zeros")
inputs = tf.keras.Input(shape=(4,))
outputs = head(base(inputs, training=False))
transfer = tf.keras.Model(inputs, outputs)
print(len(transfer.trainable_variables), len(transfer.variables), base.trainable)
transfer.compile(
    optimizer=tf.keras.optimizers.Adam(0.1), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5, name="accuracy")],
)
found = transfer.fit(features, labels, epochs=2, batch_size=40, shuffle=False, verbose=0)
print({name: [round(v, 3) for v in values] for name, values in found.history.items()})
base.trainable = True
transfer.compile(optimizer=tf.keras.optimizers.RMSprop(0.01), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
found = transfer.fit(features, labels, epochs=2, batch_size=40, shuffle=False, verbose=0)
print(len(transfer.trainable_variables), [round(v, 3) for v in found.history["loss"]])
