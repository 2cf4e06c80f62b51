"""A few random programs; `python tests/fuzz/gradients.py` runs more."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

gradients = load_module(Path(__file__).with_name("gradients.py"), "fuzz_gradients")


@pytest.mark.parametrize("number", (1, 7, 11))  # short ones: loops of both kinds, jumps, try, nested functions
def test_program(number, monkeypatch):
    monkeypatch.setenv("AUTOCONV_VERIFY", "1")  # graphs that do not verify make the calls plain, without a gradient
    source = gradients.Generator(number).program()
    kind, details = gradients.check(source, number)
    assert kind == "agrees", f"{source}\n{details}"


def test_dual_numbers():
    """The derivatives of x·sin(x)/(2 + x) by dual numbers are those of finite differences."""
    x = 0.7
    slope, curve = gradients.expected_derivatives(lambda d, n: d * gradients.dual_sin(d) / (2.0 + d), x, 0)
    h = 1e-4

    def f(a):
        return a * gradients.math.sin(a) / (2.0 + a)

    assert slope == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-7)
    assert curve == pytest.approx((f(x + h) - 2 * f(x) + f(x - h)) / h**2, rel=1e-6)
