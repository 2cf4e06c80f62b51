"""Samples of ops and programs of fixtures as graphs, for the tests of writers for other runtimes."""

import copy
import functools
import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

import autoconv
from autoconv.backends.portable import GraphUnfit
from autoconv.graph.dtypes import as_dtype, int64
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops import OPS
from autoconv.optimise.known_parameters import fix_parameters
from autoconv.optimise.specialise import CannotSpecialise, specialise
from autoconv.runtime.support.structure import flatten
from autoconv.tracing.api.exported_generators import replace_generators
from autoconv.tracing.key.cache_key import Literal, Reference
from autoconv.tracing.views.portable import prepare
from tests.module_loading import load_module

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "other-runtimes.md"
HEADING = "## What has no form"
NOT_LISTED = re.compile("string_|unicode_|as_string|constant-|random_|list_|print-|py_call|numpy_call")  # in prose


def numeric_samples():
    """Return (name, sample) of all ops that take arrays of numbers."""
    for name in sorted(OPS):
        for i, sample in enumerate(OPS[name].samples):
            inputs = sample.inputs
            if all(isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype != object for x in inputs):
                yield f"{name}-{i}", OPS[name], sample


def graph_of(*pairs):
    """Return a graph that applies several ops: pairs of an op and a sample."""
    graph = Graph("main")
    for op, sample in pairs:
        values = [graph.add_parameter(TensorType(as_dtype(np.asarray(x).dtype), np.shape(x))) for x in sample.inputs]
        graph.outputs += graph.add(op, values, sample.attributes).results
    try:
        return specialise(graph, [value.type for value in graph.parameters])
    except CannotSpecialise:
        return graph


def samples_with_form(write):
    """Return the samples that `write` can write, as (name, op, sample); it raises GraphUnfit for the others."""
    found = []
    for name, op, sample in numeric_samples():
        try:
            write(graph_of((op, sample)))
        except GraphUnfit as error:
            assert error.reason, name
        else:
            found.append((name, op, sample))
    return found


def assert_page(samples, column):
    """Compare the guide's count of samples that have a form, and its list of other ops but those of `NOT_LISTED`."""
    page = PAGE.read_text(encoding="utf-8")
    total = list(numeric_samples())
    ((count, *fitting_counts),) = re.findall(r"^\| (\d+) samples of ops \| \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    assert (int(count), int(fitting_counts[column])) == (len(total), len(samples)), "the numbers of the guide"
    fits = {name for name, _, _ in samples}
    none, complex_ones = set(), set()
    for name, op, sample in total:
        if name not in fits and not NOT_LISTED.match(name):
            is_complex = any(np.asarray(x).dtype.kind == "c" for x in sample.inputs)
            (complex_ones if is_complex else none).add(op.name)
    listed, listed_complex = set(), set()
    table = page.partition(HEADING)[2].partition("| ops | StableHLO |")[2]
    for ops, *cells in re.findall(r"^\| ([^|]*) \| ?([^|]*?) ?\| ?([^|]*?) ?\|$", table, re.MULTILINE):
        if cells[column]:
            (listed_complex if "complex operands" in ops else listed).update(re.findall(r"`(\w+)`", ops))
    assert listed == none, sorted(listed ^ none)
    assert listed_complex == complex_ones - none, f"complex operands: {sorted(listed_complex ^ complex_ones - none)}"


def assert_samples(samples, run):
    """Run samples, several in each graph, and compare them with kernels; `run(graph, inputs)` returns the results."""
    for start in range(0, len(samples), 64):
        part = samples[start : start + 64]
        found = iter(run(graph_of(*(row[1:] for row in part)), [x for row in part for x in row[2].inputs]))
        for name, op, sample in part:
            for expected in kernel_results(op, sample):
                assert_close(next(found), expected, name)


def kernel_results(op, sample):
    found = op.kernel(*copy.deepcopy(sample.inputs), **sample.attributes)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def assert_close(found, expected, name=""):
    expected = np.asarray(expected)
    assert found.shape == expected.shape, name
    if expected.dtype.kind in "fc":
        single = expected.dtype in (np.float16, np.float32, np.complex64)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if single else 1e-13, atol=1e-12, err_msg=name)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=name)


def numpy_program(name):
    """Return module, graph, arguments and results of a program of fixtures/numpy, and the arguments after the run."""
    path = FIXTURES / "numpy" / f"{name}.py"
    module = load_module(path, name)
    arguments = list(module.make(0))
    compiled = autoconv.compile(module.program)
    compiled(*copy.deepcopy(arguments))
    concrete = compiled.concrete_functions[0]
    expected_arguments = copy.deepcopy(arguments)
    expected = module.program(*expected_arguments)
    graph, arrays = graph_and_arrays(concrete, arguments)
    expected = [np.asarray(x) for x in flatten(expected)[0] if x is not None]
    return module, graph, arrays, expected, parameters_of(concrete, expected_arguments)


