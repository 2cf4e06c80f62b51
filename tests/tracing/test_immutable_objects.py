"""Dates, fractions, paths and other immutable objects of the standard library: read, given and returned."""

import datetime
import fractions
import ipaddress
import pathlib
import uuid
from datetime import date, timedelta

import numpy as np
import pytest

import autoconv
from autoconv.runtime.support.immutable_classes import is_immutable_object

START = date(2024, 2, 29)
STEP = timedelta(days=1, seconds=7)
OBJECTS = {
    "date": START, "datetime": datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC), "step": STEP,
    "time": datetime.time(3, 4), "zone": datetime.UTC, "fraction": fractions.Fraction(1, 3),
    "path": pathlib.Path("a/b.txt"), "uuid": uuid.UUID(int=5), "address": ipaddress.ip_address("10.0.0.1"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("AUTOCONV_TIERS", "native")


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_from_outside_or_given(name):
    held = OBJECTS[name]

    def compute(x, given):
        found = [held, (given, x + 1)]
        return found, held == given, held is given, str(held), {given: x}

    compiled = autoconv.compile(compute)
    for x, given in ((1, held), (2, held), (3.5, held), (4, None), (5, "text"), (6, START), (7, held)):
        expected, actual = compute(x, given), compiled(x, given)
        assert actual == expected and actual[0][0] is held
    assert "plain Python" not in str(compiled.explain())


def test_attributes_methods_and_operators():
    def compute(x, day):
        total = np.zeros(3)
        for n in range(3):
            total[n] = day.toordinal() + x * n
        late = day + STEP * 3 > START or day.isoformat() < "2024"
        return total, day.year + x, START - day, day.weekday() * x, late, f"{day} {x}", day.replace(day=3)

    compiled = autoconv.compile(compute)
    for x in (1, 2, 3):
        for day in (START, date(2023, 1, 31)):
            for expected, actual in zip(compute(x, day), compiled(x, day), strict=True):
                assert type(actual) is type(expected) and np.array_equal(actual, expected)


def test_numbers_that_meet_dates():
    computations = (
        lambda n: START + n, lambda n: STEP * n, lambda n: n == START, lambda n: STEP / n, lambda n: n < STEP,
    )  # fmt: skip
    for compute in computations:
        compiled = autoconv.compile(compute)
        for n in (1, 2, 3.5, 0):
            outcomes = []
            for function in (compute, compiled):
                try:
                    outcomes.append(function(n))
                except Exception as error:
                    outcomes.append((type(error), str(error)))
            assert outcomes[0] == outcomes[1]


def test_another_object_under_the_name():
    global START
    compiled = autoconv.compile(lambda n: START.year + n)
    assert [compiled(n) for n in range(3)] == [2024, 2025, 2026]
    START = date(1999, 1, 1)
    assert [compiled(n) for n in range(3)] == [1999, 2000, 2001]
    START = date(2024, 2, 29)


class Shifted(date):
    pass


class Zone(datetime.tzinfo):
    def utcoffset(self, moment):
        return STEP


def test_classes_that_a_program_may_change():
    assert not is_immutable_object(Shifted(2024, 1, 1))
    assert not is_immutable_object(datetime.datetime(2024, 1, 1, tzinfo=Zone()))
    assert all(map(is_immutable_object, OBJECTS.values()))
