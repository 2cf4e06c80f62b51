"""Converted code takes its untraced path in threads that record no graph."""

import sys
import threading

import autoconv as ac
import autoconv.operators as ag__
from autoconv.errors import ItemAssignmentError
from autoconv.runtime.recording.activity import as_if_traced
from autoconv.runtime.recording.regions import new_trace, recording


def test_untraced_outside_of_traces():
    seen = []

    @ac.function
    def f(x):
        seen.append(bool(ag__.untraced))
        return x + 1

    before = ag__.untraced
    f(1)
    assert (before, seen, ag__.untraced) == (True, [False], True)


def test_a_trace_of_another_thread_does_not_count():
    entered, leave, seen = threading.Event(), threading.Event(), []

    @ac.function
    def f(x):
        seen.append(bool(ag__.untraced))
        entered.set()
        leave.wait(10)
        with ac.init_scope():
            seen.append(bool(ag__.untraced))
        return x + 1

    thread = threading.Thread(target=lambda: seen.append(int(f(1))))
    thread.start()
    assert entered.wait(10)
    assert ag__.untraced and ag__.untraced is not True
    leave.set()
    thread.join()
    assert seen == [False, True, 2] and ag__.untraced is True


def test_the_test_takes_no_frame():
    region = new_trace("f").root
    frames = []
    with recording(region):
        untraced, before = ag__.untraced, sys.getprofile()
        sys.setprofile(lambda frame, event, _: frames.append(event) if event == "call" else None)
        found = bool(untraced)
        sys.setprofile(before)
    assert (found, frames) == (False, []) and ag__.untraced is True


def test_an_error_while_tracing_ends_it():
    @ac.function
    def f(x):
        raise KeyError(x)

    for _ in range(2):
        try:
            f("a")
        except KeyError:
            assert ag__.untraced


def test_as_if_traced_can_be_nested():
    with as_if_traced():
        with as_if_traced():
            assert not ag__.untraced
        assert not ag__.untraced
    assert ag__.untraced


def test_an_item_of_a_tensor_is_not_assigned():
    x = ac.constant([1, 2])
    try:
        x[0] = 3
    except ItemAssignmentError as error:
        assert str(error) == "'EagerTensor' object does not support item assignment"
    assert x.numpy().tolist() == [1, 2]
