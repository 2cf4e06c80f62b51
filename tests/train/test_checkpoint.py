"""Checkpoints: values are restored by the names of attributes; damage and killed writers lose nothing silently."""

import functools
import os
import random
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import DataLossError, NotFoundError

BUNDLE = Path(__file__).resolve().parents[2] / "fixtures" / "saved" / "tensorflow"


class Net(ac.Module):
    def __init__(self, start):
        super().__init__()
        self.layers = [{"w": ac.Variable(ac.fill((2, 3), start))}, (ac.Variable([start, start]),)]
        self.words = ac.Variable(["a", "longer"])
        self.late = None

    def __call__(self, x):
        if self.late is None:
            self.late = ac.Variable(5.0)
        return x * self.late


def test_values_are_restored_by_name(tmp_path):
    saved = Net(2.0)
    saved(1.0)
    saved.words.assign(["bc", ""])
    path = ac.train.Checkpoint(net=saved, step=ac.Variable(7)).save(tmp_path / "deep" / "ckpt")
    assert path == str(tmp_path / "deep" / "ckpt-1") and ac.train.latest_checkpoint(tmp_path / "deep") == path
    net, step = Net(0.0), ac.Variable(0)
    checkpoint = ac.train.Checkpoint(step=step, net=net)
    status = checkpoint.restore(path)
    assert step.numpy() == 7 and checkpoint.save_counter.numpy() == 1
    np.testing.assert_array_equal(net.layers[0]["w"].numpy(), np.full((2, 3), 2.0))
    assert net.layers[1][0].numpy().tolist() == [2.0, 2.0] and net.words.numpy().tolist() == [b"bc", b""]
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.net\.late"):
        status.assert_consumed()


@pytest.mark.parametrize("wrap", [lambda f: f, ac.function, ac.compile], ids=["plain", "function", "compile"])
def test_later_objects_are_restored_when_they_become_attributes(tmp_path, wrap):
    saved = Net(2.0)
    saved(1.0)
    saved.late.assign(11.0)
    path = ac.train.Checkpoint(net=saved).write(tmp_path / "c")
    net = Net(0.0)
    status = ac.train.Checkpoint(net=net).read(path)
    assert float(wrap(Net.__call__)(net, ac.constant(2.0))) == 22.0
    status.assert_consumed()
    assert type(net) is Net


def test_items_of_attributes_are_restored_when_they_are_added(tmp_path):
    saved = ac.train.Checkpoint(values=[ac.Variable(float(i)) for i in range(4)], named={"a": ac.Variable(7.0)})
    path = saved.save(tmp_path / "x")
    restored = ac.train.Checkpoint(values=[ac.Variable(-1.0)])
    status = restored.restore(path)
    restored.named = {}
    added = [ac.Variable(-1.0) for _ in range(4)]
    restored.values.append(added[0])
    restored.values += added[1:3]
    restored.named["a"] = added[3]
    assert [v.numpy() for v in restored.values] == [0.0, 1.0, 2.0, 3.0]
    assert added[3].numpy() == 7.0
    status.assert_consumed()


def test_items_that_a_list_gets_later(tmp_path):
    path = ac.train.Checkpoint(parts=[ac.Variable(1.0), ac.Variable(2.0)]).write(tmp_path / "c")
    parts = [ac.Variable(0.0)]
    status = ac.train.Checkpoint(parts=parts).read(path)
    parts.append(ac.Variable(0.0))
    status.assert_consumed()
    assert [part.numpy() for part in parts] == [1.0, 2.0]


def test_objects_that_do_not_match(tmp_path):
    path = ac.train.Checkpoint(v=ac.Variable([1.0, 2.0])).write(tmp_path / "c")
    with pytest.raises(ValueError, match=r"shape \(2,\) when attempting to restore variable with shape \(1,\)"):
        ac.train.Checkpoint(v=ac.Variable([1.0])).read(path)
    with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound to checkpointed values"):
        ac.train.Checkpoint(v=ac.Variable([1.0, 2.0]), w=ac.Variable(1.0)).read(path).assert_consumed()
    other = ac.train.Checkpoint(w=ac.Variable(1.0)).read(path)
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        other.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        other.expect_partial().assert_existing_objects_matched()
    with pytest.raises(ValueError, match="expecting a to be a trackable object"):
        ac.train.Checkpoint(a=3)
    with pytest.raises(NotFoundError, match="Failed to find any matching files"):
        ac.train.Checkpoint(v=ac.Variable(1.0)).read(tmp_path / "nothing")
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        ac.train.Checkpoint(v=ac.Variable(1.0)).restore(None).assert_consumed()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        ac.train.load_checkpoint(tmp_path)


