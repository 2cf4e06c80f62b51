import tempfile

import numpy as np

import autoconv as tf

tf1 = tf.compat.v1
folder = tempfile.mkdtemp()


def names_and_values(path):
    reader = tf.train.load_checkpoint(path)
    shapes = sorted(name for name in reader.get_variable_to_shape_map() if "OBJECT" not in name)
    return [(name, float(reader.get_tensor(name))) for name in shapes]


# %%
tf1.disable_tensor_equality()
first, second = tf.Variable(1.0), tf.Variable(1.0)
print(first == second, first == first, len({first, second}))
tf1.enable_tensor_equality()
print(bool(first == second), first is second)
# %%
try:
    {first, tf.constant(2.0)}
except TypeError as error:
    print(error)
references = {first.ref(), tf.constant(2.0).ref()}
print(first.ref() in references, first.ref(), first.ref().deref() is first)
# %%
with tf.Graph().as_default(), tf1.Session() as session:
    speed = tf1.get_variable("speed", initializer=3.0)
    with tf1.variable_scope("car"):
        mass = tf1.get_variable("mass", initializer=4.0)
    session.run(tf1.global_variables_initializer())
    saver_path = tf1.train.Saver().save(session, folder + "/saver")
    object_path = tf.train.Checkpoint(parts=[speed, mass]).save(folder + "/objects")
print(names_and_values(saver_path))
print(names_and_values(object_path))
# %%
speed, mass = tf.Variable(0.0, name="speed"), tf.Variable(0.0, name="car/mass")
tf.train.Checkpoint(variables=[speed, mass]).restore(saver_path)
print(speed, mass)
# %%
with tf.Graph().as_default(), tf1.Session() as session:
    with tf1.variable_scope("new"):
        speed = tf1.get_variable("speed", initializer=0.0)
        mass = tf1.get_variable("car/mass", initializer=0.0)
    tf1.train.init_from_checkpoint(saver_path, {"/": "new/"})
    session.run(tf1.global_variables_initializer())
    print(session.run([speed, mass]))
    tf.train.Checkpoint(parts=[mass, speed]).restore(object_path).run_restore_ops()
    print(session.run([speed, mass]))
# %%
def make_model():
    return tf.keras.Sequential([tf.keras.layers.Dense(size) for size in (3, 4, 5)])


trained, fresh = make_model(), make_model()
trained(tf.ones([1, 2]))
tf.train.Checkpoint(model=fresh).restore(tf.train.Checkpoint(model=trained).save(folder + "/model"))


@tf.function
def predict(x):
    return fresh(x)


x = tf.constant([[1.0, 2.0]])
print(predict(x).shape, bool(np.allclose(predict(x), trained(x))))
