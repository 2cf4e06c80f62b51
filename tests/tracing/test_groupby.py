"""`itertools.groupby` over values of the graph: runs of equal keys, whose groups end where the next one begins."""

import itertools

import numpy as np
import pytest

import autoconv


def lengths(k):
    return [(key, len(list(group))) for key, group in itertools.groupby(np.sort(k))]


def longest_run(k):
    longest = 0
    for key, group in itertools.groupby(k):
        count = len(list(group))
        if key == 1 and count > longest:
            longest = count
    return longest


def weighted_sums(k):
    total = 0.0
    for is_even, group in itertools.groupby(k, lambda value: value % 2 == 0):
        total += sum(group) * (2 if is_even else 1)
    return total


def keys(k):
    return [key for key, _ in itertools.groupby(k.tolist(), key=lambda value: value // 2)]


def kept_groups(k):
    groups = [group for _, group in itertools.groupby(k.tolist())]
    return [list(group) for group in groups], list(itertools.groupby([]))


def groups_after_the_next(k):
    result, before = [], None
    for _, group in itertools.groupby(k.tolist()):
        if before is not None:
            result.append(len(list(before)))
        next(group)
        result.append(len(list(group)))  # noqa: B031
        before = group  # noqa: B031
    return result


@pytest.mark.parametrize("program", [lengths, longest_run, weighted_sums, keys, kept_groups, groups_after_the_next])
def test_runs_of_equal_keys(program):
    compiled = autoconv.compile(program)
    for size in (12, 40, 1):
        k = np.random.default_rng(size).integers(0, 4, size)
        assert compiled(k) == program(k)
    if program in (lengths, longest_run, weighted_sums, keys):
        assert "plain" not in compiled.explain()


def equal_objects(x):
    doubled = 2.0 * x
    return [len(list(group)) for _, group in itertools.groupby([x, x, doubled, doubled, np.nan, np.nan])]


def test_one_object_is_one_key():
    """Python's groupby takes the same object for the same key, even if it is a nan."""
    compiled = autoconv.compile(equal_objects)
    for x in (1.5, float("nan"), 0.0):
        assert compiled(x) == equal_objects(x)
