"""A small budget of the programs over the whole grammar; `python tests/fuzz/full.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module


def load(name):
    return load_module(Path(__file__).with_name(f"{name}.py"), name, registered=True)


full = load("full")
from differential import verdict as verdicts  # noqa: E402 (full.py says where it is)
from differential.compare import freeze, values_agree  # noqa: E402
from differential.documented import is_documented  # noqa: E402
from differential.smaller import reduce_program  # noqa: E402
from grammar.features import EXCLUDED, FEATURES, grammar_nodes, node_classes  # noqa: E402
from grammar.program import Program, program  # noqa: E402

SEEDS = range(0, 80, 20)
SUBSETS = (25, 65)  # small ones: each runs with every backend, and with optimisations left out


def failure_reports(jobs):
    """Reports of the programs with a wrong result or a crash."""
    summary, _ = full.search(jobs)
    assert summary.programs == len(jobs)
    by_seed = {job.seed: job for job in jobs}
    return "\n\n".join(full.report(by_seed[seeds[0]], False) for _, _, seeds in summary.failures())


@pytest.mark.parametrize("start", SEEDS)
def test_converted_programs_mean_the_same(start):
    reports = failure_reports([full.Job(seed, stages="converted") for seed in range(start + 100, start + 104)])
    assert not reports, reports


@pytest.mark.parametrize("start", SEEDS)
def test_compiled_programs_mean_the_same(start):
    reports = failure_reports([full.Job(seed) for seed in range(start + 1, start + 4)])
    assert not reports, reports


@pytest.mark.parametrize("seed", SUBSETS)
def test_graphs_of_programs_mean_the_same_with_every_subset_of_optimisations(seed):
    reports = failure_reports([full.Job(seed, subsets=True)])
    assert not reports, reports


def test_programs_that_return_functions_and_iterators_mean_the_same():
    reports = failure_reports([full.Job(seed, kept=True) for seed in (0, 1, 5)])
    assert not reports, reports


def test_programs_are_the_same_every_time():
    assert str(program(7)) == str(program(7)) != str(program(8))


def test_every_node_of_the_grammar_is_written_or_excluded_with_a_reason():
    expected = set(grammar_nodes()) - set(EXCLUDED)
    written: set[str] = set()
    for seed in range(1000):
        written |= node_classes(program(seed).source)
        if written >= expected:
            break
    assert written == expected


def test_every_program_is_valid_and_most_calls_return_by_different_paths():
    summary, _ = full.search([full.Job(seed, stages="converted") for seed in range(300, 315)])
    assert summary.returning_calls > 0.8 * summary.programs * 6
    assert summary.paths > 1.8 * summary.programs


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_a_feature_can_be_excluded(feature):
    assert all(feature not in program(seed, without=(feature,)).features for seed in range(8))


def test_reduced_programs_use_nothing_else():
    for seed in range(60):
        nodes = node_classes(program(seed, only=("jumps", "conditionals")).source)
        assert not nodes & {"Try", "Yield", "Lambda", "ListComp", "With", "Match", "Dict", "ClassDef", "List", "Set"}


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("    if a > b:\n        a = b\n    return a, x", "staged", ""),
        ("    return a, __import__('os').getpid()", "plain", "__import__ is called, which may read and write any name"),
        ("    while a < 3:\n        a += 1\n    return [a, c]", "staged", ""),
    ],
)
def test_verdicts(body, status, kind):
    inputs = ((1, 2, True, 0.5), (4, 1, False, 1.5), (0, 0, True, 2.0), (-7, 3, False, 0.25))
    verdict = verdicts.judge(Program(f"def program(a, b, c, x):\n{body}\n", inputs), subsets=True)
    assert (verdict.status, verdict.kind) == (status, kind), verdict


@pytest.mark.parametrize(
    ("kind", "documented"),
    [
        ("StagingError: a list moves into the graph while it is iterated", True),
        ("StagingError: '…' may raise at run time, and an except clause around it catches only what", True),
        ("next is not converted and not known to be pure", True),
        ("raised while tracing: TypeError: helper() got an unexpected keyword argument '…'", True),
        ("StagingError: the moon is not an arm of …", False),
        ("raised while tracing: Moon: no such thing", False),
    ],
)
def test_reasons_that_the_fixtures_show(kind, documented):
    assert is_documented(kind) == documented


def test_a_wrong_converter_is_found_and_the_program_reduced(monkeypatch):
    """The converter swaps the operands of subtractions."""
    convert = verdicts.convert_source

    def wrong(source, filename):
        return convert(source.replace("a - b", "b - a"), filename)

    monkeypatch.setattr(verdicts, "convert_source", wrong)
    text = "def program(a, b):\n    if a > 1:\n        a = 2\n    c = a - b\n    return c, a\n"
    original = Program(text, ((1, 2), (3, 3)))
    verdict = verdicts.judge(original)
    assert (verdict.status, verdict.kind) == ("wrong", "converted, plain values: result: another int")
    assert "call 1, program(1, 2): result: expected ('returns', ('tuple', int -1, int 1))" in verdict.details
    reduced = reduce_program(original, verdict)
    assert reduced.source.strip() == "def program(a, b):\n    c = a - b\n    return c"
    assert len(reduced.inputs) == 1


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        (1, True, False),
        (1, 1.0, False),
        (0.0, -0.0, False),
        (0.1, 0.1 + 1e-16, True),
        (0.5, 0.5 + 1e-15, False),
        ([1, 2], (1, 2), False),
        ({1: 2, 3: 4}, {3: 4, 1: 2}, False),
        ({1, 2}, {2, 1}, True),
        (float("nan"), float("nan"), True),
        (ValueError(1), ValueError(2), False),
    ],
)
def test_comparison(first, second, agree):
    assert values_agree(freeze(first), freeze(second)) is agree
