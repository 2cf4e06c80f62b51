"""Section C: the order of reads and writes of variables, modules with counters, and `init_scope`."""

import autoconv as tf


def test_line_072_reads_and_writes_go_as_written():
    v = tf.Variable(1)

    @tf.function
    def f(x):
        before = v.read_value()
        v.assign(10)
        after = v.read_value()
        if x > 0:
            v.assign_add(1)
        for _ in tf.range(3):
            v.assign_add(1)
        return before, after, v.read_value()

    assert [int(t) for t in f(tf.constant(1))] == [1, 10, 14]
    assert v.numpy() == 14


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
    assert [c().numpy(), c().numpy()] == [1, 2]


def test_line_074_init_scope_lifts_out_of_the_graph():
    eager = []

    def counter(lifted):
        v = tf.Variable(0)

        @tf.function
        def f():
            if lifted:
                with tf.init_scope():
                    eager.append(tf.executing_eagerly())
                    v.assign_add(1)
            else:
                v.assign_add(1)
            return v.read_value()

        return f

    lifted, in_the_graph = counter(True), counter(False)
    assert [lifted().numpy() for _ in range(3)] == [1, 1, 1]
    assert [in_the_graph().numpy() for _ in range(3)] == [1, 2, 3]
    assert eager == [True]
