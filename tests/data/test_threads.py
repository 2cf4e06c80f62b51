"""Threads that work ahead: concurrency, order, and their end."""

from __future__ import annotations

import gc
import threading
import time

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("autoconv")]


def slow(seconds, seen=None):
    def wait(x):
        time.sleep(seconds)
        if seen is not None:
            seen.add(threading.current_thread().name)
        return x

    return lambda x: tf.py_function(wait, [x], tf.int64)


def test_map_runs_in_threads_and_in_order(elements):
    seen = set()
    dataset = Dataset.range(12).map(slow(0.02, seen), num_parallel_calls=6)
    assert elements(dataset) == list(range(12))
    assert len(seen) > 1 and all(name.startswith("autoconv-map") for name in seen)
    assert threads() == []


def test_threads_overlap():
    at_once = [0, 0]

    def busy(x):
        at_once[0] += 1
        at_once[1] = max(at_once)
        time.sleep(0.05)
        at_once[0] -= 1
        return x

    list(Dataset.range(8).map(lambda x: tf.py_function(busy, [x], tf.int64), num_parallel_calls=4))
    assert 2 <= at_once[1] <= 4


def test_prefetch_works_ahead():
    generated = []

    def generate():
        for i in range(100):
            generated.append(i)
            yield i

    iterator = iter(Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)).prefetch(3))
    assert int(next(iterator)) == 0
    end = time.monotonic() + 10
    while len(generated) < 5 and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.05)
    assert generated == [0, 1, 2, 3, 4]  # one was taken, three are buffered, the thread holds one
    assert threads() == ["autoconv-prefetch"]
    del iterator
    assert threads() == []


def pipeline():
    return Dataset.range(10_000).map(lambda x: x + 1, num_parallel_calls=3).prefetch(4).batch(2).prefetch(2)


def test_no_thread_outlives_a_loop_with_break():
    for batch in pipeline():
        if int(batch[0]) > 20:
            break
    del batch
    assert threads() == []


def test_no_thread_outlives_an_iterator_that_is_closed():
    iterator = iter(pipeline())
    next(iterator)
    assert threads()
    iterator.close()
    assert threads() == []


def test_no_thread_outlives_a_loop_in_a_function():
    @tf.function
    def until(dataset, limit):
        total = 0
        for batch in dataset:
            if batch[0] > limit:
                break
            total += 1
        return total

    assert int(until(pipeline(), tf.constant(20, tf.int64))) == 10
    assert threads() == []


def test_no_thread_outlives_an_error():
    dataset = pipeline().map(lambda batch: tf.debugging.check_numerics(1 / (batch - 5), "mine"), num_parallel_calls=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        list(dataset)
    gc.collect()
    assert threads() == []


@pytest.mark.parametrize("calls", [None, 2])
@pytest.mark.parametrize("ahead", [0, 2])
def test_errors_arrive_after_earlier_elements(calls, ahead):
    def fails(x):
        if x == 3:
            raise KeyError("three")
        return x

    iterator = iter(Dataset.range(6).map(fails, num_parallel_calls=calls).prefetch(ahead))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="three") as raised:
        next(iterator)
    assert raised.traceback[-1].name == "fails"
    assert 'raise KeyError("three")' in str(raised.traceback[-1].statement)
    with pytest.raises(KeyError, match="three"):
        next(iterator)


def test_errors_arrive_in_functions_with_the_line():
    def inverse(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "inverse")

    @tf.function
    def total(dataset):
        found = 0.0
        for x in dataset:
            found += x
        return found

    with pytest.raises(tf.errors.InvalidArgumentError, match="inverse : Tensor had Inf") as raised:
        total(Dataset.range(3).map(inverse, num_parallel_calls=2).prefetch(1))
    assert raised.traceback[-1].name == "inverse"


def test_threads_share_an_iterator():
    iterator, found, lock = iter(Dataset.range(500)), [], threading.Lock()

    @tf.function
    def following(it):
        return it.get_next()

    def take():
        while True:
            try:
                x = int(following(iterator))
            except tf.errors.OutOfRangeError:
                return
            with lock:
                found.append(x)

    workers = [threading.Thread(target=take) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == list(range(500))


@pytest.mark.parametrize("is_quick", [True, False])
@pytest.mark.parametrize("name", ["prefetch", "map"])
def test_threads_that_are_chosen_compute_slow_elements_alone(name, is_quick, monkeypatch):
    monkeypatch.setattr("autoconv.data.threads._QUICK_SECONDS", 60 if is_quick else 0)
    numbers, automatic = Dataset.range(50), tf.data.AUTOTUNE
    dataset = numbers.prefetch(automatic) if name == "prefetch" else numbers.map(lambda x: x + 0, automatic)
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(9)] == list(range(9))
    assert bool(threads()) == (not is_quick)
    assert [int(x) for x in iterator] == list(range(9, 50))
