import tempfile

import autoconv as tf


# %%
class SimpleModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.a_variable = tf.Variable(5.0, name="train_me")
        self.non_trainable_variable = tf.Variable(5.0, trainable=False, name="do_not_train_me")

    def __call__(self, x):
        return self.a_variable * x + self.non_trainable_variable


simple_module = SimpleModule(name="simple")
print(simple_module(tf.constant(5.0)), simple_module.name)
print("trainable variables:", simple_module.trainable_variables)
print("all variables:", simple_module.variables)


# %%
class Dense(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(
            tf.reshape(tf.range(1.0, in_features * out_features + 1), [in_features, out_features]) / 10, name="w"
        )
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x):
        y = tf.matmul(x, self.w) + self.b
        return tf.nn.relu(y)


class SequentialModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    def __call__(self, x):
        x = self.dense_1(x)
        return self.dense_2(x)


my_model = SequentialModule(name="the_model")
print("Model results:", my_model(tf.constant([[2.0, 2.0, 2.0]])))
print("Submodules:", my_model.submodules)
for var in my_model.variables:
    print(var, "\n")


# %%
class FlexibleDenseModule(tf.Module):
    def __init__(self, out_features, name=None):
        super().__init__(name=name)
        self.is_built = False
        self.out_features = out_features

    def __call__(self, x):
        if not self.is_built:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.out_features]), name="w")
            self.b = tf.Variable(tf.zeros([self.out_features]), name="b")
            self.is_built = True
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class MySequentialModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = FlexibleDenseModule(out_features=3)
        self.dense_2 = FlexibleDenseModule(out_features=2)

    @tf.function
    def __call__(self, x):
        return self.dense_2(self.dense_1(x))


flexible = MySequentialModule(name="the_model")
print("Model results:", flexible(tf.constant([[2.0, 2.0, 2.0]])))
print(flexible([[2.0, 2.0, 2.0]]), flexible([[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]]))
# %%
chkp_path = tempfile.mkdtemp() + "/my_checkpoint"
checkpoint = tf.train.Checkpoint(model=my_model)
checkpoint.write(chkp_path)
print(tf.train.list_variables(chkp_path))
new_model = SequentialModule()
new_model.dense_1.w.assign(tf.zeros([3, 3]))
new_checkpoint = tf.train.Checkpoint(model=new_model)
new_checkpoint.restore(chkp_path)
print(new_model(tf.constant([[2.0, 2.0, 2.0]])))
# %%
path = tempfile.mkdtemp() + "/the_saved_model"
tf.saved_model.save(flexible, path)
loaded = tf.saved_model.load(path)
print(isinstance(loaded, MySequentialModule))
print(loaded([[2.0, 2.0, 2.0]]), loaded([[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]]))
try:
    loaded([[1.0, 2.0]])
except Exception as e:
    print(type(e).__name__)


# %%
class Named(tf.Module):
    def __init__(self):
        super().__init__(name="outer")
        with self.name_scope:
            self.v = tf.Variable(1.0, name="v")
        self.parts = [tf.Variable(2.0, name="p0"), {"k": tf.Variable(3.0, name="p1")}]

    @tf.Module.with_name_scope
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = tf.Variable(tf.ones([2]), name="w")
        return x * self.w


n = Named()
print(n(2.0), n.v.name, n.w.name, [v.name for v in n.variables], n.name_scope.name)
print(tf.Module(), Named.__mro__[1].__name__)
