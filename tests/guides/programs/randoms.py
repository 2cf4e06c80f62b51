import autoconv as tf

# %%
g1 = tf.random.Generator.from_seed(1)
x1 = g1.normal(shape=[2, 3])
g2 = tf.random.Generator.from_seed(1)
print(bool(tf.reduce_all(x1 == g2.normal([2, 3]))), x1.shape, x1.dtype)
print(x1)
# %%
g1 = tf.random.Generator.from_seed(1, alg="philox")
print(g1.normal(shape=[2, 3]), g1.state, g1.algorithm, g1.key)
# %%
g = tf.random.Generator.from_non_deterministic_state()
print(g.normal([2]).shape)
g = tf.random.Generator.from_seed(1)
print(g.normal([2]), g.normal([2]))
g.reset_from_seed(1)
print(g.normal([2]), g.uniform([2]), g.uniform([3], maxval=10, dtype=tf.int32), g.truncated_normal([2]))
# %%
tf.random.set_global_generator(tf.random.Generator.from_seed(5))
print(tf.random.get_global_generator().normal([3]))
print([n.normal([2]) for n in tf.random.Generator.from_seed(1).split(3)])
print(tf.random.Generator.from_seed(1).make_seeds(2), tf.random.Generator.from_seed(1).binomial([2], 10.0, 0.5))
print(tf.random.Generator.from_seed(3).uniform_full_int([2]))
# %%
g = tf.random.Generator.from_seed(1)


@tf.function
def foo():
    return g.normal([2])


print(foo(), foo())
g.skip(1000)
print(g.state)
g2 = tf.random.Generator.from_state(g.state, alg=g.algorithm)
print(bool(tf.reduce_all(g2.normal([3]) == g.normal([3]))))
# %%
g = None


@tf.function
def made_inside():
    global g
    if g is None:
        g = tf.random.Generator.from_seed(1)
    return g.normal([])


print(made_inside(), made_inside())


# %%
@tf.function
def with_argument(g):
    return g.normal([])


print(with_argument(tf.random.Generator.from_seed(1)), with_argument(tf.random.Generator.from_seed(2)))
# %%
print(tf.random.stateless_normal(shape=[2, 3], seed=[1, 2]), tf.random.stateless_normal(shape=[2, 3], seed=[1, 2]))
print(tf.random.stateless_uniform([2], seed=[3, 4]), tf.random.stateless_uniform([3], [1, 2], 0, 10, tf.int32))
print(tf.random.stateless_truncated_normal([3], [1, 1]), tf.random.split([1, 2], 3), tf.random.fold_in([1, 2], 3))
print(tf.random.stateless_binomial([3], [1, 2], 10.0, 0.5), tf.random.stateless_poisson([3], [1, 2], 2.0))
print(tf.random.stateless_gamma([3], [1, 2], 2.0), tf.random.stateless_categorical([[0.0, 1.0]], 4, [1, 2]))
print(
    tf.random.experimental.stateless_shuffle([1, 2, 3, 4, 5], seed=[1, 2]),
    tf.random.experimental.stateless_split([1, 2]),
)
# %%
tf.random.set_seed(1234)
print(tf.random.uniform([1]), tf.random.uniform([1]))
tf.random.set_seed(1234)
print(tf.random.uniform([1]), tf.random.normal([2]), tf.random.uniform([2], seed=7), tf.random.normal([2], seed=7))


# %%
@tf.function
def f():
    return tf.random.uniform([1]), tf.random.uniform([1])


@tf.function
def g():
    return tf.random.uniform([1]), tf.random.uniform([1])


tf.random.set_seed(1234)
print(f(), g())


@tf.function
def h():
    return tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1)


tf.random.set_seed(1)
print(h(), h())
tf.random.set_seed(1)
print(tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1))
# %%
tf.random.set_seed(3)
print(tf.random.shuffle([1, 2, 3, 4]), tf.random.categorical([[1.0, 2.0]], 3), tf.random.truncated_normal([2]))
print(tf.random.gamma([2], 1.5), tf.random.poisson([2], 3.0), tf.random.uniform([3], 0, 9, tf.int64))
# %%
filename = __import__("tempfile").mkdtemp() + "/checkpoint"
g = tf.random.Generator.from_seed(1)
cp = tf.train.Checkpoint(generator=g)
print(g.normal([]))
path = cp.write(filename)
print("RNG stream from this point:", g.normal([]))
cp.restore(path)
print("RNG stream from this point:", g.normal([]))
