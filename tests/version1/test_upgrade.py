"""Programs of version 1 print what TensorFlow prints: as they are, with the import changed, and upgraded.

The files beside the programs hold what TensorFlow 2.21 prints with `disable_v2_behavior()`. Programs in the folder
`graphs` need a graph, by its names, collections, queues or iterators: their sessions stay.
"""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest
from autoconv.cli import main
from click.testing import CliRunner

import autoconv.compat.v1 as tf
from autoconv.upgrade import upgrade

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "version1"
PROGRAMS = sorted(path.stem for path in FIXTURES.glob("*.py"))


GRAPH_PROGRAMS = sorted(path.stem for path in (FIXTURES / "graphs").glob("*.py"))


def run_program(path: Path) -> str:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(str(path), run_name="__main__")
    finally:
        tf.enable_v2_behavior()
        tf.reset_default_graph()
    return output.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_with_the_import_changed(name, tmp_path):
    text = (FIXTURES / f"{name}.py").read_text()
    changed = text.replace("import tensorflow as tf", "import autoconv.compat.v1 as tf\ntf.disable_v2_behavior()")
    (tmp_path / "program.py").write_text(changed)
    assert run_program(tmp_path / "program.py") == (FIXTURES / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_as_functions(name, tmp_path):
    upgraded = upgrade((FIXTURES / f"{name}.py").read_text(), f"{name}.py")
    assert upgraded.sessions == "functions" and not any(note.is_open for note in upgraded.notes)
    assert "Session" not in upgraded.text and "placeholder" not in upgraded.text
    (tmp_path / "program.py").write_text(upgraded.text)
    assert run_program(tmp_path / "program.py") == (FIXTURES / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", GRAPH_PROGRAMS)
def test_programs_that_need_a_graph_keep_their_sessions(name, tmp_path):
    upgraded = upgrade((FIXTURES / "graphs" / f"{name}.py").read_text(), f"{name}.py")
    assert upgraded.sessions == "kept" and "autoconv.compat.v1" in upgraded.text
    (tmp_path / "program.py").write_text(upgraded.text)
    assert run_program(tmp_path / "program.py") == (FIXTURES / "graphs" / f"{name}.txt").read_text()


def upgraded(text: str) -> str:
    return upgrade("import tensorflow as tf\n" + text).text.removeprefix("import autoconv as tf\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = tf.log(x)", "y = tf.math.log(x)"),
        ("y = tf.reduce_sum(x, reduction_indices=1, keep_dims=True)", "y = tf.reduce_sum(x, axis=1, keepdims=True)"),
        ("y = tf.nn.dropout(x, keep_prob)", "y = tf.nn.dropout(x, rate=1 - keep_prob)"),
        ("y = tf.nn.dropout(x, keep_prob=1 - r)", "y = tf.nn.dropout(x, rate=1 - (1 - r))"),
        ("y = tf.nn.conv2d(x, filter=w, use_cudnn_on_gpu=False)", "y = tf.nn.conv2d(x, filters=w)"),
        ("y = tf.to_int32(tf.log(x))", "y = tf.cast(tf.math.log(x), tf.int32)"),
        ("tf.assign(v, x + 1, validate_shape=False)", "v.assign(x + 1)"),
        ("n = x.get_shape()[1].value  # columns", "n = x.get_shape()[1]  # columns"),
        ("y = tf.random_normal([2], stddev=0.1)", "y = tf.random.normal([2], stddev=0.1)"),
        ("y = tf.layers.dense(x, 3)", "y = tf.compat.v1.layers.dense(x, 3)"),
        ("y = 'ü'; z = tf.matrix_inverse(x)  # ünïcode: tf.log", "y = 'ü'; z = tf.linalg.inv(x)  # ünïcode: tf.log"),
        ("y = 'tf.log'", "y = 'tf.log'"),
        ("y = tf.spectral.rfft(x)", "y = tf.signal.rfft(x)"),
        ("w = tf.python_io.TFRecordWriter(p)", "w = tf.io.TFRecordWriter(p)"),
    ],
)
def test_names_and_arguments(before, after):
    assert upgraded(before) == after


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("x = tf.placeholder(tf.int32)\nwith tf.Session() as s:\n    s.run('y:0', {x: 1})", "by the name of a node"),
        ("y = tf.constant(1)\nwith tf.Session() as s:\n    helper(s, y)", "used for something other than run"),
        ("tf.add_to_collection('a', 1)\nwith tf.Session() as s:\n    s.run(y)", "add_to_collection"),
        ("x = tf.placeholder(tf.float32)\ny = x + 1\nwith tf.Session() as s:\n    print(s.run(y))", "does not feed it"),
        ("b = tf.constant(2)\nwith tf.Session() as s:\n    s.run([b, [b]])", "nested structures"),
        (
            "r = tf.train.exponential_decay(0.5, tf.train.get_or_create_global_step(), 2, 0.5)\n"
            "with tf.Session() as s:\n    print(s.run(r))",
            "a scheduled learning rate",
        ),
        (
            "it = tf.data.Dataset.range(3).make_one_shot_iterator()\nx = it.get_next()\n"
            "with tf.Session() as s:\n    print(s.run(x))",
            "make_one_shot_iterator, which needs a graph",
        ),
        ("y = tf.constant(1)\nf = make()\nwith tf.Session() as s:\n    s.run(y, feed_dict=f)", "the dict 'f'"),
    ],
)
def test_sessions_that_are_kept(program, reason):
    """The file runs on `compat.v1` as it was; a comment and the report have the reason by line."""
    upgraded = upgrade(f"import tensorflow as tf\n{program}\n", "program.py")
    assert upgraded.sessions == "kept"
    (note,) = [note for note in upgraded.notes if note.is_open]
    assert reason in note.text and f"program.py:{note.line}: left: sessions stay" in upgraded.report("program.py")
    lines = upgraded.text.splitlines()
    assert lines[:3] == ["import autoconv.compat.v1 as tf", "", "tf.disable_v2_behavior()"]
    (comment,) = [line for line in lines if "# autoconv upgrade: sessions stay" in line]
    assert [line for line in lines if line != comment][3:] == program.splitlines()


