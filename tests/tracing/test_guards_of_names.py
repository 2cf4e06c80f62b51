"""Changes of global names, builtins, modules and numbers that a function reads, noticed by the next call."""

import builtins
import sys
import types

import numpy as np
import pytest

import autoconv
from tests.tracing.changes import WARM, check_after_changes

HERE = sys.modules[__name__]


NOTHING = None
AXES = (0, 1)


NUMBER = 1.0


def of_nothing(x):
    return x if NOTHING is None else x * NOTHING


def of_number(x):
    return x * NUMBER


def of_no_name(x):
    try:
        return x * MISSING_SO_FAR
    except NameError:
        return -x


def of_builtin(x):
    return max(x, 3.0), len([x])


def setter(name, value):
    return lambda: setattr(HERE, name, value)


def test_names_that_are_deleted_and_assigned():
    check_after_changes(of_nothing, lambda: delattr(HERE, "NOTHING"), setter("NOTHING", 3.0), setter("NOTHING", None))
    check_after_changes(of_number, lambda: delattr(HERE, "NUMBER"), setter("NUMBER", 1), setter("NUMBER", 1.0))
    check_after_changes(of_no_name, setter("MISSING_SO_FAR", 4.0), lambda: delattr(HERE, "MISSING_SO_FAR"))
    check_after_changes(of_builtin, setter("max", lambda a, b: -100.0), lambda: delattr(HERE, "max"))


def test_builtins_that_are_replaced_in_their_module(monkeypatch, capsys):
    def of_printed(x):
        print(x)
        return x + abs(-2)

    compute = autoconv.compile(of_printed)
    for _ in range(WARM):
        assert compute(1.0) == 3.0
    printed = []
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "print", printed.append)
        patch.setattr(builtins, "abs", lambda value: 40)
        assert compute(1.0) == 41.0
    assert printed == [1.0]
    capsys.readouterr()
    assert compute(1.0) == 3.0
    assert capsys.readouterr().out == "1.0\n"


def test_guards_of_builtins_are_native():
    compute = check_after_changes(of_builtin)
    assert len(compute.concrete_functions) == 1
    assert not compute.concrete_functions[0].checks_guards_in_python


