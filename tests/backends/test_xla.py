"""The backend `xla` against the native one: results, written arguments and variables, errors, what runs natively."""

import numpy as np
import pytest

import autoconv

pytest.importorskip("jaxlib")


@pytest.fixture(autouse=True)
def by_xla(monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "backend", "xla")
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")


def test_loops_and_branches_on_tensors():
    @autoconv.function
    def f(x, n):
        i = 0
        while i < n:
            x = x * 2.0 if autoconv.reduce_sum(x) < 10.0 else x - 1.0
            i += 1
        return x

    x = autoconv.constant([1.0, 2.0])
    assert f(x, autoconv.constant(3)).numpy().tolist() == [3.0, 7.0]
    assert "compiled by XLA" in f.explain()


def test_arrays_are_written_in_place():
    @autoconv.compile
    def f(x, n):
        y = np.zeros(n)
        for i in range(n):
            y[i % 3] += x[i] * 2
        x[0] = 7
        return y

    x = np.arange(10.0)
    for n in (4, 6):
        given = np.arange(10.0)
        expected = np.zeros(n)
        for i in range(n):
            expected[i % 3] += given[i] * 2
        assert f(given, n).tolist() == expected.tolist()
        assert given[0] == 7
    assert "compiled by XLA" in f.explain()
    with pytest.raises(IndexError, match="index 10 is out of bounds"):
        f(x, 20)


def test_variables_change():
    total = autoconv.Variable([1.0, 2.0])

    @autoconv.function
    def f(x):
        total.assign_add(x)
        return total.read_value() * 2.0

    assert f(autoconv.constant([0.5, 0.5])).numpy().tolist() == [3.0, 5.0]
    assert total.numpy().tolist() == [1.5, 2.5]


def test_the_identity_of_results_is_kept():
    @autoconv.compile
    def f(x):
        x += 1
        return x, x[1:]

    x = np.arange(4.0)
    same, part = f(x)
    assert same is x
    assert np.shares_memory(part, x)
    assert "not by XLA" in f.explain()


def test_arguments_that_overlap_run_natively():
    @autoconv.compile
    def f(a, b):
        for _ in range(3):
            b += a
        return

    whole, plain = np.arange(6.0), np.arange(6.0)
    f(whole[:-1], whole[1:])
    for _ in range(3):
        plain[1:] += plain[:-1]
    assert whole.tolist() == plain.tolist()


def test_an_array_that_a_branch_chooses_is_an_argument():
    @autoconv.compile
    def f(a, b):
        if a[0] < b[0]:
            a, b = b, a
        return a

    x, y = np.zeros(2), np.ones(2)
    assert f(x, y) is y
    assert f(y, x) is y


def test_a_branch_gives_an_array_as_it_leaves_it():
    @autoconv.compile
    def f(a, b, x):
        if a[0] < b[0]:
            a, b = b, a
        else:
            for i in range(3):
                b[i] -= x[i]
        x[0] = b[0] * 2
        return

    for first in (0.0, 9.0):
        a, b, x = np.full(3, first), np.ones(3), np.full(3, 5.0)
        f(a, b, x)
        assert x[0] == (0.0 if first < 1 else -8.0)


def test_text_runs_natively():
    @autoconv.function
    def f(x):
        return autoconv.strings.upper(x)

    assert f(autoconv.constant("abc")).numpy() == b"ABC"
    assert "not by XLA" in f.explain()


def test_several_shapes():
    @autoconv.function(input_signature=[autoconv.TensorSpec([None], autoconv.float32)])
    def f(x):
        return autoconv.cumsum(x) / autoconv.cast(autoconv.size(x), autoconv.float32)

    for size in (1, 3, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_allclose(f(x).numpy(), np.cumsum(x) / size, rtol=1e-6)
