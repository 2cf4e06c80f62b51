"""Every function of the array API namespace against NumPy's, on random arguments of hypothesis, eager and in graphs.

`AUTOCONV_XP_EXAMPLES` is the number of arguments for each function. A graph has one call of each function of a family.
"""

import functools
import linecache
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autoconv as ac
from tests.xp.table import FAMILIES

xp = ac.xp
EXAMPLES = int(os.environ.get("AUTOCONV_XP_EXAMPLES", "4"))
CALLS = {name: strategy for family in FAMILIES.values() for name, strategy in family.items()}
# Functions whose result shapes depend on values: tested eagerly only.
VALUE_DEPENDENT = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}


def lookup(namespace, name):
    return functools.reduce(getattr, name.split("."), namespace)



# References where NumPy's function has another signature, or differs from the standard.
REFERENCES = {
    "expand_dims": lambda x, axis=0: np.expand_dims(x, axis),
    "full": lambda shape, value, dtype=None: np.full(shape, value, dtype),
    "asarray": lambda x, copy=None: np.array(x),
    "astype": lambda x, dtype: x.astype(dtype),
    "arange": lambda start, stop, step, dtype=None: (
        np.arange(0, start, step, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype=dtype)),
    "eye": lambda n, m, k, dtype=float: np.eye(n, m, k, dtype),
    "clip": lambda x, low=None, high=None: np.clip(x, low, high),
    "argsort": lambda x, axis=-1, descending=False, stable=True: (
        np.argsort(-x.astype(object).astype(float) if descending else x, axis=axis, stable=True)),
    "sort": lambda x, axis=-1, descending=False, stable=True: (
        np.flip(np.sort(x, axis=axis), axis) if descending else np.sort(x, axis=axis)),
    "cumulative_sum": lambda x, axis=0, dtype=None, include_initial=False: (
        _cumulative_result(np.cumsum, 0, x, axis, dtype, include_initial)),
    "cumulative_prod": lambda x, axis=0, include_initial=False: (
        _cumulative_result(np.cumprod, 1, x, axis, None, include_initial)),
    "unstack": lambda x, axis: tuple(np.moveaxis(x, axis, 0)),
    "fft.fftfreq": lambda n, d=1.0, dtype=float: np.fft.fftfreq(n, d).astype(dtype),
    "fft.rfftfreq": lambda n, d=1.0, dtype=float: np.fft.rfftfreq(n, d).astype(dtype),
    **{f"fft.{n}": functools.partial(lambda n, x, s=None, axes=None, norm=None: getattr(np.fft, n)(
        x, s, axes if axes or s is None else range(-len(s), 0), norm), n)
       for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    "linalg.pinv": lambda x: np.linalg.pinv(x, rtol=None),
}  # fmt: skip


def _cumulative_result(function, initial, x, axis, dtype, include_initial):
    result = function(x, axis, dtype)
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    return np.concatenate([np.full(shape, initial, result.dtype), result], axis)


def numpy_result(name, args, kwargs):
    with np.errstate(all="ignore"):
        return REFERENCES.get(name, functools.partial(_numpy, name))(*args, **kwargs)


def _numpy(name, *args, **kwargs):
    return lookup(np, name)(*args, **kwargs)


def xp_result(name, args, kwargs, convert):
    def converted(x):
        if isinstance(x, np.ndarray):
            return convert(x)
        return [converted(v) for v in x] if isinstance(x, list) and any(isinstance(v, np.ndarray) for v in x) else x

    with np.errstate(all="ignore"):
        return lookup(xp, name)(*map(converted, args), **{k: converted(v) for k, v in kwargs.items()})


def check(name, actual, expected, args):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for actual_part, expected_part in zip(actual, expected, strict=True):
            check(name, actual_part, expected_part, args)
        return
    assert isinstance(actual, ac.Tensor), type(actual)
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{actual.dtype} for {expected.dtype}"
    assert actual.shape == expected.shape
    if expected.dtype.kind in "biu" or name in ("linalg.svd", "linalg.eigh"):  # vectors have arbitrary signs
        expected, actual = (expected, actual) if expected.dtype.kind in "biu" else (np.abs(expected), np.abs(actual))
    is_single = any(getattr(x, "dtype", None) in (np.float32, np.complex64) for x in [*args, expected])
    tolerance = 0 if expected.dtype.kind in "biu" else 3e-5 if is_single else 1e-11
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def limits(share):
    return settings(
        max_examples=max(1, int(EXAMPLES * share)), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), derandomize=True,
    )  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_eager(name):
    @limits(1)
    @given(CALLS[name])
    def agrees(call):
        args, kwargs = call
        check(name, xp_result(name, args, kwargs, xp.asarray), numpy_result(name, args, kwargs), args)

    agrees()


