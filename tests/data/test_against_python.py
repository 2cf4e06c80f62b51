"""Random pipelines over numbers against the same in plain Python: eagerly, by threads, and in a function."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import autoconv as tf

Dataset = tf.data.Dataset
small = st.integers(0, 6)
positive = st.integers(1, 5)


def step(name: str, staged: Callable[..., Any], plain: Callable[..., Any], *arguments: Any) -> Any:
    return st.tuples(*arguments).map(lambda values: (f"{name}{values}", staged, plain, values))


STEPS = st.one_of(
    step("map", lambda d, k: d.map(lambda x: x * 3 - k), lambda items, k: [x * 3 - k for x in items], small),
    step(
        "parallel map",
        lambda d, k: d.map(lambda x: x + k, num_parallel_calls=3),
        lambda items, k: [x + k for x in items],
        small,
    ),
    step(
        "filter", lambda d, k: d.filter(lambda x: x % 3 != k % 3), lambda i, k: [x for x in i if x % 3 != k % 3], small
    ),
    step("take", lambda d, k: d.take(k), lambda items, k: items[:k], small),
    step("skip", lambda d, k: d.skip(k), lambda items, k: items[k:], small),
    step("repeat", lambda d, k: d.repeat(k), lambda items, k: items * k, st.integers(0, 3)),
    step("shard", lambda d, n: d.shard(n, n - 1), lambda items, n: items[n - 1 :: n], positive),
    step("concatenate", lambda d, k: d.concatenate(Dataset.range(k)), lambda items, k: items + list(range(k)), small),
    step(
        "sums of batches",
        lambda d, n, drop: d.batch(n, drop_remainder=drop).map(tf.reduce_sum),
        lambda items, n, drop: [
            sum(items[i : i + n]) for i in range(0, len(items), n) if not drop or i + n <= len(items)
        ],
        positive,
        st.booleans(),
    ),
    step(
        "sums of windows",
        lambda d, size, shift: d.window(size, shift).flat_map(lambda w: w.batch(size).map(tf.reduce_sum)),
        lambda items, size, shift: [sum(items[i : i + size]) for i in range(0, len(items), shift)],
        positive,
        positive,
    ),
    step(
        "enumerate", lambda d: d.enumerate().map(lambda i, x: i * x), lambda items: [i * x for i, x in enumerate(items)]
    ),
    step(
        "scan",
        lambda d: d.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)),
        lambda i: list(itertools.accumulate(i)),
    ),
    step("prefetch", lambda d, k: d.prefetch(k), lambda items, k: items, small),
    step("cache", lambda d: d.cache(), lambda items: items),
    step("unbatch", lambda d, n: d.batch(n).unbatch(), lambda items, n: items, positive),
    step(
        "flat_map",
        lambda d, k: d.flat_map(lambda x: Dataset.range(x % 3).map(lambda y: y + x + k)),
        lambda items, k: [y + x + k for x in items for y in range(x % 3)],
        small,
    ),
    step(
        "zip",
        lambda d: Dataset.zip(d, d.skip(1)).map(lambda a, b: a * b),
        lambda i: [a * b for a, b in itertools.pairwise(i)],
    ),
    step(
        "take_while",
        lambda d, k: d.take_while(lambda x: x < k),
        lambda i, k: list(itertools.takewhile(lambda x: x < k, i)),
        small,
    ),
)


@settings(max_examples=60, deadline=None)
@given(small, st.lists(STEPS, max_size=4))
def test_pipelines(length: int, steps: list[Any]) -> None:
    dataset, items = Dataset.range(length), list(range(length))
    for _, staged, plain, given_values in steps:
        dataset, items = staged(dataset, *given_values), plain(items, *given_values)
    names = [name for name, *_ in steps]
    for _ in range(2):
        assert [int(x) for x in dataset] == items, names
    count = int(dataset.cardinality())
    assert count in (len(items), tf.data.UNKNOWN_CARDINALITY), names


@settings(max_examples=25, deadline=None)
@given(small, st.lists(STEPS, max_size=3), small)
def test_pipelines_in_functions(length: int, steps: list[Any], stop: int) -> None:
    @tf.function
    def total(n: tf.Tensor, stop: tf.Tensor) -> Any:
        dataset = Dataset.range(n)
        for _, staged, _, given_values in steps:
            dataset = staged(dataset, *given_values)
        found, count = tf.constant(0, tf.int64), 0
        for x in dataset:
            if count == stop:
                break
            if x % 2 == 1:
                continue
            found += x
            count += 1
        else:
            count = -count
        return found, count

    items = list(range(length))
    for _, _, plain, given_values in steps:
        items = plain(items, *given_values)
    even = [x for x in items if x % 2 == 0]
    # The loop ends by `break` if an element, even or odd, follows the last even one that is added.
    has_break = stop == 0 and bool(items)
    if not has_break:
        positions = [i for i, x in enumerate(items) if x % 2 == 0]
        has_break = len(positions) >= stop > 0 and positions[stop - 1] < len(items) - 1
    expected = (sum(even[:stop]), len(even[:stop])) if has_break else (sum(even), -len(even))
    found, count = total(tf.constant(length, tf.int64), tf.constant(stop))
    assert (int(found), int(count)) == expected, [name for name, *_ in steps]