def test_several_statements_in_a_line():
    program = "a = 1; b = tf.constant(2); c = 3  # three\nwith tf.Session() as s:\n    print(s.run(b)); print(a + c)\n"
    upgraded = upgrade("import tensorflow as tf\n" + program, "program.py")
    assert upgraded.sessions == "functions"
    lines = [line for line in upgraded.text.splitlines() if line.strip()]
    assert lines[1:3] == ["a = 1", "c = 3"]
    assert lines[-2:] == ["print(run_b().numpy())", "print(a + c)"]


def test_removed_names_are_left_unchanged():
    upgraded = upgrade("import tensorflow as tf\nx = tf.contrib.layers.flatten(y)\n", "p.py")
    assert "p.py:2: left: tf.contrib.layers.flatten is gone" in upgraded.report("p.py")
    assert upgraded.report("p.py").endswith("p.py: 1 changes, 1 left to do")


def test_nothing_runs_and_other_files_stay():
    text = "import numpy as np\nraise SystemExit(1)\n"
    assert upgrade(text).text == text and not upgrade(text).notes


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.py").write_text("import tensorflow as tf\ny = tf.log(2.0)\n")
    (folder / "bad.py").write_text("x = (\n")
    (folder / "data.txt").write_text("kept")
    run = CliRunner()
    found = run.invoke(main, ["upgrade", "models", "--report", "report.txt"])
    assert found.exit_code == 3 and "never closed" in found.output
    assert (tmp_path / "models_upgraded" / "a.py").read_text() == "import autoconv as tf\ny = tf.math.log(2.0)\n"
    assert (tmp_path / "models_upgraded" / "data.txt").read_text() == "kept"
    assert "a.py:2: tf.log is tf.math.log" in (tmp_path / "report.txt").read_text()
    found = run.invoke(main, ["upgrade", "models/a.py", "-o", "-", "-q"])
    assert found.output == "import autoconv as tf\ny = tf.math.log(2.0)\n"
    found = run.invoke(main, ["upgrade", "models/a.py", "--diff"])
    assert "+y = tf.math.log(2.0)" in found.output and not (folder / "a_upgraded.py").exists()
    written = run.invoke(main, ["upgrade", "models/a.py"])
    assert written.exit_code == 0 and written.output.endswith("wrote models/a_upgraded.py\n")
    second = run.invoke(main, ["upgrade", "models/a.py"])
    assert second.exit_code == 2 and "exists" in second.output


def test_other_names_of_an_import_stay():
    upgraded = upgrade("import numpy as np, tensorflow as tf, tensorflow_datasets as tfds\nx = tf.log(np.pi)\n")
    assert upgraded.text.splitlines() == [
        "import numpy as np, tensorflow_datasets as tfds", "import autoconv as tf", "x = tf.math.log(np.pi)"
    ]  # fmt: skip
    upgraded = upgrade("from tensorflow.compat import v1 as tf, v2 as tf2\nx = tf.log(2.0)\n")
    assert upgraded.text.splitlines()[:2] == ["from tensorflow.compat import v2 as tf2", "import autoconv as tf"]


def test_an_import_inside_of_a_block_stays_inside():
    block = "try:\n    import os, tensorflow as tf\nexcept ImportError:\n    raise\n"
    upgraded = upgrade(f"{block}x = tf.placeholder('f')\n")
    lines = ["    import os", "    import autoconv.compat.v1 as tf", "", "    tf.disable_v2_behavior()"]
    assert upgraded.sessions == "kept" and "\n".join(lines) in upgraded.text
    compile(upgraded.text, "upgraded", "exec")
