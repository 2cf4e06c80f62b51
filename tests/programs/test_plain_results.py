"""The fixture programs, run unconverted, against independently known results."""

import datetime
import math
from pathlib import Path

import numpy as np
import pytest

from tests.module_loading import load_module

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "fixtures" / "programs"


def load(path):
    return load_module(path, f"program_{path.stem}")


def kind_of(path):
    """Return the kind that a program declares, without importing it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("KIND = "):
            return line.split('"')[1]
    raise AssertionError(f"{path.name} declares no KIND")


PATHS = sorted(PROGRAMS.glob("*.py"))
PYTHON_PROGRAMS = [path for path in PATHS if kind_of(path) == "python"]
OPS_PROGRAMS = [path for path in PATHS if kind_of(path) == "ops"]
by_stem = {"ids": lambda path: path.stem}


def run_cases(program):
    entry = getattr(program, program.ENTRY)
    return [(case, entry(*case)) for case in program.CASES]


def is_close(value, expected, tolerance=1e-9):
    return math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)


def signature(value):
    """Return the types of a case, and the lengths of its lists."""
    if isinstance(value, (list, tuple)):
        parts = [signature(item) for item in value]
        if isinstance(value, list):
            assert all(part == parts[0] for part in parts), value
        return type(value), parts
    assert type(value) in (bool, int, float), value
    return type(value)


# --- checks of the results of each plain program -------------------------------------------------------


def check_newton(start, shift, max_steps, result):
    x, steps, status = result
    roots = np.roots([1.0, 0.0, -2.0, shift])
    real = roots[np.abs(roots.imag) < 1e-9].real
    if status == 0:
        assert np.min(np.abs(real - x)) < 1e-9
    elif status == 1:
        assert abs(x) == pytest.approx(math.sqrt(2.0 / 3.0))
    else:
        assert steps == max_steps
        if max_steps == 25:
            assert x in (0.0, 1.0)
    return status, steps


def check_brent(target, lower, upper, max_iterations, result):
    root, iterations = result

    def excess(w):
        return w * math.exp(w) - target

    if iterations == -1:
        assert excess(lower) * excess(upper) > 0.0
    elif iterations < max_iterations:
        left, right = lower, upper
        for _ in range(200):  # by bisection
            middle = 0.5 * (left + right)
            if (excess(middle) > 0.0) == (excess(right) > 0.0):
                right = middle
            else:
                left = middle
        assert is_close(root, left)
        if target == 1.0:
            assert is_close(root, 0.567143290409783873)
    else:
        assert lower < root < upper and abs(excess(root)) > 1e-6
    return iterations


def check_runge_kutta_fehlberg(population, rate, capacity, horizon, first_size, tolerance, result):
    final, time, accepted, rejected = result
    exact = capacity / (1.0 + (capacity / population - 1.0) * math.exp(-rate * time))
    assert abs(final - exact) < max(60.0 * tolerance, 1e-8)
    if accepted + rejected < 60:
        assert time == horizon
    else:
        assert time < horizon
    return accepted, rejected


def check_adaptive_simpson(left, right, centre, width, tolerance, result):
    total, panels, finest = result
    exact = math.atan((right - centre) / width) - math.atan((left - centre) / width)
    if finest < 1024:
        assert abs(total - exact) <= tolerance
    else:
        assert abs(total - exact) <= 0.2
    return panels, finest


def check_error_function(x, result):
    value, terms = result
    assert is_close(value, math.erf(x), 1e-13)
    return abs(x) < 2.0, terms


def check_point_in_polygon(corners, x, y, result):
    side, winding, crossings = result
    offsets = np.array(corners) - (x, y)
    following = np.roll(offsets, -1, axis=0)
    cross = offsets[:, 0] * following[:, 1] - offsets[:, 1] * following[:, 0]
    along = np.sum(offsets * following, axis=1)
    if np.any((cross == 0.0) & (along <= 0.0)):
        assert result == (0, 0, 0)
    else:
        turns = np.sum(np.arctan2(cross, along)) / (2.0 * math.pi)
        assert is_close(winding, turns) and side == (1 if round(turns) else -1)
    return side, winding, crossings


def check_collatz(number, max_steps, result):
    path = [number]
    while path[-1] > 1 and len(path) <= max_steps:
        path.append(3 * path[-1] + 1 if path[-1] % 2 else path[-1] // 2)
    arrived = path[-1] == 1
    odd = sum(1 for item in path[: len(path) - 1] if item % 2)
    assert result == (len(path) - 1 if arrived else -1, max(path), odd)
    if (number, max_steps) == (27, 200):
        assert result[:2] == (111, 9232)
    return result


def check_extended_euclid(number, modulus, result):
    divisor, s, t, inverse = result
    assert divisor == math.gcd(number, modulus) == s * number + t * modulus
    if inverse >= 0:
        assert inverse == pow(number, -1, modulus)
    else:
        assert divisor != 1 or modulus <= 0
    return divisor, inverse


def check_primality(number, result):
    prime, witness = result
    divisors = [exponent for exponent in range(2, math.isqrt(number) + 1) if number % exponent == 0]
    assert prime == int(number > 1 and not divisors)
    if witness:
        odd = number - 1
        while odd % 2 == 0:
            odd //= 2
        squares = [pow(witness, odd << exponent, number) for exponent in range((number - 1).bit_length())]
        passes = squares[0] == 1 or any(
            square == number - 1 and odd << exponent < number - 1 for exponent, square in enumerate(squares)
        )
        assert number % witness == 0 or not passes
    return result


def check_annealing(seed, start, temperature, cooling, max_steps, result):
    best, energy, accepted, steps = result
    assert is_close(energy, 0.1 * (best**2 - 4.0) ** 2 + 0.25 * best)
    assert accepted <= steps <= max_steps
    stationary = np.roots([0.4, 0.0, -1.6, 0.25]).real  # zeros of the derivative of the energy
    right, left = stationary.max(), stationary.min()
    assert energy >= 0.1 * (left**2 - 4.0) ** 2 + 0.25 * left
    if max_steps == 0:
        assert best == start
    else:
        assert min(abs(best - left), abs(best - right)) < 0.1
    return best > 0.0, max_steps - steps, accepted


def check_option_price(spot, strike, rate, volatility, maturity, max_error, seed, result):
    price, error, pairs = result
    discounted = strike * math.exp(-rate * maturity)
    spread = volatility * math.sqrt(maturity)
    if spread == 0.0:
        exact = max(spot - discounted, 0.0)
        assert is_close(price, exact)
    else:
        upper = math.log(spot / discounted) / spread + 0.5 * spread

        def normal(x):
            return 0.5 * math.erfc(-x / math.sqrt(2.0))

        exact = spot * normal(upper) - discounted * normal(upper - spread)  # by the formula of Black and Scholes
        assert abs(price - exact) < 3.0 * error
    assert error <= max_error or pairs == 200
    return pairs, spot > strike


def check_kalman(times, readings, drift, noise, gate, result):
    """Compute every estimate as the conditional mean of a joint normal distribution."""
    level, variance, rejected, restarts = result
    accepted = [0]
    reject_count = restart_count = streak = 0

    def forecast(accepted, time):
        first, later = accepted[0], accepted[1:]
        moments = np.array([times[index] - times[first] for index in later])
        elapsed = time - times[first]
        cross_covariance = noise + drift * np.minimum(moments, elapsed)
        covariance = noise + drift * np.minimum.outer(moments, moments) + noise * np.eye(len(later))
        surprises = np.array([readings[index] - readings[first] for index in later])
        gains = np.linalg.solve(covariance, cross_covariance)
        return readings[first] + gains @ surprises, noise + drift * elapsed - gains @ cross_covariance

    for index in range(1, len(times)):
        mean, spread = forecast(accepted, times[index])
        if abs(readings[index] - mean) > gate * math.sqrt(max(spread, 0.0) + noise):
            reject_count, streak = reject_count + 1, streak + 1
            if streak == 3:
                accepted, streak, restart_count = [index], 0, restart_count + 1
            continue
        streak = 0
        accepted.append(index)
    mean, spread = forecast(accepted, times[-1])
    assert is_close(level, mean) and is_close(variance, spread)
    assert (rejected, restarts) == (reject_count, restart_count)
    return rejected, restarts, level > 5.0


def check_calendar_date(year, month, day, days, result):
    try:
        date = datetime.date(year, month, day) + datetime.timedelta(days=days)
    except ValueError:
        assert result == (0, 0, 0, -1)
    else:
        assert result == (date.year, date.month, date.day, date.isoweekday() % 7)
    return result


def check_lotka_volterra(prey, predators, birth, hunting, feeding, death, horizon, result):
    time, last_prey, last_predators, event = result

    def conserved(prey, predators):
        prey_part = feeding * prey - death * math.log(prey) + hunting * predators
        return prey_part - birth * math.log(predators)

    start = conserved(prey, predators)
    assert conserved(last_prey, last_predators) == pytest.approx(start, rel=1e-3)
    if event == 1:
        assert last_predators == pytest.approx(birth / hunting) and last_prey > death / feeding
    elif event == 2:
        assert last_prey < 1.0
    else:
        assert horizon <= time <= horizon + 0.05
    return event, time


CHECKS = {name[len("check_") :]: check for name, check in globals().items() if name.startswith("check_")}


@pytest.mark.parametrize("path", PYTHON_PROGRAMS, **by_stem)
def test_python_program_results(path):
    program = load(path)
    check = CHECKS[path.stem]
    outcomes = {check(*case, result) for case, result in run_cases(program)}
    assert len(outcomes) >= min(5, len(program.CASES)), "the cases should take different paths"


@pytest.mark.parametrize("path", PYTHON_PROGRAMS, **by_stem)
def test_python_program_declarations(path):
    program = load(path)
    assert len(program.CASES) >= 5
    first, *rest = [signature(case) for case in program.CASES]
    assert all(item == first for item in rest)
    kinds, *others = [signature(result) for _, result in run_cases(program)]
    assert all(item == kinds for item in others), "every path should return the same types"


def test_python_and_ops_programs_are_all_there():
    assert len(PYTHON_PROGRAMS) == 14
    assert len(OPS_PROGRAMS) == 12


# --- programs on tensors ------------------------------------------------------------------------------


def plain(value):
    """Return a result as NumPy arrays and numbers."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


