"""Loops that tensors decide: number of traces, exits, and types of loop state."""

# ruff: noqa: C417, RET503 - the programs are meant as they are written



import autoconv as tf
from tests.behaviours.facts import values


def test_line_103_what_is_unrolled_and_what_is_a_loop(capfd):
    @tf.function
    def over_range(n):
        total = 0
        for i in tf.range(n):
            print("body")
            total += i
        return total

    assert over_range(tf.constant(5)).numpy() == 10
    assert capfd.readouterr().out == "body\n"

    @tf.function
    def over_rows(x):
        total = tf.zeros(2)
        for row in x:
            print("row", row.shape)
            total += row
        return total

    assert over_rows(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).numpy().tolist() == [9.0, 12.0]
    assert capfd.readouterr().out == "row (2,)\n"

    @tf.function
    def unrolled(x):
        for i in range(3):
            print("range", i)
            x += i
        for item in [10, 20]:
            print("list", item)
            x += item
        for key in {"a": 1, "b": 2}:
            print("dict", key)
        for i, item in enumerate([7, 8]):
            print("enumerate", i, item)
        for a, b in zip([1, 2], [3, 4], strict=True):
            print("zip", a, b)
        return x

    assert unrolled(tf.constant(0)).numpy() == 33
    assert capfd.readouterr().out.splitlines() == [
        "range 0", "range 1", "range 2", "list 10", "list 20", "dict a", "dict b",
        "enumerate 0 7", "enumerate 1 8", "zip 1 3", "zip 2 4",
    ]  # fmt: skip

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
            elif i % 5 == 0:
                print("Tracing buzz branch")
                tf.print("buzz")
            else:
                print("Tracing default branch")
                tf.print(i)

    fizzbuzz(tf.constant(5))
    first = capfd.readouterr()
    assert first.out.splitlines() == [
        "Tracing for loop",
        "Tracing fizzbuzz branch",
        "Tracing fizz branch",
        "Tracing buzz branch",
        "Tracing default branch",
    ]
    assert first.err.splitlines() == ["1", "2", "fizz", "4", "buzz"]
    fizzbuzz(tf.constant(20))
    second = capfd.readouterr()
    assert second.out == ""
    assert second.err.splitlines() == [
        "fizzbuzz" if i % 15 == 0 else "fizz" if i % 3 == 0 else "buzz" if i % 5 == 0 else str(i) for i in range(1, 21)
    ]


def test_line_104_builtins_on_tensors():
    @tf.function
    def over_range(n):
        total = 0
        for i in range(n):
            total += i
        return total

    assert over_range(tf.constant(5)).numpy() == 10

    sizes = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def length(x):
        sizes.append(len(x))
        return len(x)

    assert length([1, 2, 3]).numpy() == 3
    assert length(tf.zeros([0], tf.int32)).numpy() == 0
    assert [size.shape.rank for size in sizes] == [0]

    @tf.function
    def conversions(t):
        return int(t), float(t), abs(t)

    assert values(*conversions(tf.constant(-2.5))) == [-2, -2.5, 2.5]
    assert [r.dtype for r in conversions(tf.constant(-2.5))] == [tf.int32, tf.float32, tf.float32]
    assert [r.dtype for r in conversions(tf.constant(3))] == [tf.int32, tf.float32, tf.int32]

    @tf.function
    def reductions(t):
        return sorted(t), max(t), min(t), sum(t), any(t > 2), all(t > 2)

    ordered, *others = reductions(tf.constant([3, 1, 2]))
    assert list(map(int, ordered)) == [1, 2, 3]
    assert values(*others) == [3, 1, 6, True, False]

    @tf.function
    def iterators(t):
        doubled, filtered, pairs, numbered = 0, 0, 0, 0
        for x in map(lambda v: v * 2, t):
            doubled += x
        for x in filter(lambda v: v > 1, t):
            filtered += x
        for i, x in enumerate(t):
            numbered += i * x
        for a, b in zip(t, t, strict=False):
            pairs += a * b
        return doubled, filtered, numbered, pairs, list(t), next(iter(t))

    *sums, listed, first = iterators(tf.constant([3, 1, 2]))
    assert values(*sums) == [12, 5, 5, 14]
    assert values(*listed) == [3, 1, 2]
    assert first.numpy() == 3