def test_a_root_and_shared_objects(tmp_path):
    shared = ac.Variable(3.0)
    path = ac.train.Checkpoint([shared, {"again": shared}], extra=ac.Variable(4.0)).write(tmp_path / "c")
    assert [key for key, _ in ac.train.list_variables(path)] == [
        "0/.ATTRIBUTES/VARIABLE_VALUE", "_CHECKPOINTABLE_OBJECT_GRAPH", "extra/.ATTRIBUTES/VARIABLE_VALUE",
    ]  # fmt: skip
    first, extra = ac.Variable(0.0), ac.Variable(0.0)
    ac.train.Checkpoint([first, {"again": first}], extra=extra).read(path).assert_consumed()
    assert (first.numpy(), extra.numpy()) == (3.0, 4.0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_dtypes_and_shapes(tmp_path, dtype, shape):
    array = (np.arange(6) - 2)[: int(np.prod(shape))].reshape(shape).astype(dtype)
    path = ac.train.Checkpoint(v=ac.Variable(array.T if array.ndim else array)).write(tmp_path / "c")
    found = ac.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    np.testing.assert_array_equal(found, array.T)
    assert found.dtype == array.dtype


def test_the_manager_keeps_the_latest(tmp_path):
    v, step = ac.Variable(0.0), ac.Variable(0)
    checkpoint = ac.train.Checkpoint(v=v, step=step)
    started = []
    manager = ac.train.CheckpointManager(
        checkpoint, tmp_path, 2, step_counter=step, checkpoint_interval=2, init_fn=lambda: started.append(1)
    )
    assert manager.restore_or_initialize() is None and started == [1]
    paths = []
    for _ in range(7):
        step.assign_add(1)
        v.assign_add(0.5)
        paths.append(manager.save())
    names = [path and os.path.basename(path) for path in paths]
    assert names == ["ckpt-1", None, "ckpt-2", None, "ckpt-3", None, "ckpt-4"]
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert sorted({name.split(".")[0] for name in os.listdir(tmp_path)}) == ["checkpoint", "ckpt-3", "ckpt-4"]
    w = ac.Variable(0.0)
    restored = ac.train.CheckpointManager(ac.train.Checkpoint(v=w, step=ac.Variable(0)), tmp_path, 2)
    assert restored.restore_or_initialize() == manager.latest_checkpoint == restored.latest_checkpoint
    assert w.numpy() == 3.5
    assert os.path.basename(restored.save()) == "ckpt-5"
    with pytest.raises(ValueError, match="positive integer or `None`"):
        ac.train.CheckpointManager(checkpoint, tmp_path, 0)


def test_iterators_continue_where_they_were(tmp_path):
    dataset = ac.data.Dataset.range(7).shuffle(5, seed=3).repeat(3).batch(2)
    iterator = iter(dataset)
    for _ in range(3):
        next(iterator)
    path = ac.train.Checkpoint(iterator=iterator).write(tmp_path / "c")
    batches = [batch.numpy().tolist() for batch in iterator]
    ac.train.Checkpoint(iterator=iterator).read(path).assert_consumed()
    assert [batch.numpy().tolist() for batch in iterator] == batches


def test_bundles_of_tensorflow_are_read():
    """The files were written by TensorFlow 2.21; the values are those that its program gave them."""
    net = ac.Module()
    net.layers = [ac.Variable(ac.zeros((2, 3))), {"b/ias.x": ac.Variable(np.float64(0))}]
    net.names = ac.Variable(["", "", ""])
    net.flag, net.z = ac.Variable([False, False]), ac.Variable([0j])
    net.big = ac.Variable(np.zeros(600, np.int64))
    checkpoint = ac.train.Checkpoint(net=net, step=ac.Variable(0))
    checkpoint.restore(ac.train.latest_checkpoint(BUNDLE)).assert_consumed()
    assert net.layers[0].numpy().tolist() == [[0, 1, 2], [3, 4, 5]] and net.layers[1]["b/ias.x"].numpy() == 2.5
    assert net.names.numpy().tolist() == [b"a", b"longer text", b""] and net.flag.numpy().tolist() == [True, False]
    assert net.z.numpy().tolist() == [1 + 2j] and net.big.numpy().tolist() == list(range(600))
    assert checkpoint.step.numpy() == 7 and checkpoint.save_counter.numpy() == 1


def read_all(folder):
    reader = ac.train.load_checkpoint(folder)
    return {key: np.asarray(reader.get_tensor(key)).tolist() for key in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("kind", ["ours", "TensorFlow's"])
def test_damage_is_found(tmp_path, kind):
    """After a change, removal or addition of any byte, loading names the file in an error or has the same values."""
    if kind == "ours":
        net = Net(1.5)
        ac.train.Checkpoint(net=net, z=ac.Variable([1 + 2j])).save(tmp_path / "ckpt")
    else:
        shutil.copytree(BUNDLE, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("records"))
    expected = read_all(tmp_path)
    files = sorted(path for path in tmp_path.iterdir() if path.name != "checkpoint")
    draw = random.Random(5)
    for number in range(150):
        path = files[number % len(files)]
        content = path.read_bytes()
        damaged = bytearray(content)
        position = draw.randrange(len(content))
        match number // len(files) % 3:
            case 0:
                damaged[position] ^= 1 << draw.randrange(8)
            case 1:
                del damaged[position : position + draw.randrange(1, 9)]
            case _:
                damaged[position:position] = draw.randbytes(draw.randrange(1, 9))
        path.write_bytes(damaged)
        try:
            assert read_all(tmp_path) == expected
        except (DataLossError, NotFoundError) as error:
            assert "ckpt-1" in str(error)
        path.write_bytes(content)


def test_damage_of_the_list_of_checkpoints_is_found(tmp_path):
    manager = ac.train.CheckpointManager(ac.train.Checkpoint(v=ac.Variable(0.0)), tmp_path, max_to_keep=3)
    for _ in range(11):
        latest = manager.save()
    path = tmp_path / "checkpoint"
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert ac.train.latest_checkpoint(tmp_path) == latest
        except DataLossError as error:
            assert "checkpoint" in str(error)


def test_a_killed_writer_leaves_a_complete_checkpoint(tmp_path):
    """A process is killed at each step of replacing a checkpoint: the old or the new one is there, whole."""
    program = textwrap.dedent("""
        import os, sys
        import autoconv as ac
        v = ac.Variable([1.0] * 100)
        checkpoint = ac.train.Checkpoint(v=v)
        checkpoint.write("c")
        v.assign([2.0] * 100)
        for killed in range(40):
            process = os.fork()
            if process == 0:
                steps = 0
                def count(event, arguments):
                    global steps
                    if event in ("open", "os.rename", "os.remove", "os.chmod"):
                        steps += 1
                        if steps > killed:
                            os._exit(9)
                sys.addaudithook(count)
                checkpoint.write("c")
                os._exit(0)
            ended = os.waitpid(process, 0)[1]
            found = set(ac.train.load_variable("c", "v/.ATTRIBUTES/VARIABLE_VALUE").tolist())
            assert found in ({1.0}, {2.0}), found
            if ended == 0:
                break
        assert killed > 4 and found == {2.0}
        checkpoint.write("c")
        print(sorted(name.split(".")[-1] for name in os.listdir(".") if "partial" not in name))
    """)
    found = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert found.stdout == "['json', 'safetensors']\n", found.stderr


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    v = ac.Variable([1.0, 2.0])
    checkpoint = ac.train.Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "ckpt")

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autoconv.storage.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save(tmp_path / "ckpt")
    monkeypatch.undo()
    assert ac.train.latest_checkpoint(tmp_path) == path and checkpoint.save_counter.numpy() == 1
    assert [name for name in os.listdir(tmp_path) if "partial" in name or "ckpt-2" in name] == []


def test_each_step_of_a_save_may_find_the_disk_full(tmp_path, monkeypatch):
    """The error names the file; checkpoints, their list and the number are as before, or all are new."""
    v = ac.Variable([0.0])
    checkpoint = ac.train.Checkpoint(v=v)
    manager = ac.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    for save in (manager.save, lambda: checkpoint.save(tmp_path / "ckpt")):
        for step in range(10):
            left = step

            def full(original, *arguments):
                nonlocal left
                left -= 1
                if left < 0:
                    raise OSError(28, "No space left on device")
                return original(*arguments)

            save()
            files, number = sorted(os.listdir(tmp_path)), checkpoint.save_counter.numpy()
            with monkeypatch.context() as patch:
                for name in ("fsync", "chmod", "replace"):
                    patch.setattr(os, name, functools.partial(full, getattr(os, name)))
                try:
                    save()
                except OSError as error:
                    assert re.search(r"No space left on device: '.*/(ckpt-|checkpoint)", str(error))
                    assert (sorted(os.listdir(tmp_path)), checkpoint.save_counter.numpy()) == (files, number)
                    assert ac.train.latest_checkpoint(tmp_path) == str(tmp_path / f"ckpt-{number}")
                else:
                    assert step > 8


def test_examples_have_tensorflows_bytes():
    feature = ac.train.Feature
    ints = feature(int64_list=ac.train.Int64List(value=[1, -2]))
    floats = feature(float_list=ac.train.FloatList(value=[0.5]))
    assert ints.SerializeToString() == b"\x1a\r\n\x0b\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    assert floats.SerializeToString() == b"\x12\x06\n\x04\x00\x00\x00?"
    example = ac.train.Example(features=ac.train.Features(feature={"i": ints, "f": floats}))
    assert ac.train.Example.FromString(example.SerializeToString()) == example
    assert ints.WhichOneof("kind") == "int64_list"
    assert set(ac.train.SequenceExample.DESCRIPTOR.fields_by_name) == {"context", "feature_lists"}


def test_an_interruption_after_the_index_is_replaced_keeps_the_new_checkpoint(tmp_path, monkeypatch):
    v = ac.Variable([1.0, 2.0])
    checkpoint = ac.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "c")
    v.assign([3.0, 4.0])
    replace = os.replace

    def interrupted(source, target):
        replace(source, target)
        if str(target).endswith(".json"):
            raise KeyboardInterrupt

    monkeypatch.setattr("autoconv.storage.files.os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.write(path)
    monkeypatch.undo()
    assert ac.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [3.0, 4.0]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_reader_keeps_its_checkpoint_while_a_writer_replaces_it(tmp_path):
    """Values that are read later, of objects that are created later too, are of the checkpoint that was opened."""
    saved = Net(2.0)
    saved(1.0)
    path = ac.train.Checkpoint(net=saved).write(tmp_path / "c")
    reader, net = ac.train.load_checkpoint(path), Net(0.0)
    ac.train.Checkpoint(net=net).read(path)
    saved.late.assign(11.0)
    saved.layers[1][0].assign([3.0, 3.0])
    ac.train.Checkpoint(net=saved).write(path)
    assert reader.get_tensor("net/layers/1/0/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [2.0, 2.0]
    assert float(net(ac.constant(1.0))) == 5.0
    assert ac.train.load_variable(path, "net/late/.ATTRIBUTES/VARIABLE_VALUE") == 11.0


def test_a_writer_between_the_index_and_the_arrays_of_a_reader(tmp_path, monkeypatch):
    v = ac.Variable(1.0)
    checkpoint = ac.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "c")
    read_json = ac.train.reader.read_json

    def read_and_replace(*arguments):
        content = read_json(*arguments)
        if v.numpy() == 1.0:
            v.assign(2.0)
            checkpoint.write(path)
        return content

    monkeypatch.setattr("autoconv.train.reader.read_json", read_and_replace)
    assert ac.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == 2.0
