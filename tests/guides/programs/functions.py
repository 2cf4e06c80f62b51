import autoconv as tf


# %%
def a_regular_function(x, y, b):
    x = tf.matmul(x, y)
    return x + b


a_function = tf.function(a_regular_function)
x1, y1, b1 = tf.constant([[1.0, 2.0]]), tf.constant([[2.0], [3.0]]), tf.constant(4.0)
print(a_regular_function(x1, y1, b1).numpy(), a_function(x1, y1, b1).numpy())


# %%
@tf.function
def outer(x):
    y = tf.constant([[2.0], [3.0]])
    return a_regular_function(x, y, tf.constant(4.0))


print(outer(tf.constant([[1.0, 2.0]])).numpy())


# %%
def simple_relu(x):
    if tf.greater(x, 0):
        return x
    else:
        return 0


tf_simple_relu = tf.function(simple_relu)
print("First branch, with graph:", tf_simple_relu(tf.constant(1)).numpy())
print("Second branch, with graph:", tf_simple_relu(tf.constant(-1)).numpy())


# %%
@tf.function
def my_relu(x):
    return tf.maximum(0.0, x)


print(my_relu(tf.constant(5.5)))
print(my_relu([1, -1]))
print(my_relu(tf.constant([3.0, -3.0])))
print(my_relu.pretty_printed_concrete_signatures())


# %%
@tf.function
def get_MSE(y_true, y_pred):
    print("Calculating MSE!")
    return tf.reduce_mean(tf.pow(y_true - y_pred, 2))


y_true, y_pred = tf.constant([1, 2, 3, 4, 5]), tf.constant([2, 4, 3, 0, 1])
for _ in range(3):
    print(get_MSE(y_true, y_pred))
tf.config.run_functions_eagerly(True)
print(get_MSE(y_true, y_pred))
tf.config.run_functions_eagerly(False)


# %%
def unused_return_graph(x):
    tf.gather(x, [1])
    return x


print(tf.function(unused_return_graph)(tf.constant([0.0])))


# %%
@tf.function
def a_function_with_python_side_effect(x):
    print("Tracing!")
    return x * x + tf.constant(2)


print(a_function_with_python_side_effect(tf.constant(2)))
print(a_function_with_python_side_effect(tf.constant(3)))
print(a_function_with_python_side_effect(2))
print(a_function_with_python_side_effect(3))


# %%
@tf.function
def double(a):
    print("Tracing with", a)
    return a + a


print(double(tf.constant(1)))
print(double(tf.constant(1.1)))
print(double(tf.constant("a")))
double_strings = double.get_concrete_function(tf.constant("a"))
print(double_strings(a=tf.constant("c")))
print(double.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))(tf.constant("b")))
# %%
print(double_strings)
# %%
try:
    double_strings(tf.constant(1))
except Exception as e:
    print(type(e).__name__)


# %%
@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print("Tracing with", x)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
for wrong in (tf.constant([[1, 2], [3, 4]]), tf.constant([1.0, 2.0])):
    try:
        next_collatz(wrong)
    except TypeError as e:
        print(type(e).__name__)


# %%
@tf.function(reduce_retracing=True)
def g(x):
    print("Tracing with", x)
    return x


print(g(tf.constant([1, 2, 3])), g(tf.constant([1, 2, 3, 4, 5])), g(tf.constant([1, 2])))


# %%
@tf.function
def pow_(a, b):
    return a**b


square = pow_.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
print(square(tf.constant(10.0)).numpy())
print(square.structured_input_signature, square.structured_outputs)
# %%
graph = double_strings.graph
for node in graph.as_graph_def().node:
    print(f"{node.name} : {node.op}")


# %%
@tf.function
def f(x):
    while tf.reduce_sum(x) > 1:
        tf.print(x)
        x = tf.tanh(x)
    return x


print(f(tf.constant([0.9, 0.8, 0.1])))
# %%
print(tf.autograph.to_code(simple_relu) != "")


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        print("Tracing for loop")
        if i % 15 == 0:
            print("Tracing fizzbuzz branch")
            tf.print("fizzbuzz")
        elif i % 3 == 0:
            print("Tracing fizz branch")
            tf.print("fizz")
        else:
            print("Tracing default branch")
            tf.print(i)


fizzbuzz(tf.constant(5))


# %%
@tf.function
def dynamic_rnn(rnn_step, input_data, initial_state):
    input_data = tf.transpose(input_data, [1, 0, 2])
    max_seq_len = tf.shape(input_data)[0]
    states = tf.TensorArray(tf.float32, size=max_seq_len)
    state = initial_state
    for i in tf.range(max_seq_len):
        state = rnn_step(input_data[i], state)
        states = states.write(i, state)
    return tf.transpose(states.stack(), [1, 0, 2])


print(dynamic_rnn(lambda a, s: a + s, tf.reshape(tf.range(12.0), [2, 3, 2]), tf.zeros([2, 2])))


# %%
@tf.function
def side_effect(x):
    print("Traced with", x)
    tf.print("Executed with", x)


side_effect(1)
side_effect(1)
side_effect(2)
# %%
external_list = []


@tf.function
def leaky(x):
    external_list.append(x)
    return x


leaky(tf.constant(1))
print(type(external_list[0]).__name__)


# %%
class Count(tf.Module):
    def __init__(self):
        self.count = None

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(0)
        return self.count.assign_add(1)


c = Count()
print(c(), c())


# %%
@tf.function
def variable_inside(x):
    v = tf.Variable(1.0)
    v.assign_add(x)
    return v


try:
    variable_inside(1.0)
except Exception as e:
    print(f"{type(e).__name__}: {e}")


# %%
class Buggy(tf.types.experimental.TraceType if False else object):
    pass


@tf.function
def buggy(x):
    return x + foo


foo = tf.constant(1)
print("Buggy:", buggy(1))


# %%
@tf.function
def f(x):
    return x + 1 if tf.executing_eagerly() else x + 2


print(f(tf.constant(0)), tf.executing_eagerly(), f.experimental_get_tracing_count())
