"""Numbers drawn from NumPy's generators in native code are NumPy's, bit by bit."""

from __future__ import annotations

import numpy as np

import autoconv


def test_draws_in_a_loop_are_numpys_and_continue_the_stream():
    def inside(n, seed):
        rng = np.random.default_rng(seed)
        count = 0
        for _ in range(n):
            x, y = rng.random(), rng.random()
            if x * x + y * y < 1:
                count += 1
        return 4 * count / n, rng.random(3), rng.random(size=(2, 2)), rng.normal(), rng.random()

    compiled = autoconv.compile(inside)
    for arguments in ((100, 3), (7, 4), (0 + 1, 5)):
        for ours, numpys in zip(compiled(*arguments), inside(*arguments), strict=True):
            np.testing.assert_array_equal(ours, numpys, strict=True)
    assert "plain Python" not in compiled.explain() and "3 by kernels" not in compiled.explain()


def test_other_bit_generators_have_their_own_functions():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total

    compiled = autoconv.compile(f)
    for kind in (np.random.MT19937, np.random.Philox, np.random.SFC64):
        assert compiled(np.random.Generator(kind(7)), 20) == f(np.random.Generator(kind(7)), 20)
