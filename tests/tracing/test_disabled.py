"""AUTOCONV_DISABLE: decorated functions run plain, with the attributes of decorated ones."""

import functools

import pytest

import autoconv
from autoconv.config import SETTINGS

DECORATORS = [
    autoconv.compile, autoconv.function, autoconv.compile(donate="x"),
    autoconv.function(input_signature=[autoconv.TensorSpec([], autoconv.float32)]),
]  # fmt: skip


def step(x):
    return [x] if x > 0 else (x,)


class Counter:
    name = "own"

    def __call__(self, x):
        return x + 1


@pytest.fixture
def disabled(monkeypatch):
    monkeypatch.setattr(SETTINGS, "disabled", True)


def public(function):
    return {name for name in dir(function) if not name.startswith("_")}


@pytest.mark.parametrize("decorate", DECORATORS)
def test_disabled_functions_have_every_attribute(decorate, monkeypatch):
    expected = public(decorate(lambda x: x))
    monkeypatch.setattr(SETTINGS, "disabled", True)
    plain = decorate(lambda x: x)
    assert expected <= public(plain)
    assert "switched off by AUTOCONV_DISABLE" in plain.explain()
    assert plain.experimental_get_tracing_count() == 0 and plain.concrete_functions == []
    assert plain.python_function is plain


def test_calls_are_pythons(disabled):
    compiled = autoconv.compile(step)
    assert compiled is step and compiled(1) == [1] and compiled(-1) == (-1,)


def test_methods(disabled):
    class Model:
        @autoconv.function
        def step(self, x):
            return self, x

        @autoconv.function
        @staticmethod
        def alone(x):
            return x

    model = Model()
    assert model.step(2) == (model, 2) and model.alone(3) == Model.alone(3) == 3
    assert "switched off" in model.step.explain() and "switched off" in model.alone.explain()


@pytest.mark.parametrize("callable_object", [abs, functools.partial(step), Counter()])
def test_callable_objects(disabled, callable_object):
    compiled = autoconv.compile(callable_object)
    assert compiled(1) == callable_object(1)
    assert "switched off" in compiled.explain()
    assert not isinstance(callable_object, Counter) or compiled.name == "own"


def test_objects_that_cannot_be_a_graph_are_returned_unchanged(disabled):
    assert autoconv.compile(3) == 3


def test_builtins_without_a_signature(disabled):
    assert autoconv.compile(max)(1, 3) == 3 and autoconv.compile("text".count)("t") == 2
    assert "switched off" in autoconv.compile(max).explain()


def test_a_graph_is_made_on_request(disabled):
    concrete = autoconv.function(lambda x: x * 2).get_concrete_function(autoconv.TensorSpec([], autoconv.int32))
    assert concrete(autoconv.constant(4)).numpy() == 8