@pytest.mark.parametrize("family", FAMILIES)
def test_in_a_graph(family):
    names = [name for name in FAMILIES[family] if name not in VALUE_DEPENDENT]

    @limits(0.25)
    @given(st.fixed_dictionaries({name: CALLS[name] for name in names}))
    def agrees(calls):
        each = [(f"{name}/{i}", x) for name, (args, _) in calls.items() for i, x in enumerate(args)]
        inputs = {key: x for key, x in each if isinstance(x, np.ndarray)}

        @ac.function(autograph=False)
        def every(given):
            results = {}
            for name, (args, kwargs) in calls.items():
                tensors = tuple(given.get(f"{name}/{i}", x) for i, x in enumerate(args))
                results[name] = xp_result(name, tensors, kwargs, lambda x: ac.identity(ac.constant(x)))
            return results

        results = every({key: xp.asarray(x) for key, x in inputs.items()})
        for name, (args, kwargs) in calls.items():
            with np.errstate(all="ignore"):
                try:
                    check(name, results[name], numpy_result(name, args, kwargs), args)
                except AssertionError as error:
                    raise AssertionError(f"{name}: {args} {kwargs}: {error}") from None

    agrees()


def program_source(calls):
    """Return the source of a function that makes the calls; its argument is a dict of the arrays by name."""
    lines = []
    for name, (args, kwargs) in calls.items():
        texts = [_text(x, f"{name}/{i}") for i, x in enumerate(args)]
        texts += [f"{key}={_text(x, f'{name}/{key}')}" for key, x in kwargs.items()]
        lines.append(f"    found[{name!r}] = xp.{name}({', '.join(texts)})")
    return "\n".join(["def every(given):", "    found = {}", *lines, "    return found", ""])


def _text(x, key):
    if isinstance(x, np.ndarray):
        return f"given[{key!r}]"
    if isinstance(x, list) and any(isinstance(v, np.ndarray) for v in x):
        return "[" + ", ".join(_text(v, f"{key}/{i}") for i, v in enumerate(x)) + "]"
    return repr(x)


def array_arguments(args, kwargs, name):
    arrays = {}

    def add_arrays(x, key):
        if isinstance(x, np.ndarray):
            arrays[key] = xp.asarray(x)
        elif isinstance(x, list):
            for i, v in enumerate(x):
                add_arrays(v, f"{key}/{i}")

    for i, x in enumerate(args):
        add_arrays(x, f"{name}/{i}")
    for key, x in kwargs.items():
        add_arrays(x, f"{name}/{key}")
    return arrays


@pytest.mark.parametrize("family", FAMILIES)
def test_compiled(family):
    names = [name for name in FAMILIES[family] if name not in VALUE_DEPENDENT]

    @limits(0.25)
    @given(st.fixed_dictionaries({name: CALLS[name] for name in names}))
    def agrees(calls):
        text, file = program_source(calls), f"<compiled {family}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        namespace = {"xp": xp, "inf": np.inf, "nan": np.nan}
        exec(compile(text, file, "exec"), namespace)
        every = ac.compile(namespace["every"])
        arrays = {}
        for name, (args, kwargs) in calls.items():
            arrays.update(array_arguments(args, kwargs, name))
        results = every(arrays)
        assert every.experimental_get_tracing_count() == 1, every.explain()
        for name, (args, kwargs) in calls.items():
            try:
                check(name, results[name], numpy_result(name, args, kwargs), args)
            except AssertionError as error:
                raise AssertionError(f"{name}: {args} {kwargs}: {error}") from None

    agrees()
