"""Every function of the array API namespace against NumPy's, on arguments that hypothesis draws: at once and in graphs.

`AUTOCONV_XP_EXAMPLES=200` tries so many arguments for each function; a graph has one call of each function of a family.
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
# Whose shapes only the values say: at once alone.
BY_VALUES = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
# Whose results are sums of products, or functions that a libm rounds in its own way.
EXACT = {"add", "subtract", "multiply", "divide", "abs", "negative", "square", "sqrt", "clip", "maximum", "minimum"}


def named(namespace, name):
    return functools.reduce(getattr, name.split("."), namespace)



# What NumPy has under another signature, or not as the standard means it.
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
        _so_far(np.cumsum, 0, x, axis, dtype, include_initial)),
    "cumulative_prod": lambda x, axis=0, include_initial=False: _so_far(np.cumprod, 1, x, axis, None, include_initial),
    "unstack": lambda x, axis: tuple(np.moveaxis(x, axis, 0)),
    "fft.fftfreq": lambda n, d=1.0, dtype=float: np.fft.fftfreq(n, d).astype(dtype),
    "fft.rfftfreq": lambda n, d=1.0, dtype=float: np.fft.rfftfreq(n, d).astype(dtype),
    **{f"fft.{n}": functools.partial(lambda n, x, s=None, axes=None, norm=None: getattr(np.fft, n)(
        x, s, axes if axes or s is None else range(-len(s), 0), norm), n)
       for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    "linalg.pinv": lambda x: np.linalg.pinv(x, rtol=None),
}  # fmt: skip


def _so_far(function, first, x, axis, dtype, include_initial):
    found = function(x, axis, dtype)
    if not include_initial:
        return found
    shape = list(found.shape)
    shape[axis] = 1
    return np.concatenate([np.full(shape, first, found.dtype), found], axis)


def expected(name, args, kwargs):
    with np.errstate(all="ignore"):
        return REFERENCES.get(name, functools.partial(_numpy, name))(*args, **kwargs)


def _numpy(name, *args, **kwargs):
    return named(np, name)(*args, **kwargs)


def found(name, args, kwargs, convert):
    def of(x):
        if isinstance(x, np.ndarray):
            return convert(x)
        return [of(v) for v in x] if isinstance(x, list) and any(isinstance(v, np.ndarray) for v in x) else x

    with np.errstate(all="ignore"):
        return named(xp, name)(*map(of, args), **{k: of(v) for k, v in kwargs.items()})


def check(name, got, wanted, args):
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            check(name, one, other, args)
        return
    assert isinstance(got, ac.Tensor), type(got)
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype, f"{got.dtype} for {wanted.dtype}"
    assert got.shape == wanted.shape
    if wanted.dtype.kind in "biu" or name in ("linalg.svd", "linalg.eigh"):  # whose vectors have a sign of their own
        wanted, got = (wanted, got) if wanted.dtype.kind in "biu" else (np.abs(wanted), np.abs(got))
    single = any(getattr(x, "dtype", None) in (np.float32, np.complex64) for x in [*args, wanted])
    tolerance = 0 if wanted.dtype.kind in "biu" else 3e-5 if single else 1e-11
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def limits(share):
    return settings(
        max_examples=max(1, int(EXAMPLES * share)), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), derandomize=True,
    )  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_at_once(name):
    @limits(1)
    @given(CALLS[name])
    def agrees(call):
        args, kwargs = call
        check(name, found(name, args, kwargs, xp.asarray), expected(name, args, kwargs), args)

    agrees()


@pytest.mark.parametrize("family", FAMILIES)
def test_in_a_graph(family):
    names = [name for name in FAMILIES[family] if name not in BY_VALUES]

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
                results[name] = found(name, tensors, kwargs, lambda x: ac.identity(ac.constant(x)))
            return results

        results = every({key: xp.asarray(x) for key, x in inputs.items()})
        for name, (args, kwargs) in calls.items():
            with np.errstate(all="ignore"):
                try:
                    check(name, results[name], expected(name, args, kwargs), args)
                except AssertionError as error:
                    raise AssertionError(f"{name}: {args} {kwargs}: {error}") from None

    agrees()


def written_out(calls):
    """The calls as the source of a function of the arrays, which are given by name."""
    lines = []
    for name, (args, kwargs) in calls.items():
        own = [_text(x, f"{name}/{i}") for i, x in enumerate(args)]
        own += [f"{key}={_text(x, f'{name}/{key}')}" for key, x in kwargs.items()]
        lines.append(f"    found[{name!r}] = xp.{name}({', '.join(own)})")
    return "\n".join(["def every(given):", "    found = {}", *lines, "    return found", ""])


def _text(x, key):
    if isinstance(x, np.ndarray):
        return f"given[{key!r}]"
    if isinstance(x, list) and any(isinstance(v, np.ndarray) for v in x):
        return "[" + ", ".join(_text(v, f"{key}/{i}") for i, v in enumerate(x)) + "]"
    return repr(x)


def given_arrays(args, kwargs, name):
    found = {}

    def note(x, key):
        if isinstance(x, np.ndarray):
            found[key] = xp.asarray(x)
        elif isinstance(x, list):
            for i, v in enumerate(x):
                note(v, f"{key}/{i}")

    for i, x in enumerate(args):
        note(x, f"{name}/{i}")
    for key, x in kwargs.items():
        note(x, f"{name}/{key}")
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_compiled(family):
    names = [name for name in FAMILIES[family] if name not in BY_VALUES]

    @limits(0.25)
    @given(st.fixed_dictionaries({name: CALLS[name] for name in names}))
    def agrees(calls):
        text, file = written_out(calls), f"<compiled {family}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        namespace = {"xp": xp, "inf": np.inf, "nan": np.nan}
        exec(compile(text, file, "exec"), namespace)
        every = ac.compile(namespace["every"])
        arrays = {}
        for name, (args, kwargs) in calls.items():
            arrays.update(given_arrays(args, kwargs, name))
        results = every(arrays)
        assert every.experimental_get_tracing_count() == 1, every.explain()
        for name, (args, kwargs) in calls.items():
            try:
                check(name, results[name], expected(name, args, kwargs), args)
            except AssertionError as error:
                raise AssertionError(f"{name}: {args} {kwargs}: {error}") from None

    agrees()
