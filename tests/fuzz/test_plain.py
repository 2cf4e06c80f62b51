"""Random programs do the same after conversion; `python tests/fuzz/plain.py --programs 10000` tries more of
them."""

from pathlib import Path

import pytest

from tests.module_loading import load_module


def load(name):
    return load_module(Path(__file__).resolve().parent / f"{name}.py", name, registered=True)


plain = load("plain")
programs = plain.programs


@pytest.mark.parametrize("first", range(100_000, 100_200, 50))
def test_programs(first):
    failures = list(plain.search(range(first, first + 10), 24))
    assert not failures, f"python tests/fuzz/plain.py --seed {failures[0][0]} --programs 1: {failures[0][1]}"


def test_programs_are_the_same_every_time():
    assert programs.program(7) == programs.program(7) != programs.program(8)


def test_most_programs_are_valid_and_many_return():
    sources = [programs.program(seed) for seed in range(60)]
    valid = [source for source in sources if plain.is_valid(source)]
    assert len(valid) > 50
    returned = [
        result for source in valid for result in plain.run(source).results[::2] if result.startswith("(")
    ]
    assert len(returned) > len(valid)


def test_a_wrong_conversion_is_found_and_reduced(monkeypatch):
    """The converter swaps the operands of subtractions."""
    convert = plain.convert_source

    def wrong(source, filename):
        return convert(source.replace("a - b", "b - a"), filename)

    monkeypatch.setattr(plain, "convert_source", wrong)
    source = (
        "def f(a, b, xs):\n    if a:\n        log(1)\n    for x in xs:\n        c = a - b\n    return a\n"
    )
    assert plain.difference(source) == ""
    source = source.replace("return a", "return a - b")
    assert plain.difference(source).startswith("result: expected -1, found 1")
    assert plain.reduce_source(source).strip() == "def f(a, b, xs):\n    return a - b"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a, b, xs):\n    return log(1, a) + log(2, b)\n", "1"),
        ("def f(a, b, xs):\n    raise ValueError(a) from KeyError(b)\n", "ValueError(0) from KeyError(1)"),
        ("def f(a, b, xs):\n    return lambda: 0\n", "function"),
        ("def f(a, b, xs):\n    xs.append(xs)\n    return len(xs)\n", "4"),
    ],
)
def test_outcomes(source, expected):
    assert plain.run(source).results[0] == expected
