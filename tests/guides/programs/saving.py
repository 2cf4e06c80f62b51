import os
import tempfile

import autoconv as tf

root = tempfile.mkdtemp()


# %%
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([1, 5]) * 0.1, name="kernel")
        self.b = tf.Variable(tf.zeros([5]), name="bias")

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.float32)])
    def __call__(self, x):
        return x @ self.w + self.b


def toy_dataset():
    inputs = tf.range(10.0)[:, None]
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    return tf.data.Dataset.from_tensor_slices({"x": inputs, "y": labels}).repeat().batch(2)


class SGD(tf.Module):
    def __init__(self, rate):
        self.rate = tf.Variable(rate)


net, opt = Net(), SGD(0.001)


def train_step(net, example, optimizer):
    with tf.GradientTape() as tape:
        output = net(example["x"])
        loss = tf.reduce_mean(tf.abs(output - example["y"]))
    variables = net.trainable_variables
    for v, g in zip(variables, tape.gradient(loss, variables), strict=False):
        v.assign_sub(optimizer.rate * g)
    return loss


# %%
iterator = iter(toy_dataset())
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net, iterator=iterator)
manager = tf.train.CheckpointManager(ckpt, root + "/tf_ckpts", max_to_keep=3)


def train_and_checkpoint(net, manager):
    ckpt.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        print(f"Restored from {os.path.basename(manager.latest_checkpoint)}")
    else:
        print("Initializing from scratch.")
    for _ in range(50):
        loss = train_step(net, next(iterator), opt)
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 10 == 0:
            save_path = manager.save()
            print(f"Saved checkpoint for step {int(ckpt.step)}: {os.path.basename(save_path)}")
            print(f"loss {loss.numpy():1.4f}")


train_and_checkpoint(net, manager)
# %%
net, opt, iterator = Net(), SGD(0.001), iter(toy_dataset())
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net, iterator=iterator)
manager = tf.train.CheckpointManager(ckpt, root + "/tf_ckpts", max_to_keep=3)
train_and_checkpoint(net, manager)
print(
    [os.path.basename(p) for p in manager.checkpoints], os.path.basename(tf.train.latest_checkpoint(root + "/tf_ckpts"))
)
# %%
to_restore = tf.Variable(tf.zeros([5]))
fake_layer = tf.train.Checkpoint(b=to_restore)
fake_net = tf.train.Checkpoint(net=fake_layer)
status = fake_net.restore(tf.train.latest_checkpoint(root + "/tf_ckpts"))
print(to_restore.numpy())
status.assert_existing_objects_matched()
try:
    status.assert_consumed()
except AssertionError:
    print("not consumed")
# %%
deep = tf.Module()
print(hasattr(deep, "v"))
saved = tf.train.Checkpoint(m=tf.Module())
saved.m.v = tf.Variable([1.0, 2.0])
path = saved.save(root + "/deferred")
fresh = tf.train.Checkpoint(m=tf.Module())
status = fresh.restore(path)
fresh.m.v = tf.Variable([0.0, 0.0])
print(fresh.m.v, type(status).__name__)
# %%
save = tf.train.Checkpoint()
save.listed = [tf.Variable(1.0)]
save.listed.append(tf.Variable(2.0))
save.mapped = {"one": save.listed[0]}
save.mapped["two"] = save.listed[1]
save_path = save.save(root + "/tf_list_example")
restore = tf.train.Checkpoint()
v2 = tf.Variable(0.0)
restore.mapped = {"two": v2}
restore.restore(save_path)
print(v2.numpy(), restore.mapped, save.listed)
# %%
reader = tf.train.load_checkpoint(save_path)
print(sorted(reader.get_variable_to_shape_map().items()))
print(reader.get_tensor("listed/0/.ATTRIBUTES/VARIABLE_VALUE"), reader.has_tensor("nothing"))
print(sorted(reader.get_variable_to_dtype_map().items()))


# %%
class CustomModule(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.0)

    @tf.function
    def __call__(self, x):
        print("Tracing with", x)
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, new_v):
        self.v.assign(new_v)


module = CustomModule()
module(tf.constant(0.0))
tf.saved_model.save(module, root + "/no_signatures")
imported = tf.saved_model.load(root + "/no_signatures")
assert imported(tf.constant(3.0)).numpy() == 3
imported.mutate(tf.constant(2.0))
assert imported(tf.constant(3.0)).numpy() == 6
try:
    imported(tf.constant([3.0]))
except ValueError as e:
    print("ValueError", str(e).splitlines()[0])
print(list(imported.signatures.keys()), imported.v)
# %%
call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
tf.saved_model.save(module, root + "/signature", signatures=call)
loaded = tf.saved_model.load(root + "/signature")
print(list(loaded.signatures.keys()))
infer = loaded.signatures["serving_default"]
print(
    infer(tf.constant(4.0)),
    infer(x=tf.constant([1.0, 2.0])),
    infer.structured_outputs,
    infer.structured_input_signature,
)
print(loaded(tf.constant([2.0, 3.0])))
# %%
signatures = {
    "serving_default": call,
    "array_input": module.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32)),
}
tf.saved_model.save(module, root + "/multiple", signatures=signatures)
print(
    sorted(tf.saved_model.load(root + "/multiple").signatures), tf.saved_model.contains_saved_model(root + "/multiple")
)


class WithNames(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def __call__(self, text):
        return {"custom_output_name": tf.strings.upper(text)}


named = WithNames()
tf.saved_model.save(named, root + "/named", signatures=named.__call__.get_concrete_function())
loaded = tf.saved_model.load(root + "/named")
print(loaded.signatures["serving_default"].structured_outputs, loaded.signatures["serving_default"](tf.constant("a")))
print(loaded(tf.constant("b")))
# %%
imported.v.assign(5.0)
with tf.GradientTape() as tape:
    loss = imported(tf.constant(2.0)) ** 2
print(loss, tape.gradient(loss, imported.v))
