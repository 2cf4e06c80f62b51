"""Variables in functions: created once, held in three ways, read and written in the order of the program."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import autoconv as tf

SINGLETON = "tried to create variables on non-first call"


def test_line_063_a_variable_made_on_every_call():
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        v.assign_add(x)
        return v

    for _ in range(2):
        with pytest.raises(ValueError, match=SINGLETON) as raised:
            f(1.0)
        text = str(raised.value)
        assert "only supports singleton" in text and "created once or created outside" in text
        assert "v = tf.Variable(1.0)" in text  # the line that creates it
        assert "create it before the function is called" in text and "is None" in text  # both remedies
        assert raised.traceback[-1].name == "f"


def test_line_064_prints_once_and_fails(capfd):
    def f():
        a = tf.constant([[10, 10], [11.0, 1.0]])
        x = tf.constant([[1.0, 0.0], [0.0, 1.0]])
        b = tf.Variable(12.0)
        y = tf.matmul(a, x) + b
        print("PRINT: ", y)
        tf.print("TF-PRINT: ", y)
        return y

    assert str(f().numpy()) == "[[22. 22.]\n [23. 13.]]"
    capfd.readouterr()
    with pytest.raises(ValueError, match=SINGLETON):
        tf.function(f)()
    assert capfd.readouterr() == ('PRINT:  Tensor("add:0", shape=(2, 2), dtype=float32)\n', "")


def test_line_065_a_print_before_the_variable_appears_twice(capsys):
    @tf.function
    def f():
        print("before")
        return tf.Variable(1.0)

    with pytest.raises(ValueError, match=SINGLETON):
        f()
    assert capsys.readouterr().out == "before\n" * 2


b = None


class Holder:
    def __init__(self):
        self._b = None
        self.v = None

    @tf.function
    def method(self, x):
        print("trace")
        if self._b is None:
            self._b = tf.Variable(1.0)
        return self._b.assign_add(x)


def test_line_066_created_once_three_ways(capsys):
    @tf.function
    def by_global(x):
        global b
        print("trace")
        if b is None:
            b = tf.Variable(1.0)
        return b.assign_add(x)

    obj = Holder()

    @tf.function
    def by_attribute(x):
        print("trace")
        if obj.v is None:
            obj.v = tf.Variable(1.0)
        return obj.v.assign_add(x)

    for call in (by_global, obj.method, by_attribute):
        # Numbers of Python's are part of the key: 2.0 traces once more.
        assert float(call(1.0)) == 2.0
        assert capsys.readouterr().out == "trace\n" * 2
        assert call.experimental_get_tracing_count() == 2
        assert float(call(2.0)) == 4.0
        assert float(call(1.0)) == 5.0
        capsys.readouterr()
    assert float(b) == float(obj._b) == float(obj.v) == 5.0


def test_line_067_the_first_value_is_that_of_the_first_call():
    class C:
        v = None

    c = C()

    @tf.function
    def f(x):
        if c.v is None:
            c.v = tf.Variable(x * 2)
        return c.v.read_value()

    assert float(f(tf.constant(3.0))) == 6.0
    assert float(f(tf.constant(10.0))) == 6.0
    assert float(c.v) == 6.0


def test_line_067_also_where_the_call_is_traced_itself():
    class C:
        v = None

    @tf.function
    def inner(x):
        if C.v is None:
            C.v = tf.Variable(x * 2)
        return C.v.read_value()

    @tf.function
    def outer(y):
        return inner(y + 1.0)

    assert float(outer(tf.constant(1.0))) == 4.0
    assert float(outer(tf.constant(9.0))) == 4.0


def test_line_068_another_variable_on_a_later_trace():
    variables = []

    @tf.function
    def f(x):
        if len(variables) < x.shape[0]:
            variables.append(tf.Variable(1.0))
        return variables[0] + x

    f(tf.constant([1.0]))
    with pytest.raises(ValueError, match=SINGLETON) as raised:
        f(tf.constant([1.0, 2.0]))
    assert "variables.append(tf.Variable(1.0))" in str(raised.value)
    assert len(variables) == 1


def test_line_069_a_variable_as_argument_is_by_reference():
    @tf.function
    def fb(b):
        return b.assign_add(1)

    v = tf.Variable(0)
    assert [int(fb(v)) for _ in range(3)] == [1, 2, 3]
    assert int(v) == 3


def test_line_070_storage_is_held_and_freed():
    v = tf.Variable(5.0)
    storage, variable = weakref.ref(v.storage), weakref.ref(v)
    holder = {"v": v}

    @tf.function
    def f(x):
        return holder["v"] + x

    assert float(f(tf.constant(1.0))) == 6.0
    concrete = f.get_concrete_function(tf.constant(1.0))
    del holder["v"], v
    gc.collect()
    assert variable() is None
    assert float(concrete(tf.constant(2.0))) == 7.0
    del f, concrete
    gc.collect()
    assert storage() is None


def test_line_071_assignments_give_the_value_at_that_point():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v.assign(5)
        b = v.read_value()
        v.assign_add(1)
        v.assign_sub(2)
        return a, b, v, v.value()

    assert [float(x) for x in f()] == [5.0, 5.0, 4.0, 4.0]


def test_line_072_reads_and_writes_keep_their_order():
    v = tf.Variable(1)

    @tf.function
    def f():
        before = v.read_value()
        v.assign(10)
        after = v.read_value()
        if v > 5:
            v.assign_add(1)
        for _ in tf.range(3):
            v.assign_add(1)
        return before, after, v.read_value()

    assert [int(x) for x in f()] == [1, 10, 14]


def test_line_073_a_module_that_counts():
    class Count(tf.Module):
        def __init__(self):
            self.count = None

        @tf.function
        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    c = Count()
    assert [int(c()), int(c())] == [1, 2]


def test_line_074_init_scope():
    def run(lifted):
        counter = tf.Variable(0)
        seen = []

        @tf.function
        def f():
            if lifted:
                with tf.init_scope():
                    seen.append(tf.executing_eagerly())
                    counter.assign_add(1)
            else:
                counter.assign_add(1)
            return counter.read_value()

        return [int(f()) for _ in range(3)], seen

    assert run(True) == ([1, 1, 1], [True])
    assert run(False) == ([1, 2, 3], [])


def test_variable_creator_scope_in_a_function():
    names = []

    def creator(following, **arguments):
        names.append(arguments["name"])
        return following(**arguments)

    class C:
        v = None

    @tf.function
    def f():
        if C.v is None:
            with tf.variable_creator_scope(creator):
                C.v = tf.Variable(np.float32(3), name="inside")
        return C.v + 1

    assert float(f()) == 4.0 and names == ["inside"]


def test_a_closure_checked_for_none():
    b = None

    @tf.function
    def f(x):
        nonlocal b
        if b is None:
            b = tf.Variable(1.0)
        return b.assign_add(x)

    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [2.0, 3.0, 4.0]
    assert float(b) == 4.0
