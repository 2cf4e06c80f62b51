import autoconv as tf

# %%
my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
my_variable = tf.Variable(my_tensor)
bool_variable = tf.Variable([False, False, False, True])
complex_variable = tf.Variable([5 + 4j, 6 + 1j])
print(my_variable, bool_variable, complex_variable)
# %%
print("Shape: ", my_variable.shape)
print("DType: ", my_variable.dtype)
print("As NumPy: ", my_variable.numpy())
print("Viewed as a tensor:", tf.convert_to_tensor(my_variable))
print("Index of highest value:", tf.math.argmax(my_variable))
print("Copying and reshaping: ", tf.reshape(my_variable, [1, 4]))
# %%
a = tf.Variable([2.0, 3.0])
a.assign([1, 2])
print(a)
try:
    a.assign([1.0, 2.0, 3.0])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
# %%
b = tf.Variable(a)
a.assign([5, 6])
print(a.numpy(), b.numpy(), a.assign_add([2, 3]).numpy(), a.assign_sub([7, 9]).numpy())
# %%
a = tf.Variable(my_tensor, name="Mark")
b = tf.Variable(my_tensor + 1, name="Mark")
print(a == b, a.name, b.name)
print(a)
# %%
step = tf.Variable(1, trainable=False)
print(step.trainable, step, repr(step))
# %%
with tf.device("CPU:0"):
    a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    print(tf.matmul(a, b))
# %%
v = tf.Variable([1.0, 2.0, 3.0])
v[1].assign(9.0)
v.scatter_add(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 2])))
v.scatter_nd_update([[0]], [7.0])
print(v.read_value(), v.value(), v[0] + 1)
# %%
shaped = tf.Variable([1.0], shape=tf.TensorShape(None))
shaped.assign([[1.0, 2.0]])
print(shaped, shaped.shape)
