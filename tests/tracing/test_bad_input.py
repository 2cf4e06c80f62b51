"""Refused input: the class of the error, and the facts in its message about found and expected values."""

import asyncio
import builtins

import numpy as np
import pytest

import autoconv as ac

ONE = ac.constant(1)
SCALAR = ac.TensorSpec([], ac.int32)


def check_error(error, call, *facts):
    with pytest.raises(error) as caught:
        call()
    for fact in facts:
        assert fact in str(caught.value), f"{fact!r} is not in: {caught.value}"
    return caught.value


def identity(x):
    return x


@pytest.mark.parametrize("decorator", [ac.function, ac.compile])
@pytest.mark.parametrize("thing", [3, "f", np, None.__class__()], ids=str)
def test_objects_that_are_not_callable(decorator, thing):
    if thing is None:
        assert callable(decorator(thing))  # without a function it is a decorator with options
    else:
        check_error(TypeError, lambda: decorator(thing), "is not a callable object")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ac.data.Dataset.range(3).map(3), "`map` takes a function of an element, found 3"),
        (lambda: ac.data.Dataset.range(3).filter(None), "`filter` takes a function of an element, found None"),
        (lambda: ac.data.Dataset.range(3).flat_map("f"), "`flat_map` takes a function of an element, found 'f'"),
        (lambda: ac.map_fn(3, [ONE]), "'fn' must be callable, found 3"),
        (lambda: ac.scan(3, [ONE]), "'fn' must be callable, found 3"),
        (lambda: ac.foldl(3, [ONE]), "'fn' must be callable, found 3"),
        (lambda: ac.vectorized_map(3, [ONE]), "'fn' must be callable, found 3"),
        (lambda: ac.grad(3), "derivatives are taken of a function, found 3"),
        (lambda: ac.value_and_grad(3), "derivatives are taken of a function, found 3"),
        (lambda: ac.jacobian(3), "derivatives are taken of a function, found 3"),
        (lambda: ac.hessian(3), "derivatives are taken of a function, found 3"),
    ],
)
def test_arguments_that_are_no_functions_are_refused_at_once(call, message):
    check_error(TypeError, call, message)


@pytest.mark.parametrize("decorator", [ac.function, ac.compile])
def test_a_list_as_a_dict_key_raises_as_in_python(decorator):
    @decorator
    def f(x):
        return {[1]: x}

    @decorator
    def g(x):
        return {"a": x, [x]: 1}

    check_error(TypeError, lambda: f(ONE), "unhashable type: 'list'")
    check_error(TypeError, lambda: g(ONE), "unhashable type: 'list'")


@pytest.mark.parametrize("display", [lambda x: {x: 1}, lambda x: {"a": 1, x: 2}, lambda x: len({x, 1})])
def test_a_tensor_as_a_key_or_item_of_a_set_is_unhashable_as_without_function(display):
    check_error(TypeError, lambda: display(ONE), "Tensor is unhashable")
    check_error(TypeError, lambda: ac.function(display)(ONE), "Tensor is unhashable")


def test_arity():
    f = ac.function(lambda a, b, *, c=1: a)
    check_error(TypeError, lambda: f(ONE), "missing a required argument: 'b'", "(a, b, *, c=<captured_default_value>)")
    check_error(TypeError, lambda: f(ONE, ONE, ONE), "too many positional arguments")
    check_error(TypeError, lambda: f(ONE, ONE, d=1), "unexpected keyword argument 'd'")


@pytest.mark.parametrize("value", ["a", 1.5, None, ac.constant(1.0), ac.zeros([2], ac.int32), [ONE, ONE]], ids=str)
def test_arguments_that_do_not_fit_the_input_signature(value):
    f = ac.function(identity, input_signature=[SCALAR])
    check_error(TypeError, lambda: f(value), "Can not cast", "TensorSpec(shape=(), dtype=autoconv.int32, name=None)")


@pytest.mark.parametrize("value", [{"b": ONE}, {"a": ONE, "b": ONE}, ONE, [ONE]], ids=["key", "more", "leaf", "list"])
def test_structures_that_differ_from_the_input_signature(value):
    f = ac.function(identity, input_signature=[{"a": SCALAR}])
    assert f({"a": ONE})["a"].numpy() == 1
    check_error(TypeError, lambda: f(value), "Can not cast", "{'a': TensorSpec(")


@pytest.mark.parametrize("value", [{1, 2}, slice(1, 2)], ids=["set", "slice"])
def test_keys_that_cannot_be_hashed(value):
    error = check_error(TypeError, lambda: ac.function(identity)(value), "Could not generate a generic TraceType")
    assert "Pass a" in str(error)


def test_arrays_without_a_dtype():
    f = ac.function(identity)
    check_error(TypeError, lambda: f(np.array(["2020"], "datetime64[D]")), "datetime64[D]", "has no dtype here")
    check_error(TypeError, lambda: f(np.array([object()], object)), "array of Python objects", "object in it")
    assert f(np.array(["a"], object)).numpy().tolist() == [b"a"]


