import numpy as np

import autoconv as tf

# %%
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x**2
print(tape.gradient(y, x).numpy())
# %%
tf.random.set_seed(1)
w = tf.Variable([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], name="w")
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
x = [[1.0, 2.0, 3.0]]
with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(y**2)
dw, db = tape.gradient(loss, [w, b])
print(w.shape, dw.shape, dw, db)
print(tape.gradient(loss, {"w": w, "b": b})["b"])
# %%
x0 = tf.Variable(3.0, name="x0")
x1 = tf.Variable(3.0, name="x1", trainable=False)
x2 = tf.Variable(2.0, name="x2") + 1.0
x3 = tf.constant(3.0, name="x3")
with tf.GradientTape() as tape:
    y = (x0**2) + (x1**2) + (x2**2)
for g in tape.gradient(y, [x0, x1, x2, x3]):
    print(g)
print([var.name for var in tape.watched_variables()])
# %%
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x**2
    z = y * y
print(tape.gradient(z, y).numpy())
# %%
x = tf.constant([1, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x).numpy(), tape.gradient(y, x).numpy())
del tape
# %%
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y0, y1 = x**2, 1 / x
print(tape.gradient({"y0": y0, "y1": y1}, x).numpy())
# %%
x = tf.linspace(-10.0, 10.0, 5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
print(tape.gradient(y, x))
# %%
x = tf.constant(1.0)
v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    result = v0 if x > 0.0 else v1**2
print(tape.gradient(result, [v0, v1]), tape.gradient(result, x))
# %%
x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
with tf.GradientTape() as tape:
    y = tf.reduce_mean(np.mean(x**2, axis=0), axis=0)
print(tape.gradient(y, x))
# %%
x = tf.constant(10)
with tf.GradientTape() as g:
    g.watch(x)
    y = x * x
print(g.gradient(y, x))
# %%
x = tf.Variable([2.0, 2.0])
y = tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
# %%
image = tf.Variable([[[0.5, 0.0, 0.0]]])
try:
    with tf.GradientTape() as tape:
        y = tf.image.adjust_contrast(image, 0.5)
    print(tape.gradient(y, image))
except LookupError as e:
    print(type(e).__name__)
# %% control of recording
x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as t:
    x_sq = x * x
    with t.stop_recording():
        y_sq = y * y
    z = x_sq + y_sq
grad = t.gradient(z, {"x": x, "y": y})
print("dz/dx:", grad["x"])
print("dz/dy:", grad["y"])
# %%
reset = True
with tf.GradientTape() as t:
    y_sq = y * y
    if reset:
        t.reset()
    z = x * x + y_sq
print(t.gradient(z, [x, y]))
with tf.GradientTape() as t:
    z = x**2 + tf.stop_gradient(y**2)
print(t.gradient(z, [x, y]))


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
x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
print(dy_dx.numpy(), t2.gradient(dy_dx, x).numpy())
# %%
x = tf.linspace(-2.0, 2.0, 3)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
print(tape.jacobian(y, delta))
# %%
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
k = tf.Variable([[1.0, -1.0], [0.5, 2.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.nn.relu(x @ k)
print(tape.jacobian(y, k).shape, tape.batch_jacobian(y, x))
# %%
with tf.autodiff.ForwardAccumulator(k, tf.ones_like(k)) as acc:
    y = tf.reduce_sum(x @ k * k)
print(acc.jvp(y))
# %%
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = tf.reduce_sum(x**3)
    g = t1.gradient(y, x)
print(t2.jacobian(g, x))
