"""Traces called with their tensors alone, Python functions as decorated ops, variables in the graphs of layers."""

# %%
import autoconv as tf


class Line:
    def __init__(self):
        self.slope = 2.0


def height(line, x):
    return line.slope * x


trace = tf.function(height).get_concrete_function(Line(), tf.constant(1.0))
print(trace(tf.constant(4.0)), trace(x=tf.constant(5.0)))

# %%
double = tf.function(lambda x: x + x).get_concrete_function(tf.TensorSpec([], tf.string))
print(double.inference_fn(tf.constant("ab")))


# %%
@tf.py_function(Tout=tf.float32)
def halve(x):
    print("running")
    return x / 2


@tf.function
def quarter(x):
    print("tracing")
    return halve(halve(x))


print(quarter(tf.constant(8.0)), quarter(tf.constant(4.0)))

# %%
try:
    tf.numpy_function(inp=[1.0], Tout=tf.float32)
except TypeError as error:
    print(type(error).__name__)


# %%
class Scale(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.factor = tf.Variable(tf.ones([input_shape[-1]]) * 3.0, name="factor")

    def call(self, x):
        return x * self.factor


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = Scale(), Scale()

    def call(self, x):
        return self.second(self.first(x))


model = Model()
print(model(tf.constant([[1.0, 2.0]])), [tuple(v.shape) for v in (model.first.factor, model.second.factor)])


# %%
@tf.function
def step(w, x, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))


weight = tf.Variable(2.0)
optimizer = tf.keras.optimizers.SGD(0.25)
step(weight, tf.constant([-1.0]), optimizer)
print(weight.numpy())
