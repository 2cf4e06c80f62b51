"""Summaries, read back from event files: by TensorBoard's own reader and over HTTP."""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import autoconv as ac

pytest.importorskip("tensorboard")
summary = ac.summary


@pytest.fixture
def writer(tmp_path):
    new_writer = summary.create_file_writer(str(tmp_path / "logs"))
    yield new_writer
    new_writer.close()


def events_of(folder, kind="logs"):
    from autoconv.tensorflow.core.util import event_pb2
    from autoconv.tensorflow.python.lib.io import tf_record

    (path,) = (folder / kind).glob("events.out.tfevents.*.v2")
    return [event_pb2.Event.FromString(record) for record in tf_record.tf_record_iterator(str(path))]


def values_of(folder):
    """Return (step, tag, plugin, value) of each summary, with strings and arrays as lists."""
    rows = []
    for event in events_of(folder):
        for value in event.summary.value:
            types = {dtype.enum: dtype for dtype in (ac.float32, ac.float64, ac.int32, ac.string)}
            array = ac.io.parse_tensor(value.tensor.SerializeToString(), types[value.tensor.dtype]).numpy()
            rows.append((event.step, value.tag, value.metadata.plugin_data.plugin_name, np.asarray(array, object)))
    return [(step, tag, plugin, array.tolist()) for step, tag, plugin, array in rows]


def test_messages_have_their_private_paths():
    from autoconv.tensorflow.core.framework import summary_pb2

    assert ac.compat.v1.SummaryMetadata is summary_pb2.SummaryMetadata
    with pytest.raises(ImportError, match="no_such_pb2"):
        from autoconv.tensorflow.core.framework import no_such_pb2  # noqa: F401


def test_the_kinds_of_summaries(tmp_path, writer):
    with writer.as_default():
        assert summary.scalar("loss", np.float64(0.5), step=1).numpy()
        summary.histogram("w", [0.0, 1.0, 1.0, 2.0], step=2, buckets=2)
        summary.text("note", ["a", "b"], step=3)
        summary.write("raw", ac.constant([1, 2]), step=4)
    assert values_of(tmp_path) == [
        (1, "loss", "scalars", 0.5),
        (2, "w", "histograms", [[0.0, 1.0, 1.0], [1.0, 2.0, 3.0]]),
        (3, "note", "text", [b"a", b"b"]),
        (4, "raw", "", [1, 2]),
    ]


@pytest.mark.parametrize("data", [[0.0, 1.0, 1.0, 2.0], [3.0], [], np.linspace(-1, 1, 100)])
def test_histograms_are_those_of_tensorboard(tmp_path, writer, data):
    from tensorboard.plugins.histogram.summary_v2 import histogram_pb
    from tensorboard.util.tensor_util import make_ndarray

    with writer.as_default():
        summary.histogram("w", np.array(data, np.float64), step=0)
    expected = make_ndarray(histogram_pb("w", data).value[0].tensor)
    np.testing.assert_allclose(np.array(values_of(tmp_path)[0][3], np.float64), expected)


def test_images(tmp_path, writer):
    image = pytest.importorskip("PIL.Image")
    pixels = np.linspace(0, 1, 2 * 3 * 4 * 3).reshape(2, 3, 4, 3)
    with writer.as_default():
        summary.image("shown", pixels, step=1, max_outputs=1)
        with pytest.raises(ValueError, match="found \\(3, 4, 3\\)"):
            summary.image("shown", pixels[0], step=1)
    ((_, _, plugin, (width, height, data)),) = values_of(tmp_path)
    assert (plugin, width, height) == ("images", b"4", b"3")
    found = np.asarray(image.open(io.BytesIO(data)))
    np.testing.assert_array_equal(found, ac.image.convert_image_dtype(pixels[0], ac.uint8, saturate=True))


def test_effects_of_a_traced_function_are_in_order_and_once_a_call(tmp_path, writer):
    @ac.function
    def step(x, number):
        with writer.as_default():
            summary.scalar("before", x, step=number)
            y = x * 2.0
            if y > 3.0:  # the branch is a name scope, as in TensorFlow
                summary.scalar("large", y, step=number)
            summary.scalar("after", y, step=number)
        return y

    for number in range(3):
        step(ac.constant(float(number)), ac.constant(number, ac.int64))
    assert step.experimental_get_tracing_count() == 1
    assert [(at, tag, value) for at, tag, _, value in values_of(tmp_path)] == [
        (0, "before", 0.0), (0, "after", 0.0), (1, "before", 1.0), (1, "after", 2.0),
        (2, "before", 2.0), (2, "cond/large", 4.0), (2, "after", 4.0),
    ]  # fmt: skip


