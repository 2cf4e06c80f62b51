"""Queues, readers and the threads that fill them."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf


@pytest.fixture(autouse=True)
def session():
    with ac.Graph().as_default(), tf.Session() as new_session:
        yield new_session


def test_elements_come_in_the_order_of_the_queue(session):
    first_in = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
    session.run(first_in.enqueue_many([[1, 2], [[1.0, 2.0], [3.0, 4.0]]]))
    session.run(first_in.enqueue((3, [5.0, 6.0])))
    assert session.run(first_in.size()) == 3
    number, row = session.run(first_in.dequeue())
    assert number == 1 and row.tolist() == [1.0, 2.0]
    numbers, rows = session.run(first_in.dequeue_many(2))
    assert numbers.tolist() == [2, 3] and rows.tolist() == [[3.0, 4.0], [5.0, 6.0]]
    by_priority = tf.PriorityQueue(10, tf.string, shapes=[[]])
    session.run(by_priority.enqueue_many([[3, 1, 1], ["c", "a", "b"]]))
    assert [session.run(by_priority.dequeue())[1] for _ in range(3)] == [b"a", b"b", b"c"]
    shuffled = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[()], seed=1)
    session.run(shuffled.enqueue_many([np.arange(50)]))
    order = session.run(shuffled.dequeue_many(50)).tolist()
    assert order != sorted(order) == list(range(50))


def test_elements_by_name_and_padded(session):
    queue = tf.FIFOQueue(4, [tf.int32, tf.string], names=["number", "text"])
    session.run(queue.enqueue({"number": 7, "text": "seven"}))
    assert session.run(queue.dequeue()) == {"number": 7, "text": b"seven"}
    with pytest.raises(ValueError, match="have to be the queue's names"):
        queue.enqueue({"number": 7})
    padded = tf.PaddingFIFOQueue(4, tf.string, shapes=[[None]])
    session.run([padded.enqueue([["a", "b"]]), padded.enqueue([["c"]])])
    assert session.run(padded.dequeue_many(2)).tolist() == [[b"a", b"b"], [b"c", b""]]
    labelled = tf.PaddingFIFOQueue(4, [tf.int32, tf.int32], shapes=[[None], []])
    session.run([labelled.enqueue([[1, 2], 7]), labelled.enqueue([[3], 8])])
    assert [array.tolist() for array in session.run(labelled.dequeue_many(2))] == [[[1, 2], [3, 0]], [7, 8]]


def test_closed_queues(session):
    queue = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    session.run(queue.enqueue_many([[1, 2, 3]]))
    session.run(queue.close())
    assert session.run(queue.is_closed())
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        session.run(queue.enqueue(4))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 4, current size 3\)"):
        session.run(queue.dequeue_many(4))
    assert session.run(queue.dequeue_up_to(4)).tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(queue.dequeue())


def test_sessions_have_elements_of_their_own(session):
    queue = tf.FIFOQueue(4, tf.int32)
    session.run(queue.enqueue(1))
    with tf.Session() as other:
        assert other.run(queue.size()) == 0
    assert session.run(queue.size()) == 1


def test_threads_wait_for_space_and_for_elements(session):
    queue = tf.FIFOQueue(1, tf.int32)
    enqueue, dequeue = queue.enqueue(5), queue.dequeue()
    found = []
    consumer = threading.Thread(target=lambda: found.extend(session.run(dequeue) for _ in range(3)))
    consumer.start()
    for _ in range(3):
        session.run(enqueue)
    consumer.join(10)
    assert found == [5, 5, 5]
    session.run(enqueue)
    errors = []

    def wait_for_space():
        try:
            session.run(enqueue)
        except tf.errors.CancelledError as error:
            errors.append(error)

    producer = threading.Thread(target=wait_for_space)
    producer.start()
    time.sleep(0.05)
    session.run(queue.close(cancel_pending_enqueues=True))
    producer.join(10)
    assert len(errors) == 1


def test_a_closed_session_ends_the_waiting_of_threads(session):
    queue = tf.FIFOQueue(1, tf.int32)
    other = tf.Session()
    errors = []

    def wait():
        try:
            other.run(dequeue)
        except tf.errors.OutOfRangeError as error:
            errors.append(error)

    dequeue = queue.dequeue()
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    other.close()
    thread.join(10)
    assert len(errors) == 1


def test_an_error_of_a_runner_reaches_the_coordinator(session):
    value = tf.placeholder(tf.float32, [])
    batch = tf.train.batch([value], 2)
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(batch)
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
        coordinator.join(threads)


def test_the_last_thread_of_a_runner_closes_the_queue(session):
    class Ended:
        def run(self, operation):
            if operation == "close":
                closings.append(operation)
            else:
                barrier.wait(10)
                raise tf.errors.OutOfRangeError("the input has ended")

    barrier = threading.Barrier(2)
    for _ in range(50):
        closings = []
        runner = tf.train.QueueRunner("queue", ["enqueue"] * 2, "close", "cancel")
        for thread in runner.create_threads(Ended(), start=True):
            thread.join(10)
        assert closings == ["close"]


def test_only_the_first_request_to_stop_has_an_error():
    coordinator = tf.train.Coordinator()
    coordinator.request_stop()
    coordinator.request_stop(ValueError("later"))
    coordinator.join()
    coordinator = tf.train.Coordinator(clean_stop_exception_types=[])
    with coordinator.stop_on_exception():
        raise tf.errors.OutOfRangeError("first")
    for raise_error in (coordinator.raise_requested_exception, coordinator.join):
        with pytest.raises(tf.errors.OutOfRangeError, match="first"):
            raise_error()


def test_batches_of_structures(session):
    rows, labels = np.arange(6.0).reshape(3, 2), ["a", "b", "c"]
    row, label = tf.train.slice_input_producer([rows, labels], num_epochs=1, shuffle=False)
    batch = tf.train.batch({"row": row, "label": label}, 2, allow_smaller_final_batch=True)
    assert batch["row"].shape.as_list() == [None, 2] and batch["label"].dtype == tf.string
    tf.train.start_queue_runners(session)
    first, last = session.run(batch), session.run(batch)
    assert first["row"].tolist() == [[0.0, 1.0], [2.0, 3.0]] and first["label"].tolist() == [b"a", b"b"]
    assert last["row"].tolist() == [[4.0, 5.0]]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(batch)


def test_readers(session, tmp_path):
    (tmp_path / "lines").write_text("head\none\ntwo\n")
    (tmp_path / "records").write_bytes(b"h" + b"abcdef" + b"f")
    queues = [tf.FIFOQueue(2, tf.string, shapes=[[]]) for _ in range(3)]
    for queue, name in zip(queues, ("lines", "records", "lines"), strict=True):
        session.run([queue.enqueue(str(tmp_path / name)), queue.close()])
    key, line = tf.TextLineReader(skip_header_lines=1).read(queues[0])
    assert session.run([key, line]) == [f"{tmp_path}/lines:2".encode(), b"one"]
    assert session.run(line) == b"two"
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(line)
    reader = tf.FixedLengthRecordReader(record_bytes=3, header_bytes=1, footer_bytes=1)
    assert session.run(reader.read_up_to(queues[1], 5))[1].tolist() == [b"abc", b"def"]
    assert session.run(reader.num_records_produced()) == 2
    assert session.run(tf.WholeFileReader().read(queues[2]))[1] == b"head\none\ntwo\n"
    missing = tf.FIFOQueue(1, tf.string, shapes=[[]])
    session.run(missing.enqueue("nowhere"))
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        session.run(tf.WholeFileReader().read(missing))


def test_wrong_queues(session):
    with pytest.raises(ValueError, match="the same length as dtypes"):
        tf.FIFOQueue(1, [tf.int32, tf.int32], shapes=[[]])
    with pytest.raises(ValueError, match="need the shapes of elements"):
        tf.FIFOQueue(1, tf.int32).dequeue_many(2)
    with pytest.raises(ValueError, match="one for each dtype"):
        tf.FIFOQueue(1, tf.int32).enqueue([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"has the shape \(2,\); the queue expects \(3,\)"):
        session.run(tf.FIFOQueue(1, tf.int32, shapes=[[3]]).enqueue([tf.placeholder_with_default([1, 2], None)]))
    with pytest.raises(ValueError, match="non-null input tensor"):
        tf.train.string_input_producer([])