def graph_and_arrays(concrete, arguments, fixes_integers=False):
    """Return the graph of a trace for the sizes of these arguments, as writers take it, and its arguments.

    With `fixes_integers` those that are integers of Python, which may be sizes, become constants of the graph.
    """
    graph, arrays = concrete.recorded, parameters_of(concrete, arguments)
    if fixes_integers:
        numbers = {i for i, v in enumerate(graph.parameters) if v.type == TensorType(int64, (), True)}
        graph = fix_parameters(graph, {i: arrays[i] for i in numbers})
        arrays = [x for i, x in enumerate(arrays) if i not in numbers]
    types = [
        replace(v.type, shape=x.shape) if isinstance(v.type, ArrayType) else v.type.with_shape(x.shape)
        for v, x in zip(graph.parameters, arrays, strict=True)
    ]
    return prepare(replace_generators(graph), types), arrays


def parameters_of(concrete, arguments):
    """Return the arguments and captures of a trace as arrays for the parameters of its graph."""
    leaves = flatten((tuple(arguments), {}))[0]
    found = [x for key, x in zip(concrete.key.leaves, leaves, strict=True) if not isinstance(key, (Literal, Reference))]
    found += [getattr(x, "_array", x) for x in concrete.captures]
    types = [value.type for value in concrete.recorded.parameters]
    return [np.array(x, type_.dtype.numpy) for x, type_ in zip(found, types, strict=True)]


def assert_numpy_program(name, run):
    """Compare a program of fixtures/numpy with plain NumPy, what it changes included.

    `run(graph, arrays)` returns the values, how many of them are results, and the positions of the changed arguments,
    whose new contents follow.
    """
    module, graph, arrays, expected, after = numpy_program(name)
    found, count, written = run(graph, [x.copy() for x in arrays])
    assert_program(found, count, written, expected, after, module.TOLERANCE)


def run_stablehlo(text, arrays, types):
    """Run a StableHLO module by XLA; return its results, of these types, and the error word."""
    argument_types = [TensorType(as_dtype(np.asarray(x).dtype), np.shape(x)) for x in arrays]
    return _executable(text, tuple(argument_types), tuple(types))(arrays)


def run_module(module, arrays):
    """Run a module by XLA; return its results, as long as its lengths state, and the error word."""
    results, word = run_stablehlo(module.text, arrays, module.types)
    return module.cut(results), word


def run_onnx(model, arrays):
    """Run an ONNX model; return its results, and the error word. Complex numbers are pairs of parts in a model."""
    options = importlib.import_module("onnxruntime").SessionOptions()
    options.log_severity_level = 4
    session = importlib.import_module("onnxruntime").InferenceSession(model.SerializeToString(), options)
    complex_names = session.get_modelmeta().custom_metadata_map.get("complex", "").split()
    feeds = {
        value.name: np.stack([np.real(x), np.imag(x)], -1) if value.name in complex_names else np.asarray(x)
        for value, x in zip(model.graph.input, arrays, strict=True)
    }
    *results, word = session.run(None, feeds)
    for i, value in enumerate(model.graph.output[:-1]):
        if value.name in complex_names:
            results[i] = results[i][..., 0] + 1j * results[i][..., 1]
    return results, int(word)


@functools.lru_cache(16)
def _executable(text, parameters, types):
    client = importlib.import_module("autoconv.backends.xla.client")
    executable = importlib.import_module("autoconv.backends.xla.executable")
    return executable.Executable(text, client.find_device(), list(parameters), list(types))


def integers_of(arrays):
    return {i: int(x) for i, x in enumerate(arrays) if x.shape == () and x.dtype.kind == "i"}


def assert_program(found, count, written, expected, after, tolerance):
    """Compare results, which contain the expected ones in order, and changed arguments with plain NumPy's."""
    results = found[:count]
    for value in expected:
        match = [x for x in results if x.shape == value.shape and np.allclose(x, value, rtol=1e-7, atol=tolerance)]
        assert match, value
    for position, value in zip(written, found[count:], strict=False):
        np.testing.assert_allclose(value, after[position], rtol=1e-9, atol=max(tolerance, 1e-12))


def close_sizes(text, arrays):
    """Return a StableHLO module of open sizes for the sizes of these arguments, as XLA takes it."""
    lines = text.splitlines(keepends=True)
    entries = []
    for name, type_ in re.findall(r"(%arg\d+): (tensor<[^>]*>)", lines[1]):
        sizes = [str(size) for size in np.shape(arrays[int(name[4:])])]
        closed = f"tensor<{'x'.join([*sizes, type_[7:].rpartition('x')[2]])}"
        lines[1] = lines[1].replace(f"{name}: {type_}", f"%given{name[4:]}: {closed}")
        entries.append(f"    {name} = stablehlo.convert %given{name[4:]} : ({closed}) -> {type_}\n")
    closed_text = "".join([*lines[:2], *entries, *lines[2:]])
    return importlib.import_module("jaxlib._jax").mlir.refine_polymorphic_shapes(closed_text.encode())
