"""Names and behaviours that public libraries written for TensorFlow use."""

import inspect
import pickle
import types

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import devices


def test_initializers():
    assert ac.zeros_initializer()([2, 3]).numpy().tolist() == [[0.0] * 3] * 2
    assert ac.ones_initializer()([2], ac.int32).numpy().tolist() == [1, 1]
    assert ac.constant_initializer([1, 2, 3, 4])([2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert ac.constant_initializer(0.5)([2, 1]).numpy().tolist() == [[0.5], [0.5]]
    for initializer in (ac.random_uniform_initializer(-1.0, 1.0, seed=3), ac.random_normal_initializer(seed=3)):
        first = initializer([100]).numpy()
        np.testing.assert_array_equal(first, initializer([100]).numpy())
        np.testing.assert_array_equal(first, type(initializer).from_config(initializer.get_config())([100]).numpy())
        assert -5 < first.min() < 0 < first.max() < 5
    with pytest.raises(ValueError, match="Expected float dtype"):
        ac.random_normal_initializer()([2], ac.int32)


def test_specifications_of_devices():
    spec = ac.DeviceSpec.from_string("/job:a/task:2/cpu:0")
    assert spec == ac.DeviceSpec(job="a", task=2, device_type="CPU", device_index=0)
    assert spec.to_string() == "/job:a/task:2/device:CPU:0"
    assert ac.DeviceSpec(device_type="gpu").to_string() == "/device:GPU:*"
    merged = ac.DeviceSpec(job="b").make_merged_spec(ac.DeviceSpec(device_type="CPU", device_index=1))
    assert merged.to_string() == "/job:b/device:CPU:1" and merged.replace(job="c").job == "c"
    with pytest.raises(ValueError, match="Unknown attribute"):
        ac.DeviceSpec.from_string("/foo:1")


def test_devices_are_configured():
    (cpu,) = ac.config.list_physical_devices("CPU")
    ac.config.set_visible_devices([], "GPU")
    assert ac.config.get_visible_devices() == [cpu]
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
        ac.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        ac.config.set_visible_devices(ac.config.PhysicalDevice("/physical_device:GPU:0", "GPU"))


def test_the_growth_of_an_accelerators_memory_is_stored(monkeypatch):
    monkeypatch.setattr(devices, "ACCELERATOR_NAMES", lambda: ["GPU:0"])
    (gpu,) = ac.config.list_physical_devices("GPU")
    assert not ac.config.experimental.get_memory_growth(gpu)
    ac.config.experimental.set_memory_growth(gpu, True)
    assert ac.config.experimental.get_memory_growth(gpu)
    ac.config.experimental.set_memory_growth(gpu, False)
    assert not ac.config.experimental.get_memory_growth(gpu)


def test_missing_names_raise_with_a_remedy():
    for name in ("estimator", "feature_column", "lite", "tpu"):
        for module in (ac, ac.tensorflow):
            with pytest.raises(AttributeError, match=f"no attribute '{name}': .*autoconv"):
                getattr(module, name)


def test_dtypes_have_tensorflows_members():
    assert ac.float32.is_compatible_with("float32") and not ac.float32.is_compatible_with(ac.float64)
    assert ac.int32.limits == (0, 2**31 - 1) and ac.float64.limits == (0, 1)
    with pytest.raises(ValueError, match="does not have defined limits"):
        ac.complex64.limits  # noqa: B018
    assert ac.qint8.is_quantized and not ac.qint8.is_integer and ac.as_dtype("qint8") is ac.qint8
    assert ac.qint8.as_numpy_dtype == np.dtype([("qint8", np.int8)])
    assert ac.string.is_numpy_compatible and not ac.variant.is_numpy_compatible
    assert ac.float32.as_datatype_enum == 1 and ac.dtypes.complex is ac.complex


def test_a_list_of_indices_is_a_tuple():
    x = ac.constant(np.arange(6.0).reshape(2, 3))
    for get in (lambda x, i: x[i], ac.function(lambda x, i: x[i])):
        assert get(x, [0, 1]).numpy() == 1.0
    assert x[[slice(None), slice(0, 1)]].numpy().tolist() == [[0.0], [3.0]]
    assert ac.Variable(x)[[0, 1]].numpy() == 1.0
    rows = ac.compile(lambda a: a[[0, 1]] + 0.0)
    np.testing.assert_array_equal(rows(np.eye(3)), np.eye(3)[[0, 1]])


def test_a_variable_as_a_condition():
    flag = ac.Variable(True)

    @ac.function
    def f(x):
        if flag:
            x += 1.0
        if flag and x > 0.0:
            x += 10.0
        if not flag:
            x += 100.0
        while flag:
            flag.assign(False)
        return ac.cond(flag, lambda: x, lambda: -x)

    assert float(f(ac.constant(1.0))) == -12.0 and float(f(ac.constant(1.0))) == -101.0
    assert ac.cond(flag, lambda: 1, lambda: 2) == 2


def test_the_limit_of_a_loop_is_computed_in_it():
    @ac.function
    def f(n):
        i = 0
        while ac.constant(True):
            ac.autograph.experimental.set_loop_options(maximum_iterations=n - 1)
            i += 1
        return i

    assert int(f(ac.constant(5))) == 4

    @ac.function
    def g(n):
        while n > 0:
            ac.autograph.experimental.set_loop_options(maximum_iterations=n - 1)
            n -= 1
        return n

    with pytest.raises(ac.errors.StagingError, match="maximum_iterations depends on a value that the loop changes"):
        g(ac.constant(5))


def test_functions_are_pickled_and_show_their_signatures():
    for namespace in (ac, ac.math, ac.nn, ac.linalg, ac.dtypes):
        for name in namespace.__all__:
            value = getattr(namespace, name)
            if isinstance(value, types.FunctionType):
                assert pickle.loads(pickle.dumps(value)) is value, name
    assert inspect.getfullargspec(ac.reshape).args == ["tensor", "shape", "name"]
    assert inspect.getfullargspec(ac.function(lambda x, a=1: x))[:4] == (["x", "a"], None, None, (1,))


def test_keyword_arguments_are_changed_in_loops():
    def helper(x, **options):
        scale = options.pop("scale", 1.0)
        options["seen"] = True
        return x * scale + len(options)

    @ac.function
    def f(x, n):
        for _ in ac.range(n):
            x = helper(x, scale=2.0)
        return x

    arguments = {"scale": 3.0}
    assert float(f(ac.constant(1.0), ac.constant(3))) == 15.0
    assert float(ac.function(lambda x: helper(x, **arguments))(ac.constant(1.0))) == 4.0 and arguments == {"scale": 3.0}


def test_a_variable_of_a_known_shape_is_made_while_tracing():
    class Mean(ac.Module):
        total = None

        def __call__(self, x):
            if self.total is None:
                self.total = ac.Variable(ac.zeros_like(ac.reduce_mean(x, 0)))
            return x + self.total

    concrete = ac.function(Mean()).get_concrete_function(ac.TensorSpec([None, 3]))
    assert concrete.output_shapes == ac.TensorShape([None, 3]) and concrete.output_dtypes is ac.float32
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    assert concrete(ac.ones([2, 3])).numpy().tolist() == [[1.0] * 3] * 2


def test_shapes_of_results_are_leaves():
    concrete = ac.function(lambda x: {"a": x, "b": (x[0], None)}).get_concrete_function(ac.TensorSpec([None, 3]))
    shapes = concrete.output_shapes
    assert shapes == {"a": ac.TensorShape([None, 3]), "b": (ac.TensorShape([3]), None)}
    shape = shapes["a"]
    assert not isinstance(shape, tuple) and shape == (None, 3) and hash(shape) == hash(ac.TensorShape([None, 3]))
    assert shape.rank == len(shape) == 2 and shape.as_list() == [*shape] and shape[1:] == (3,)
    assert (1,) + shape == (1, None, 3)  # noqa: RUF005
    assert ac.TensorSpec(shape, ac.float32) == ac.TensorSpec([None, 3]) and ac.TensorShape(shape) == shape
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert repr(shape) == "TensorShape([None, 3])" and str(shape) == "(None, 3)"


def test_functions_are_decorated_before_their_first_trace():
    f = ac.function(lambda x: x + 1.0)
    f._decorate(lambda function: lambda x: 2.0 * function(x))
    assert float(f(ac.constant(1.0))) == 4.0
    with pytest.raises(ValueError, match="after they have been traced"):
        f._decorate(lambda function: function)


def test_objects_of_registered_classes_are_operands():
    class Half:
        pass

    ac.register_tensor_conversion_function(Half, lambda value, dtype=None, name=None, as_ref=False: ac.constant(0.5))
    assert float(ac.constant(1.0) + Half()) == 1.5 and float(ac.reduce_sum(Half())) == 0.5
    with pytest.raises(TypeError):
        ac.register_tensor_conversion_function(int, lambda value: value)


def test_diagonals_of_tensors_of_even_rank():
    x = np.arange(6.0).reshape(2, 3)
    matrix = ac.linalg.tensor_diag(x)
    assert matrix.shape == (2, 3, 2, 3) and matrix.numpy()[1, 2, 1, 2] == 5.0 and matrix.numpy().sum() == 15.0
    np.testing.assert_array_equal(ac.linalg.tensor_diag_part(matrix).numpy(), x)


def test_lists_of_a_trace_are_added_to_shapes():
    f = ac.function(lambda x: ac.zeros([x.shape[0]] + x.shape[1:]))  # noqa: RUF005 the operator
    assert f(ac.ones([2, 3])).shape == (2, 3)


def test_an_array_takes_the_dtype_of_a_tensor():
    x, i = ac.constant([1.0, 2.0]), ac.constant([1, 2])
    for run in (lambda f: f, ac.function):
        assert run(lambda x: x + np.ones(2))(x).dtype is ac.float32
        assert run(lambda x: np.array([1, 2]) * x)(x).dtype is ac.float32
        assert run(lambda x: ac.maximum(np.zeros(2), x))(x).dtype is ac.float32
        assert run(lambda i: i + np.array([1, 2]))(i).dtype is ac.int32
        assert run(lambda i: i + np.array([1.5, 2.5]))(i).numpy().tolist() == [2, 4]  # TensorFlow casts it, too
        with pytest.raises((TypeError, ac.errors.InvalidArgumentError)):
            run(lambda x: x + ac.constant([1.0, 2.0], ac.float64))(x)


def test_decompositions_have_names():
    x = ac.constant([[2.0, 1.0], [1.0, 3.0]])
    assert ac.linalg.qr(x)._fields == ("q", "r")
    found = ac.function(ac.linalg.slogdet)(x)
    assert float(found.sign) == 1.0 and abs(float(found.log_abs_determinant) - np.log(5.0)) < 1e-6


def test_functions_have_tensorflows_parameters():
    for f in (ac.zeros, ac.ones, ac.fill, ac.zeros_like, ac.ones_like):
        assert inspect.getfullargspec(f).args[-2:] == ["name", "layout"]
    for f in (ac.tensor_scatter_nd_add, ac.tensor_scatter_nd_sub):
        assert inspect.getfullargspec(f).args[-2:] == ["bad_indices_policy", "name"]
    for f, name in ((ac.concat, "concat"), (ac.split, "split"), (ac.stack, "stack"), (ac.unstack, "unstack")):
        assert inspect.getfullargspec(f).defaults[-1] == name
    assert inspect.getfullargspec(ac.shape).defaults == inspect.getfullargspec(ac.size).defaults == (None, None)