def test_attributes_of_modules_that_objects_refer_to(tmp_path, monkeypatch):
    (tmp_path / "settings_of_a_test.py").write_text("SCALE = 2.0\nTABLE = {'a': 1.0}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import settings_of_a_test as settings

    table, box = {"m": settings}, types.SimpleNamespace(m=settings)

    def imported(x):
        import settings_of_a_test as inner
        from settings_of_a_test import TABLE

        return x * inner.SCALE + TABLE["a"]

    def change(value):
        def put_in():
            settings.SCALE, settings.TABLE["a"] = value, value

        return put_in

    for function in (
        lambda x: x * settings.SCALE,
        lambda x: x * table["m"].SCALE + table["m"].TABLE["a"],
        lambda x: x * box.m.SCALE,
        imported,
    ):
        check_after_changes(function, change(7.0), change(8), change(2.0))
    scale = autoconv.compile(lambda m, x: x * m.SCALE)
    for value in (2.0, 3.0, 4.0):
        settings.SCALE = value
        assert [scale(settings, 1.0) for _ in range(WARM)] == [value] * WARM
    monkeypatch.delitem(sys.modules, "settings_of_a_test")


SIZED = {
    "histogram": (lambda x, k: np.histogram(x, k)[0], lambda x: np.histogram(x, bins=len(x))[0]),
    "hanning": (lambda x, k: np.hanning(k) + x[0], lambda x: np.hanning(len(x)) * x),
    "fftfreq": (lambda x, k: np.fft.fftfreq(k) + x[0], lambda x: np.fft.fftfreq(len(x), d=0.1)),
    "triu_indices": (lambda x, k: np.triu_indices(k), lambda x: x[np.triu_indices(len(x), 1)[0]]),
    "polyfit": (lambda x, k: np.polyfit(x, x * 2, k), lambda x: np.vander(x, len(x))),
    "choice": (
        lambda x, k: np.random.default_rng(1).choice(k + 3, k, replace=False),
        lambda x: np.random.default_rng(1).choice(len(x), 2, replace=False),
    ),
}


@pytest.mark.parametrize("functions", SIZED.values(), ids=SIZED)
def test_numbers_that_decide_sizes(functions):
    by_number, by_length = map(autoconv.compile, functions)
    for k in (3, 2, 4, 3):
        x = np.arange(2.0, 8.0)
        for actual, expected in zip(np.atleast_2d(by_number(x, k)), np.atleast_2d(functions[0](x, k)), strict=True):
            np.testing.assert_allclose(actual, expected, atol=1e-9)
    for n in (5, 3, 7, 9, 4):
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(by_length(x), functions[1](x))


def test_modules_and_functions_that_refer_to_each_other():
    a, b, c = (types.ModuleType(f"module_of_a_test_{name}") for name in "abc")
    for module in (a, b, c):
        module.a, module.b, module.c, module.k = a, b, c, 2.0

    def identity(x):
        return x * identity.by

    identity.by, identity.itself, identity.others = 2.0, identity, {"identity": identity}
    check_after_changes(
        lambda x: a.b.c.a.b.c.k * x + identity(x),
        lambda: setattr(c, "k", 3.0),
        lambda: setattr(c, "a", b),
        lambda: setattr(b, "c", a),
        lambda: setattr(identity, "by", 5.0),
    )


def test_functions_of_numpy_by_other_names():
    class Tools:
        reduce = staticmethod(np.sum)

        def __init__(self):
            self.norm = np.linalg.norm

        def by_attributes(self, x):
            return self.reduce(x) + self.norm(x)

    table = {"total": np.sum, "largest": np.max}
    chosen = np.mean

    def by_name(x):
        return chosen(x), table["total"](x)

    x, tools = np.array([3.0, 4.0]), Tools()
    compiled = autoconv.compile(by_name)
    assert compiled(x) == by_name(x) == (3.5, 7.0)
    chosen, table["total"] = np.max, np.min
    assert compiled(x) == by_name(x) == (4.0, 3.0)
    by_attributes = autoconv.compile(tools.by_attributes)
    assert by_attributes(x) == 12.0
    tools.norm = np.min
    assert by_attributes(x) == 10.0
    Tools.reduce = staticmethod(np.max)
    assert by_attributes(x) == 7.0
    for function in (compiled, by_attributes):
        assert "plain Python" not in function.explain()


def test_random_changes_of_a_namespace():
    """Guards of names are looked up again after each change of the namespace, also of other names."""
    source = "def f(x):\n    return abs(scale(x) + len(SIZES)) + max(x, 1.5)\n"
    namespace = {"scale": lambda x: x * 2, "SIZES": (1, 2)}
    exec(compile(source, "<changing namespace>", "exec"), namespace)
    compiled, plain = autoconv.compile(namespace["f"]), namespace["f"]
    values = {
        "scale": [lambda x: x * 2, lambda x: x - 7, abs],
        "SIZES": [(1, 2), (1, 2), "abc"],
        "abs": [lambda x: -x, float],
        "max": [min, max],
        "other": [1, 2, 3],
    }
    draw = np.random.default_rng(5)
    for step in range(60):
        name = draw.choice(list(values))
        if name in ("abs", "max", "other") and name in namespace and draw.random() < 0.5:
            del namespace[name]
        else:
            namespace[name] = values[name][draw.integers(len(values[name]))]
        for x in (1.0, -4.0):
            assert compiled(x) == plain(x), (step, name)


def test_tuples_of_constants_are_guarded_by_identity():
    def sums(axes):
        def of_axes(x):
            return x.sum(axis=axes) + AXES[1]

        return of_axes

    x = np.arange(6.0).reshape(2, 3)
    HERE.AXES = (0, 1)
    compiled, plain = autoconv.compile(sums((0, 1))), sums((0, 1))
    for axes in ((0, 1), tuple(map(int, "01")), (0, 2), (0, 5.5), tuple(map(int, "01"))):
        HERE.AXES = axes
        for _ in range(WARM):
            assert compiled(x) == plain(x)
    assert not any(trace.checks_guards_in_python for trace in compiled.concrete_functions)
    assert compiled.experimental_get_tracing_count() == 3


def test_gradients_by_several_arguments_are_called_natively():
    compiled = autoconv.value_and_grad(autoconv.compile(lambda x, y: (x * x * y).sum()), (0, 1))
    x, y = np.arange(3.0), np.ones(3)
    for _ in range(WARM):
        value, (by_x, by_y) = compiled(x, y)
        np.testing.assert_allclose((value, *by_x, *by_y), (5.0, 0.0, 2.0, 4.0, 0.0, 1.0, 4.0))
    assert not compiled.concrete_functions[0].checks_guards_in_python


SCALES = {"x": 2.0}


def test_arguments_of_a_star_beside_guards_in_python():
    def scaled(*args, **kwargs):
        return args[0].sum() * SCALES["x"] + len(args) + len(kwargs)

    x, compiled = np.arange(3.0), autoconv.compile(scaled)
    for arguments, keywords in (((x,), {}), ((x, 1.0), {}), ((x,), {"a": 2}), ((x,), {}), ((x, x), {})):
        for scale in (2.0, 3.0):
            SCALES["x"] = scale
            for _ in range(WARM):
                assert compiled(*arguments, **keywords) == scaled(*arguments, **keywords)
    compiled = autoconv.value_and_grad(autoconv.compile(lambda x: (x * x).sum() * SCALES["x"]))
    for scale in (1.0, 4.0, 1.0):
        SCALES["x"] = scale
        for _ in range(WARM):
            value, gradient = compiled(x)
            np.testing.assert_allclose((value, *gradient), scale * np.array([5.0, 0.0, 2.0, 4.0]))


def test_values_of_dicts_with_keys_of_any_kind():
    table = {None: 1.0, (1, 2): 2.0, len: 3.0, 1.5: 4.0, "s": 5.0}

    @autoconv.compile(backend="native")
    def total(x):
        return x + table[None] + table[1, 2] + table[len] + table[1.5] + table["s"]

    assert total(1.0) == 16.0
    for i, key in enumerate(list(table), 1):
        table[key] += 1.0
        assert total(1.0) == 16.0 + i
    text = total.explain()
    assert all(f"table{key}" in text for key in ("[None] changed", "[1.5]", "['s']"))