def test_loops_write_each_time(tmp_path, writer):
    @ac.function
    def count(n):
        with writer.as_default():
            for i in ac.range(n):
                summary.scalar("i", i, step=ac.cast(i, ac.int64))

    count(ac.constant(3))
    assert [(step, value) for step, _, _, value in values_of(tmp_path)] == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_default_steps(tmp_path, writer):
    counter = ac.Variable(5, dtype=ac.int64)
    write = ac.function(lambda: summary.scalar("x", 1.0))
    with writer.as_default():
        with pytest.raises(ValueError, match=r"No step set. Please specify one either through the `step` argument"):
            summary.scalar("x", 1.0)
        summary.experimental.set_step(counter)
        write()
        counter.assign_add(2)
        write()
    assert summary.experimental.get_step() is None
    with writer.as_default(step=9):
        assert summary.experimental.get_step() == 9
        summary.scalar("x", 1.0)
    assert [row[0] for row in values_of(tmp_path)] == [5, 7, 9]


def test_conditions_of_recording(tmp_path, writer):
    assert not summary.scalar("x", 1.0, step=1)
    assert not summary.should_record_summaries()
    condition = ac.Variable(False)

    @ac.function
    def write(step):
        return summary.scalar("x", 1.0, step=step)

    with writer.as_default():
        assert summary.should_record_summaries()
        with summary.record_if(False):
            assert not summary.scalar("x", lambda: 1 / 0, step=1)
        with summary.record_if(lambda: condition):
            assert not write(ac.constant(2, ac.int64))
            condition.assign(True)
            assert write(ac.constant(3, ac.int64))
    with summary.create_noop_writer().as_default():
        assert not summary.should_record_summaries()
        assert not summary.scalar("x", 1.0)
    assert [row[0] for row in values_of(tmp_path)] == [3]


def test_compiled_functions_follow_the_default_writer(tmp_path, writer):
    @ac.compile
    def step(x):
        summary.scalar("x", x, step=int(x))
        return x + 1.0

    @ac.compile
    def within(x):
        with writer.as_default(step=7):
            summary.scalar("y", x)
        return x

    assert [step(1.0), step(2.0)] == [2.0, 3.0]
    with writer.as_default():
        assert [step(3.0), step(4.0)] == [4.0, 5.0]
    assert [step(5.0), within(6.0), within(7.0)] == [6.0, 6.0, 7.0]
    assert [row[0] for row in values_of(tmp_path)] == [3, 4, 7, 7]


def test_names(tmp_path, writer):
    with writer.as_default(), ac.name_scope("outer"):
        summary.scalar("a b!", 1.0, step=1)
        with summary.experimental.summary_scope("a b!") as found:
            assert found == ("outer/a b!", "outer/ab/")
    assert values_of(tmp_path)[0][1] == "outer/a b!"


def test_a_closed_writer(tmp_path, writer):
    with writer.as_default():
        summary.scalar("x", 1.0, step=1)
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="is already closed"), writer.as_default():
        pass
    assert len(values_of(tmp_path)) == 1


def test_events_are_flushed_by_number_and_on_request(tmp_path):
    new_writer = summary.create_file_writer(str(tmp_path / "logs"), max_queue=2, filename_suffix=".v2")
    new_writer.set_as_default()
    try:
        summary.scalar("x", 1.0, step=1)
        assert values_of(tmp_path) == []
        summary.scalar("x", 1.0, step=2)
        assert len(values_of(tmp_path)) == 2
        summary.scalar("x", 1.0, step=3)
        summary.flush()
        assert len(values_of(tmp_path)) == 3
    finally:
        new_writer.close()
        from autoconv.summary.state import STATE

        STATE.writer = None


