import autoconv as tf

# %%
x = tf.Variable(2.0)
y = tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"])
print("dz/dy:", grad["y"])
# %%
with tf.GradientTape() as t:
    y_sq = y**2
    z = x**2 + tf.stop_gradient(y_sq)
print(t.gradient(z, {"x": x, "y": y}))
reset = True
with tf.GradientTape() as t:
    y_sq = y * y
    if reset:
        t.reset()
    z = x * x + y_sq
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"])
print("dz/dy:", grad["y"])


# %%
@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)

    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))
# %%
x0 = tf.constant(0.0)
x1 = tf.constant(0.0)
with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
    tape0.watch(x0)
    tape1.watch(x1)
    y0 = tf.math.sin(x0)
    y1 = tf.nn.sigmoid(x1)
    y = y0 + y1
    ys = tf.reduce_sum(y)
print(tape0.gradient(ys, x0).numpy(), tape1.gradient(ys, x1).numpy())
x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print("dy_dx:", dy_dx.numpy())
print("d2y_dx2:", d2y_dx2.numpy())
# %%
x = tf.random.stateless_normal([7, 5], [1, 1])
layer = tf.keras.layers.Dense(
    10, activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.Constant(0.25), bias_initializer="ones"
)
with tf.GradientTape() as t2:
    with tf.GradientTape(watch_accessed_variables=False) as t1:
        t1.watch(x)
        y = layer(x)
        out = tf.reduce_sum(layer(x) ** 2)
    g1 = t1.gradient(out, x)
    g1_mag = tf.norm(g1)
dg1_mag = t2.gradient(g1_mag, layer.trainable_variables)
print([var.shape for var in dg1_mag], g1_mag)
# %%
x = tf.linspace(-10.0, 10.0, 200 + 1)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
dy_dx = tape.jacobian(y, delta)
print(y.shape, dy_dx.shape, tf.reduce_max(dy_dx))
x = tf.random.stateless_normal([7, 5], [2, 2])
layer = tf.keras.layers.Dense(10, activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.Constant(0.1))
with tf.GradientTape(persistent=True) as tape:
    y = layer(x)
print(y.shape, layer.kernel.shape)
j = tape.jacobian(y, layer.kernel)
g = tape.gradient(y, layer.kernel)
j_sum = tf.reduce_sum(j, axis=[0, 1])
delta = tf.reduce_max(abs(g - j_sum)).numpy()
print(j.shape, g.shape, delta < 1e-3)
# %%
x = tf.random.stateless_normal([7, 5], [3, 3])
layer1 = tf.keras.layers.Dense(8, activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.Constant(0.2))
layer2 = tf.keras.layers.Dense(6, activation=tf.nn.relu, kernel_initializer=tf.keras.initializers.Constant(0.3))
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        x = layer1(x)
        x = layer2(x)
        loss = tf.reduce_mean(x**2)
    g = t1.gradient(loss, layer1.kernel)
h = t2.jacobian(g, layer1.kernel)
print(f"layer.kernel.shape: {layer1.kernel.shape}")
print(f"h.shape: {h.shape}")
n_params = tf.reduce_prod(layer1.kernel.shape)
g_vec = tf.reshape(g, [n_params, 1])
h_mat = tf.reshape(h, [n_params, n_params])
eye_eps = tf.eye(h_mat.shape[0]) * 1e-3
update = tf.linalg.solve(h_mat + eye_eps, g_vec)
print(n_params, tf.reduce_max(abs(h_mat - tf.transpose(h_mat))).numpy() < 1e-5, update.shape)
# %%
x = tf.random.stateless_normal([7, 5], [4, 4])
layer1 = tf.keras.layers.Dense(8, activation=tf.nn.elu, kernel_initializer=tf.keras.initializers.Constant(0.2))
layer2 = tf.keras.layers.Dense(6, activation=tf.nn.elu, kernel_initializer=tf.keras.initializers.Constant(0.3))
with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(x)
    y = layer1(x)
    y = layer2(y)
print(y.shape)
j = tape.jacobian(y, x)
print(j.shape)
jb = tape.batch_jacobian(y, x)
print(jb.shape, tf.reduce_max(abs(jb - tf.einsum("bxby->bxy", j))).numpy())
# %%
x = tf.Variable([2.0, 2.0])
y = tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x))


# %%
@tf.function
def unwatched(a, v):
    with tf.GradientTape() as tape:
        b = a * a
    with tf.GradientTape() as other:
        c = v * 2.0
    return tape.gradient(b, a), other.gradient(c, v), other.gradient(v, v), tape.gradient(a, v)


print(unwatched(tf.constant(3.0), tf.Variable(1.0)))
# %%
@tf.function
def second(v):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            w = v**3
        first = inner.gradient(w, v)
    return first, outer.gradient(first, v), outer.jacobian(first, v)


print(*second(tf.Variable(2.0)))
# %%
@tf.custom_gradient
def layer_norm(x):
    mean = tf.reduce_mean(x)

    def grad(upstream):
        return upstream * 2.0 + mean

    return x - mean, grad


with tf.GradientTape() as tape:
    v = tf.Variable([1.0, 3.0])
    out = tf.reduce_sum(layer_norm(v) ** 2)
print(tape.gradient(out, v), out)