@pytest.mark.parametrize("path", OPS_PROGRAMS, **by_stem)
def test_ops_program_results(path):
    import autoconv as ac

    program = load(path)
    references = load(HERE / "references.py")
    entry, reference = getattr(program, program.ENTRY), getattr(references, program.ENTRY)

    def tensor(argument):
        kind = np.asarray(argument).dtype.kind
        return ac.constant(argument, {"f": ac.float64, "i": ac.int64}[kind])

    signatures = [signature(case) for case in program.CASES]
    assert len(signatures) >= 5 and all(item == signatures[0] for item in signatures)
    for case in program.CASES:
        result = plain(entry(*[tensor(argument) for argument in case]))
        expected = plain(reference(*case))
        assert len(result) == len(expected)
        for actual, desired in zip(result, expected, strict=True):
            assert actual.shape == desired.shape
            np.testing.assert_allclose(actual, desired, rtol=program.TOLERANCE, atol=program.TOLERANCE)


@pytest.mark.parametrize("path", OPS_PROGRAMS, **by_stem)
def test_ops_references_take_different_paths(path):
    program = load(path)
    reference = getattr(load(HERE / "references.py"), program.ENTRY)
    outcomes = {repr(plain(reference(*case))) for case in program.CASES}
    assert len(outcomes) >= 5