def test_line_106_while_on_a_tensor(capsys):
    def shown(name):
        print(name)
        return True

    @tf.function
    def f(x):
        while shown("cond") and x < 10:
            print("body", x)
            x = x * 2
        print("after", x)
        return x

    assert f(tf.constant(3)).numpy() == 12
    lines = capsys.readouterr().out.splitlines()
    assert 'body Tensor("while/Placeholder:0", shape=(), dtype=int32)' in lines
    assert lines.count('body Tensor("while/Placeholder:0", shape=(), dtype=int32)') == 1
    assert lines[-1] == 'after Tensor("while:2", shape=(), dtype=int32)'
    assert "cond" in lines

    @tf.function
    def born_in_the_body(x):
        while x < 10:
            y = x * 3
            x = x * 2
        return x, y

    assert values(*born_in_the_body(tf.constant(3))) == [12, 18]


def test_line_107_break_and_continue():
    @tf.function
    def f(n):
        total, last = 0, -1
        for i in tf.range(n):
            last = i
            if i == 2:
                continue
            if i == 6:
                break
            total += i
        return total, last

    assert values(*f(tf.constant(10))) == [13, 6]
    assert values(*f(tf.constant(2))) == [1, 1]


def test_line_108_a_tensor_leaves_a_loop_of_python():
    @tf.function
    def breaks(x):
        for i in range(10):
            if i > x:
                break
        return i

    assert values(*map(breaks, map(tf.constant, (3, -1, 100)))) == [4, 0, 9]

    @tf.function
    def endless(x):
        while True:
            x = x * 2
            if x > 100:
                break
        return x

    assert values(endless(tf.constant(3)), endless(tf.constant(200))) == [192, 400]

    @tf.function
    def continues(x):
        total = 0
        for i in range(5):
            if i == x:
                continue
            total += i
        return total

    assert values(continues(tf.constant(2)), continues(tf.constant(9))) == [8, 10]


def test_line_109_return_inside_a_loop():
    @tf.function
    def in_tensor_loop(x):
        for i in tf.range(10):
            if i * i > x:
                return i
        return -1

    assert values(in_tensor_loop(tf.constant(10)), in_tensor_loop(tf.constant(1000))) == [4, -1]

    @tf.function
    def static_condition(x, early):
        while x < 100:
            x = x * 2
            if early:
                return x
        return -x

    assert values(static_condition(tf.constant(3), True), static_condition(tf.constant(3), False)) == [6, -192]

    @tf.function
    def without_another(x):
        for i in tf.range(10):
            if i * i > x:
                return i

    assert without_another(tf.constant(10)).numpy() == 4
    assert without_another(tf.constant(1000)) is None

    @tf.function
    def nested(x):
        for i in tf.range(5):
            for j in range(5):
                if i * j == x:
                    return i, j
        return -1, -1

    assert values(*nested(tf.constant(6))) == [2, 3]
    assert values(*nested(tf.constant(7))) == [-1, -1]


def test_line_112_loop_options():
    @tf.function
    def invariants(n):
        x = tf.zeros((0, 10))
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None, 10]))])
            x = tf.concat([x, tf.ones((1, 10))], axis=0)
        return x

    assert invariants(tf.constant(5)).shape == (5, 10)

    @tf.function
    def at_most(x):
        while tf.constant(True):
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x = x + 1
        return x

    assert at_most(tf.constant(0)).numpy() == 3

    @tf.function
    def of_python(x):
        for _ in range(5):
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x = x + 1
        return x

    assert of_python(tf.constant(0)).numpy() == 5