@pytest.mark.parametrize(
    "make", [lambda: object(), lambda: {1}, lambda: len, lambda: (i for i in ()), lambda: [1, {"a": object()}]]
)
def test_results_that_are_no_tensors(make):
    @ac.function
    def f():
        return make()

    check_error(TypeError, f, "must return zero or more Tensors", "found return value of type")


def test_coroutines():
    async def later(x):
        return x

    check_error(ac.errors.StagingError, lambda: ac.function(later)(ONE), "later is asynchronous: its body runs when")
    assert asyncio.run(later(1)) == 1


def test_incompatible_dtypes_and_shapes():
    add = ac.function(lambda a, b: a + b)
    remedy = "autoconv.cast(value, autoconv.int32)"
    check_error(TypeError, lambda: add(ONE, ac.constant(1.0)), "float32", "int32", remedy)
    check_error(ValueError, lambda: add(ac.zeros([2]), ac.zeros([3])), "[2]", "[3]")


def test_callbacks_that_fail_or_return_another_type():
    classes = {
        "ValueError": "InvalidArgumentError", "TypeError": "InvalidArgumentError", "StopIteration": "OutOfRangeError",
        "NotImplementedError": "UnimplementedError", "MemoryError": "ResourceExhaustedError",
        "KeyError": "UnknownError",
    }  # fmt: skip
    for name, expected in classes.items():
        cause = getattr(builtins, name)("why")

        def fail(_, cause=cause):
            raise cause

        for call in (ac.py_function, ac.numpy_function):
            for f in (call, ac.function(call)):
                with pytest.raises(getattr(ac.errors, expected), match=f"{name}: '?why") as found:
                    f(fail, [ONE], ac.float32)
                assert found.value.__cause__ is cause, (name, call, f)
    g = ac.function(lambda x: ac.numpy_function(lambda v: "text", [x], ac.float32))
    check_error(ac.errors.InvalidArgumentError, lambda: g(ONE), "is text, but expects float32")
    h = ac.function(lambda x: ac.numpy_function(lambda v: (1, 2), [x], [ac.int32] * 3))
    check_error(ac.errors.InvalidArgumentError, lambda: h(ONE), "returned 2 values, but expects to see 3")


def test_unknown_options():
    check_error(TypeError, lambda: ac.function(identity, bogus=1), "unexpected keyword argument 'bogus'")


def test_effects_that_escape_init_scope():
    counter = ac.Variable(0)
    eager = []

    @ac.function
    def f(x):
        with ac.init_scope():
            counter.assign_add(1)
            eager.append(ac.executing_eagerly())
        return x + counter

    assert [f(ONE).numpy() for _ in range(3)] == [2, 2, 2]
    assert eager == [True]

    @ac.function
    def leaks(x):
        with ac.init_scope():
            return x + 1

    check_error(TypeError, lambda: leaks(ONE), "is out of scope and cannot be used here", "'leaks'")


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + 1, lambda t: ac.reduce_sum(t), lambda t: t[0], lambda t: list(t), lambda t: int(t),
        lambda t: np.sin(t), lambda t: ac.function(identity)(t), lambda t: ac.cond(t[0] > 0, lambda: 1, lambda: 2),
    ],
    ids=["operator", "op", "item", "iter", "int", "numpy", "argument", "cond"],
)  # fmt: skip
def test_errors_of_tensors_of_ended_traces_name_their_line(use):
    leaked = []

    @ac.function
    def leaks(x):
        leaked.append(x * 2)
        return x

    leaks(ac.constant([1, 2]))
    facts = ("'mul:0' shape=(2,)", "was defined here", "leaked.append(x * 2)", "'leaks'")
    check_error(TypeError, lambda: use(leaked[0]), *facts)

    @ac.function
    def uses_it_later(x):
        return x + ac.cast(use(leaked[0]), x.dtype)

    check_error(TypeError, lambda: uses_it_later(ac.constant([1, 2])), "leaked.append(x * 2)")
    with pytest.raises(AttributeError, match=r"(?s)has no attribute 'numpy'.*leaked.append\(x \* 2\)"):
        leaked[0].numpy()
    check_error(TypeError, lambda: bool(leaked[0]), "leaked.append(x * 2)")
    assert str(leaked[0]) == 'Tensor("mul:0", shape=(2,), dtype=int32)'


@pytest.mark.parametrize("run", [lambda f: f, ac.function])
def test_loops_whose_functions_return_another_structure(run):
    rows = ac.constant([1.0, 2.0])
    loop = run(lambda: ac.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [0]))
    check_error(ValueError, loop, "body of while_loop has to give 1 values", "found 2")
    check_error(ValueError, run(lambda: ac.scan(lambda a, b: (a, b), rows)), "the same nested structure", "type=tuple")
    results = run(lambda: ac.while_loop(lambda pair: pair[0] < 3, lambda pair: (pair[0] + 1, pair[1] * 2), [(0, 1)]))
    assert [int(x) for x in ac.nest.flatten(results())] == [3, 8]


def test_tensors_as_keys_name_the_remedy():
    check_error(TypeError, lambda: {ONE: 1}, "use tensor.ref() as the key")
