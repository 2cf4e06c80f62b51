"""Under `compile`: arrays that lists and dicts hold beside other names, changed by one of them and read by another."""

import numpy as np
import pytest

import autoconv


class Holder:
    """`all` holds `w` as well."""

    def __init__(self, x):
        self.w = np.ones(3)
        self.all = [self.w, self.w * 2]


def by_the_argument(held, x):
    held.append(1)
    x[0] = 5
    return held[0][0]


def by_an_item(held, x):
    held.append(1)
    held[0][0] = 7
    return x.sum()


def by_an_item_in_place(held, x):
    held.append(1)
    held[0] += 7
    return x.sum()


def before_and_after(held, x):
    held.append(1)
    before = x[0]
    held[0][0] = before + 7
    return before + x[0] * 100


def in_a_loop(held, x):
    held.append(1)
    total = 0.0
    for i in range(3):
        total += x[i]
        held[0][2] += 1.0
        total += x[2]
    return total


def by_a_list_of_the_call(held, x):
    arrays = []
    for _ in range(2):
        arrays.append(x)
    arrays[1][0] = 5
    return x.sum()


def iterated(held, x):
    for item in held:
        item += 1
    return x.sum()


def by_a_key(named, x):
    named["n"] = 1
    named["x"] += 5
    return x.sum()


def beside_a_key(named, x):
    named["n"] = 1
    x += 5
    return named["x"].sum()


def of_an_object(o, x):
    o.all.append(1)
    o.w += x
    return o.all[0].sum()


def of_an_object_by_an_item(o, x):
    o.all.append(1)
    o.all[0][:] = x
    return o.w.sum()


def the_attribute_put_into_the_list(o, x):
    o.all[1] = o.w
    o.w += 1
    return o.all[1].sum()


LISTS = [
    by_the_argument, by_an_item, by_an_item_in_place, before_and_after, in_a_loop, by_a_list_of_the_call, iterated,
]  # fmt: skip
DICTS = [by_a_key, beside_a_key]
OBJECTS = [of_an_object, of_an_object_by_an_item, the_attribute_put_into_the_list]


def outcome(call, make):
    x = np.zeros(3)
    held = make(x)
    found = [repr(call(held, x)) for _ in range(4)]
    return found, repr((held.w, held.all) if isinstance(held, Holder) else held), repr(x)