def test_graphs(tmp_path, writer):
    double = ac.function(lambda x: x * 2.0)
    concrete = double.get_concrete_function(ac.TensorSpec([], ac.float32))
    double(ac.constant(1.0))
    with writer.as_default():
        assert summary.graph(concrete.graph)
        with pytest.raises(ValueError, match="Received graph_data=3 of type int"):
            summary.graph(3)
        with pytest.raises(ValueError, match="Must enable trace before export"):
            summary.trace_export("run", step=0)
        summary.trace_on()
        double(ac.constant(2.0))
        summary.trace_export("run", step=4)
    from tensorboard.compat.proto import config_pb2, graph_pb2

    events = events_of(tmp_path)
    ops = [node.op for node in graph_pb2.GraphDef.FromString(events[1].graph_def).node]
    assert "Mul" in ops
    value = events[2].summary.value[0]
    assert (events[2].step, value.metadata.plugin_data.plugin_name) == (4, "graph_run_metadata_graph")
    found = config_pb2.RunMetadata.FromString(value.tensor.string_val[0])
    assert "Mul" in [node.op for node in found.function_graphs[0].pre_optimization_graph.node]


def test_bad_input(writer):
    with pytest.raises(ValueError, match="`logdir` cannot be None"):
        summary.create_file_writer(None)
    with writer.as_default(step=1):
        with pytest.raises(ValueError, match=r"Expected scalar shape, saw shape: \(2,\)"):
            summary.scalar("x", [1.0, 2.0])
        with pytest.raises(TypeError, match=r"summary\.text takes strings, found int32"):
            summary.text("x", 3)
        with pytest.raises(ac.errors.InvalidArgumentError, match="finite values only"):
            summary.histogram("x", [1.0, np.nan])


def test_the_reader_of_tensorboard(tmp_path, writer):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with writer.as_default():
        for step in range(3):
            summary.scalar("loss", 1.0 / (step + 1), step=step)
        summary.histogram("w", [1.0, 2.0], step=0)
    accumulator = EventAccumulator(str(tmp_path / "logs"))
    accumulator.Reload()
    assert sorted(accumulator.Tags()["tensors"]) == ["loss", "w"]
    assert [event.step for event in accumulator.Tensors("loss")] == [0, 1, 2]


def test_the_callback_of_keras(tmp_path):
    if importlib.util.find_spec("keras") is None:
        pytest.skip("needs keras")
    keras = ac.keras
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    callback = keras.callbacks.TensorBoard(
        str(tmp_path), histogram_freq=1, write_images=True, update_freq=1, profile_batch=0
    )
    x = np.ones((8, 3), np.float32)
    model.fit(x, x[:, :2], epochs=2, batch_size=4, validation_split=0.5, callbacks=[callback], verbose=0)
    tags = {value.tag for event in events_of(tmp_path, "train") for value in event.summary.value}
    assert {"epoch_loss", "epoch_learning_rate", "batch_loss", "keras"} <= tags
    assert any(tag.endswith("kernel/histogram") for tag in tags)
    values = {value.tag for event in events_of(tmp_path, "validation") for value in event.summary.value}
    assert {"epoch_loss", "evaluation_loss_vs_iterations"} <= values


def test_a_running_tensorboard_shows_what_was_written(tmp_path, writer):
    with writer.as_default():
        for step in range(3):
            summary.scalar("loss", 1.0 / (step + 1), step=step)
        summary.text("note", "first", step=0)
        summary.graph(ac.function(lambda x: x * 2.0).get_concrete_function(ac.TensorSpec([], ac.float32)).graph)
    program = (
        "import sys, time\n"
        "from tensorboard import program\n"
        "board = program.TensorBoard()\n"
        "board.configure(argv=[None, '--logdir', sys.argv[1], '--port', '0', '--load_fast', 'false'])\n"
        "print(board.launch(), flush=True)\n"
        "time.sleep(120)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = process.stdout.readline().strip()
        if not address.startswith("http"):
            pytest.skip("TensorBoard does not start here")
        address = f"http://127.0.0.1:{address.rstrip('/').rsplit(':', 1)[1]}/data/plugin/"

        def ask(path):
            with urllib.request.urlopen(address + path, timeout=20) as answer:
                return json.loads(answer.read())

        end = time.monotonic() + 30
        while not ask("scalars/tags") and time.monotonic() < end:
            time.sleep(0.1)
        assert ask("scalars/tags")["logs"].keys() == {"loss"}
        rows = ask("scalars/scalars?run=logs&tag=loss")
        assert [(step, value) for _, step, value in rows] == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
        assert "first" in ask("text/text?run=logs&tag=note")[0]["text"]
        assert ask("graphs/info")["logs"]["run_graph"] is True
    finally:
        process.kill()
        process.wait()
