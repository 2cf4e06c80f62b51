"""Python's own complex numbers in staged code: its results to the last bit, its types and its errors."""

import cmath
import itertools
import linecache
import math
import random

import pytest

import autoconv
from autoconv import constant

_INF, _NAN = math.inf, math.nan
_COMPLEX = (
    0j, complex(-0.0, -0.0), complex(-0.0, 0.0), 1 + 2j, -1.5 + 0.25j, complex(_INF, 1.0), complex(1.0, -_INF),
    complex(_NAN, 1.0), complex(_INF, _NAN), 1e300 + 1e300j, 1e-320 + 1e-310j, complex(2.0**53),
)  # fmt: skip
_REAL = (0.5, -0.0, 2.0, _INF, _NAN, 3, 0, -2, True, 2**53 + 1, 101)


def build_function(body, parameters):
    """Return a function with this body, whose source is in `linecache`."""
    source = f"def program({parameters}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    name = f"<complex numbers: {body}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"cmath": cmath, "math": math}
    exec(compile(source, name, "exec"), names)
    return names["program"]


def outcome(function, arguments):
    """Return the text of the result, which shows its type and signs of zeros, or the error."""
    try:
        return repr(function(*arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(body, parameters, cases, staged=True):
    plain = build_function(body, parameters)
    compiled = autoconv.compile(plain)
    for case in cases:
        assert outcome(compiled, case) == outcome(plain, case), (body, case)
    assert not staged or "plain Python" not in compiled.explain()


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**", "==", "!="])
def test_operators_on_edges(operator):
    numbers = (*_COMPLEX, *_REAL)
    pairs = [(x, y) for x, y in itertools.product(numbers, repeat=2) if complex in (type(x), type(y))]
    check(f"return z {operator} w", "z, w", pairs)


@pytest.mark.parametrize("name", [
    "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
    "acosh", "atanh", "phase", "polar", "isnan", "isinf", "isfinite",
])  # fmt: skip
def test_functions_of_cmath_on_edges(name):
    parts = (-800.0, -3.0, -0.7, -0.0, 0.0, 1e-5, 0.9, 20.0, 711.0, 1e300), (-1e5, -1.0, -0.0, 0.0, 1e-310, 0.3, _INF)
    cases = [(complex(x, y),) for x, y in itertools.product(*parts)]
    check(f"return cmath.{name}(z)", "z", [*cases, *((z,) for z in _COMPLEX)])


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh", "log10"])
def test_inverse_functions_of_numbers_of_all_sizes(name):
    draws = random.Random(name)
    sizes = [(draws.choice((-1, 1)) * 10.0 ** draws.uniform(-8, 8), draws.gauss(0, 1)) for _ in range(60)]
    sizes += [(x, 10.0 ** draws.uniform(-320, 308)) for _, x in sizes[:20]]
    body = f"total = 0j\nfor k in range(2):\n    total = total + cmath.{name}(z) * k\nreturn total, cmath.{name}(z)"
    check(body, "z", [(complex(x, y),) for x, y in sizes] + [(complex(y, x),) for x, y in sizes])


@pytest.mark.parametrize("body", [
    "return abs(z), -z, +z, bool(z), not z, z.real, z.imag, z.conjugate()",
    "return z**2, z**3, z**0, z**2.0, 1 / (z or 1), z + 1, 1 - z, 2 * z",
    "return complex(z), complex(z, 1), complex(1, z), complex(z, z), complex(imag=z.real), complex(z.real)",
    "return str(z), f'{z}', f'{z:.3f}', '%s' % z, repr(z), [z, {'a': z}]",
    "return isinstance(z, complex), type(z) is complex, isinstance(z, float), z is None, z == 'a', z in (1, 1+2j)",
    "return cmath.rect(z.real, z.imag), cmath.isclose(z, 1+2j), z and 3, z or 7, (z if z.real > 0 else 5)",
    "return sum([z, z, 1]), [z * k for k in range(3)], list(map(abs, [z, 1])), {1+2j: 5}.get(z)",
    "z += 1\nz *= 2j\nz -= 0.5\nz /= 3\nreturn z",
])  # fmt: skip
def test_expressions(body):
    check(body, "z", [(z,) for z in _COMPLEX])


@pytest.mark.parametrize("expression", [
    "z < 1", "1 < z", "z >= z", "z // 2", "5 % z", "divmod(z, 1)", "int(z)", "float(z)", "round(z)", "math.sqrt(z)",
    "z & 1", "range(z)", "[1, 2][z]", "max(z, 1)", "z[0]", "len(z)", "z()", "pow(z, 2, 3)", "'a' + z", "z + None",
    "complex('1', z)", "complex(z, '1')", "z ** 100", "z ** -1", "z @ z",
])  # fmt: skip
def test_errors_are_pythons(expression):
    check(f"return {expression}", "z", [(z,) for z in _COMPLEX], staged=False)


_CASES = [(complex(x, y), n) for x in (-0.5, 0.3, -2.0, _INF, _NAN) for y in (0.5, -0.1, -0.0) for n in (0, 3, 40)]


@pytest.mark.parametrize("start", ["0j", "0", "0.0", "c"])
def test_mandelbrot(start):
    check(f"z, k = {start}, 0\nwhile abs(z) < 2 and k < n:\n    z, k = z * z + c, k + 1\nreturn z, k", "c, n", _CASES)


@pytest.mark.parametrize("body", [
    "z = c\nfor k in range(n):\n    if abs(z) > 2:\n        break\n    z = z**2 + c\nelse:\n    return z\nreturn k",
    "z = c\nfor k in range(n):\n    z = z**2 + c\nreturn z",
    "zs = []\nfor k in range(n):\n    zs.append(c**k)\nreturn zs, sum(zs), len(zs)",
    "z = c\nfor k in range(n):\n    if z.imag > 0:\n        z = 3\n    else:\n        z = z * 1j + k\nreturn z",
    "z = c\nfor k in range(n):\n    z = cmath.exp(z) - cmath.sqrt(z) if z.imag > 0 else z.conjugate() * 1j\nreturn z",
    "z = c\ntry:\n    for k in range(n):\n        z = z / (z - 0.5)\nexcept ZeroDivisionError as error:\n"
    "    return str(error), k\nreturn z",
    "d = {'a': c}\nfor k in range(n):\n    d['a'] *= 1j\n    d[k] = d['a']\nreturn d",
    "if n > 2:\n    z = c\nelse:\n    z = None\nreturn z",
    "z = 0.5\nfor k in range(n):\n    z = z * c + 1\nreturn z",
])  # fmt: skip
def test_loops_and_branches(body):
    check(body, "c, n", [*_CASES, (0.5 + 0j, 3)])


def test_prints_in_loops(capsys):
    body = "z = c\nfor k in range(n):\n    z = z * 0.5j\n    print(z, f'{z:.2f}')\nreturn z"
    plain = build_function(body, "c, n")
    compiled = autoconv.compile(plain)
    for case in _CASES[:6]:
        plain(*case)
        expected = capsys.readouterr().out
        compiled(*case)
        assert capsys.readouterr().out == expected
    assert "plain Python" not in compiled.explain()


def test_durand_kerner():
    """The roots of x³ - 3x² + 3x - 5, as its Wikipedia article prints them after six steps."""

    @autoconv.compile
    def roots(p, q, r, steps):
        for _ in range(steps):
            p = p - (p**3 - 3 * p**2 + 3 * p - 5) / ((p - q) * (p - r))
            q = q - (q**3 - 3 * q**2 + 3 * q - 5) / ((q - p) * (q - r))
            r = r - (r**3 - 3 * r**2 + 3 * r - 5) / ((r - p) * (r - q))
        return p, q, r

    start = 1 + 0j, 0.4 + 0.9j, (0.4 + 0.9j) ** 2
    found = roots(*start, 6)
    rounded = [complex(round(z.real, 4), round(z.imag, 4)) for z in found]
    assert rounded == [2.5874 + 0j, 0.2063 + 1.3747j, 0.2063 - 1.3747j]
    assert found == roots.python_function(*start, 6)


def test_one_trace_for_all_values():
    @autoconv.compile
    def square(z):
        return z * z

    assert [square(z) for z in (1j, 2j, 3 + 1j, -1 - 1j)] == [-1 + 0j, -4 + 0j, 8 + 6j, 2j]
    assert square.experimental_get_tracing_count() == 1
    assert type(square(1j)) is complex


def test_a_complex_number_beside_numpy():
    import numpy as np

    @autoconv.compile
    def scaled(array, z, n):
        for _ in range(n):
            array = array * z
            z = z * 1j
        return array, z

    array, z = scaled(np.array([1.0, 2.0]), 1 + 1j, 2)
    expected, last = scaled.python_function(np.array([1.0, 2.0]), 1 + 1j, 2)
    assert array.dtype == expected.dtype == np.complex128
    np.testing.assert_array_equal(array, expected)
    assert type(z) is complex and z == last


def test_under_function():
    @autoconv.function
    def escape(n):
        z = 0.5j
        while n > 0:
            z = z * z + complex(z.real, 1.0).conjugate()
            n -= 1
        return z, abs(z)

    z = 0.5j
    for _ in range(3):
        z = z * z + complex(z.real, 1.0).conjugate()
    found, size = escape(constant(3))
    assert (found.dtype, complex(found)) == (autoconv.complex128, z)
    assert float(size) == pytest.approx(abs(z), rel=1e-6)


def test_derivatives():
    def curve(x):
        return abs(cmath.exp(complex(x, 2 * x)) * (1 + x * 1j) ** 2 / (2j + x)) + cmath.rect(x, x).real

    slope = autoconv.grad(autoconv.compile(curve))(0.7)
    assert float(slope) == pytest.approx((curve(0.7 + 1e-6) - curve(0.7 - 1e-6)) / 2e-6, rel=1e-6)