@pytest.mark.parametrize(
    ("function", "make"),
    [
        *((function, lambda x: [x, 2]) for function in LISTS),
        *((function, lambda x: {"x": x}) for function in DICTS),
        *((function, Holder) for function in OBJECTS),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_change_shows_under_every_name(function, make):
    assert outcome(autoconv.compile(function), make) == outcome(function, make)


class Layer:
    def __init__(self, inputs, outputs, numbers):
        self.w = numbers.normal(size=(inputs, outputs)) * 0.3
        self.b = np.zeros(outputs)

    def forward(self, x):
        self.x = x
        self.a = np.tanh(x @ self.w + self.b)
        return self.a

    def backward(self, cotangent, rate):
        cotangent = cotangent * (1 - self.a**2)
        onward = cotangent @ self.w.T
        self.w -= rate * (self.x.T @ cotangent)
        self.b -= rate * cotangent.sum(axis=0)
        return onward


class Network:
    def __init__(self):
        numbers = np.random.default_rng(0)
        self.layers = [Layer(a, b, numbers) for a, b in ((3, 5), (5, 4), (4, 1))]
        self.losses = []

    def train(self, x, y, rate):
        found = x
        for layer in self.layers:
            found = layer.forward(found)
        self.losses.append(((found - y) ** 2).mean())
        cotangent = 2 * (found - y) / len(x)
        for layer in reversed(self.layers):
            cotangent = layer.backward(cotangent, rate)


class CompiledNetwork(Network):
    train = autoconv.compile(Network.train)


def test_objects_in_a_list_change_in_place():
    x = np.random.default_rng(1).normal(size=(8, 3))
    y = np.sin(x.sum(axis=1, keepdims=True))
    plain, compiled = Network(), CompiledNetwork()
    weights = [layer.w for layer in compiled.layers]
    for _ in range(6):
        plain.train(x, y, 0.05)
        compiled.train(x, y, 0.05)
    np.testing.assert_allclose(compiled.losses, plain.losses, rtol=1e-9)
    for compiled_layer, plain_layer, weight in zip(compiled.layers, plain.layers, weights, strict=True):
        np.testing.assert_allclose(compiled_layer.w, plain_layer.w, rtol=1e-9)
        np.testing.assert_allclose(compiled_layer.x, plain_layer.x, rtol=1e-9)
        assert compiled_layer.w is weight
    assert "plain Python" not in compiled.train.explain(), compiled.train.explain()
    assert compiled.train.experimental_get_tracing_count() == 2  # without and with the attributes that it adds


def test_arrays_in_a_list_are_changed_in_place():
    class Mixer:
        def __init__(self):
            self.weights = [np.eye(3) * 0.5 for _ in range(3)]

        def step(self, x):
            for w in self.weights:
                x = np.tanh(w @ x)
                w += 0.01 * np.outer(x, x)
            return x

    plain_mixer, compiled_mixer = Mixer(), Mixer()
    compiled = autoconv.compile(compiled_mixer.step)
    for _ in range(4):
        np.testing.assert_allclose(compiled(np.arange(3.0)), plain_mixer.step(np.arange(3.0)))
    np.testing.assert_allclose(compiled_mixer.weights, plain_mixer.weights)


SETTINGS = np.zeros(3)


def test_only_names_that_code_looks_up_are_read_from_outside():
    class Held:
        pass

    def f(o, x):
        x += o.SETTINGS  # an attribute of the same name as the global array
        return x

    held = Held()
    held.SETTINGS = np.ones(3)
    compiled = autoconv.compile(f)
    assert compiled(held, SETTINGS).tolist() == [1.0, 1.0, 1.0]
    assert "plain Python" not in compiled.explain()


def test_slices_of_several_dimensions_of_an_array_that_a_list_holds():
    def read(n):
        box = [np.arange(24.0).reshape(2, 3, 4)]
        for i in range(n):
            box.append(box[0] + i)
        y = box[n]
        return y[:, ::n], y[0, :n], y[..., n:], y[:, None, 1:n], y[n - 1, :, n], y[-n:, [0, 1], :n]

    def written(n):
        box = [np.zeros((2, 3, 4))]
        for i in range(n):
            box.append(box[0] + i)
        y = box[n]
        y[:, ::n] = 5
        y[0, :n] += 1
        y[1, n:, 1] = y[0, : 3 - n, 2]
        return (y,)

    for f in (read, written):
        compiled = autoconv.compile(f)
        for n in (1, 2, 1):
            for found, expected in zip(compiled(n), f(n), strict=True):
                np.testing.assert_array_equal(found, expected, strict=True)
        assert "plain Python" not in compiled.explain()


FIRST, SECOND = np.zeros(3), np.zeros(3)


def keep_equal_arrays(names, rows, x):
    if x.sum() > 0:
        names.update(first=FIRST, second=SECOND)
        rows.extend([FIRST, SECOND])


def test_equal_outer_arrays_stay_two_objects():
    names, rows = {"": 0}, [""]
    compiled = autoconv.compile(keep_equal_arrays)
    compiled(names, rows, np.ones(2))
    assert compiled.experimental_get_tracing_count() == 1
    assert names["first"] is rows[1] is FIRST
    assert names["second"] is rows[2] is SECOND


def moments_by_hand(x):
    parameters = [np.ones((3, 3)), np.zeros(3)]
    moments = [np.zeros_like(p) for p in parameters]
    losses = []
    for step in range(1, 4):
        hidden = np.maximum(x @ parameters[0] + parameters[1], 0)
        losses.append(hidden.mean())
        hidden[hidden > 2] = 0
        for i, gradient in enumerate([x.T @ hidden, hidden.sum(0)]):
            moments[i] = 0.9 * moments[i] + 0.1 * gradient
            parameters[i] = parameters[i] - 0.1 * moments[i] / (1 - 0.9**step)
    return parameters[0], parameters[1], np.array(losses)


def test_items_of_a_list_are_replaced_beside_arrays_that_are_written():
    compiled = autoconv.compile(moments_by_hand)
    for seed in range(2):
        x = np.random.default_rng(seed).normal(size=(4, 3))
        for found, expected in zip(compiled(x), moments_by_hand(x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    (trace,) = compiled.concrete_functions
    assert not {"object_build", "object_apply"} & {node.op.name for node in trace.optimised.walk()}


def test_traces_for_overlapping_arguments_change_their_own_containers():
    """The inputs of the second trace are found in another order than those of the first, and have equal types."""

    class Layer:
        def __init__(self, scale):
            self.p = {"a": np.ones(2) * scale, "b": np.ones(2) * scale, "c": np.full(2, -scale)}

    class Net:
        def __init__(self):
            self.layers, self.q = [Layer(1.0), Layer(2.0)], Layer(9.0).p

    def program(net, p, x):
        second = net.q
        for layer in net.layers:
            layer.p["b"] = layer.p["b"] - x
        net.layers[0].p["c"] = x * 2
        for key in list(second):
            second[key] = second[key] * 0.9
        net.layers[0].p = dict(net.q)

    def outcomes(run):
        net, p = Net(), Layer(4.0).p
        result = []
        for call in range(4):
            if call == 1:
                net.layers.reverse()
            if call == 2:
                p["b"] = p["a"]
            run(net, p, np.array([1.0, call]))
            result.append([{key: value.tolist() for key, value in layer.p.items()} for layer in net.layers])
        return result

    assert outcomes(autoconv.compile(program)) == outcomes(program)
