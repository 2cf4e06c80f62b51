"""Private modules of TensorFlow, as libraries that are written for it import them."""

import contextlib
import importlib
import sys
import types

import pytest

import autoconv


@pytest.mark.parametrize(
    ("path", "public_name"),
    [
        ("ops.array_ops.concat", "compat.v1.concat"),
        ("ops.array_ops.where_v2", "where"),
        ("ops.math_ops.reduce_sum", "compat.v1.math.reduce_sum"),
        ("ops.nn.softmax", "compat.v1.nn.softmax"),
        ("ops.nn_ops.softmax_v2", "nn.softmax"),
        ("ops.image_ops.resize_bilinear", "compat.v1.image.resize_bilinear"),
        ("ops.variable_scope.get_variable", "compat.v1.get_variable"),
        ("ops.ragged.ragged_factory_ops.constant", "ragged.constant"),
        ("framework.dtypes.int64", "int64"),
        ("framework.errors_impl.InvalidArgumentError", "errors.InvalidArgumentError"),
        ("training.saver.Saver", "compat.v1.train.Saver"),
        ("platform.tf_logging.info", "compat.v1.logging.info"),
        ("data.ops.dataset_ops.Dataset", "data.Dataset"),
        ("summary.summary.FileWriter", "compat.v1.summary.FileWriter"),
        ("util.compat.as_bytes", "compat.as_bytes"),
    ],
)
def test_names_are_public_ones(path, public_name):
    module_path, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(f"autoconv.tensorflow.python.{module_path}"), name)
    expected = autoconv
    for part in public_name.split("."):
        expected = getattr(expected, part)
    assert found is expected


def test_contexts_are_those_of_python():
    module = importlib.import_module("autoconv.tensorflow.python.util.tf_contextlib")
    assert module.contextmanager is contextlib.contextmanager


def test_what_does_not_exist():
    with pytest.raises(ImportError, match="no_such_ops"):
        importlib.import_module("autoconv.tensorflow.python.ops.no_such_ops")
    module = importlib.import_module("autoconv.tensorflow.python.ops.math_ops")
    with pytest.raises(AttributeError, match="math_ops' has no attribute 'no_such_name'"):
        module.no_such_name  # noqa: B018 - the access raises
    assert not hasattr(module, "__wrapped__")


def test_exported_names():
    tf_export = importlib.import_module("autoconv.tensorflow.python.util.tf_export").tf_export
    assert tf_export("math.twice", v1=[])(len) is len


def test_wrappers():
    util = importlib.import_module("autoconv.tensorflow.python.util.tf_decorator")

    def double(x):
        """Return twice x."""
        return 2 * x

    wrapper = util.make_decorator(double, lambda x: double(x) + 1)
    assert wrapper(2) == 5 and wrapper.__name__ == "double" and wrapper.__doc__ == "Return twice x."
    assert util.unwrap(wrapper) == ([wrapper], double)


def test_documented_names(monkeypatch):
    util = importlib.import_module("autoconv.tensorflow.python.util.all_util")
    module = types.ModuleType("documented", "Shapes.\n\n@@area\n@@missing\n")
    module.area, module.helper, module.extra = len, len, len
    monkeypatch.setitem(sys.modules, "documented", module)
    assert util.make_all("documented") == ["area"]
    util.remove_undocumented("documented", ["extra"])
    assert {name for name in vars(module) if not name.startswith("_")} == {"area", "extra"}


def test_compiled_by_xla():
    compiled = autoconv.tensorflow.xla.experimental.compile
    (total,) = compiled(lambda a, b: a + b, [autoconv.constant(1.0), 2.0])
    assert total.numpy() == 3.0
    assert [part.numpy() for part in compiled(lambda: [autoconv.constant(1), autoconv.constant(2)])] == [1, 2]


def test_references_have_an_order():
    values = [autoconv.Variable(1.0), autoconv.constant(2.0)]
    references = sorted(value.ref() for value in values)
    assert [id(reference.deref()) for reference in references] == sorted(map(id, values))
    with pytest.raises(TypeError, match="not supported between instances"):
        _ = values[0].ref() < 3


def test_creators_are_given_the_defaults_of_variables():
    found = {}

    def creator(next_creator, **kwargs):
        found.update(kwargs)
        return next_creator(**kwargs)

    with autoconv.variable_creator_scope(creator):
        autoconv.Variable(1.0)
    assert found["synchronization"] is autoconv.VariableSynchronization.AUTO
    assert found["aggregation"] is autoconv.VariableAggregation.NONE and found["trainable"] is None
