"""The files of saved objects: those of the first version, killed writers, and damage."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

pytest.importorskip("safetensors")

import autoconv as ac

HERE = Path(__file__).parent
damage = run_path(str(HERE / "damage.py"))
Sample, values_of = damage["Sample"], damage["values_of"]
FIRST = HERE.parents[1] / "fixtures" / "saved" / "version1"


def test_a_folder_of_the_first_version_loads():
    loaded = ac.saved_model.load(FIRST)
    for found, expected in zip(values_of(loaded), values_of(Sample()), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert [float(loaded.count()), float(loaded.count())] == [2.0, 3.0]
    served = loaded.signatures
    assert list(served) == []  # two functions have a signature: none is the default


def test_random_damage():
    found = damage["run"](60, 11, damage["trial"]) + damage["run"](60, 12, damage["forged"])
    found += damage["run"](60, 13, damage["function_trial"])
    assert [outcome for outcome in found if outcome[1].startswith(("WRONG", "unchanged"))] == []


def test_graphs_that_are_no_text(tmp_path):
    import hashlib

    from autoconv.storage.files import read_json, write_json

    ac.saved_model.save(Sample(), tmp_path)
    index = str(tmp_path / "saved_model.json")
    content = read_json(index, "index")
    (tmp_path / content["files"]["graphs"]).write_bytes(b"graph \xff")
    write_json(index, {**content, "graphs_sha256": hashlib.sha256(b"graph \xff").hexdigest()})
    with pytest.raises(ac.errors.DataLossError, match=r"graphs.*is damaged: 'utf-8' codec"):
        ac.saved_model.load(tmp_path)


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[2])
from objects import Sample
import autoconv as ac
module = Sample()
ac.saved_model.save(module, sys.argv[1])
module.w.assign(module.w * 0.0 + 7.0)
calls = ("replace", "fsync", "unlink")
for step in range(100):
    child = os.fork()
    if child == 0:
        left = step
        def dying(original):
            def call(*arguments, **options):
                global left
                if left == 0:
                    os.kill(os.getpid(), 9)
                left -= 1
                return original(*arguments, **options)
            return call
        for name in calls:
            setattr(os, name, dying(getattr(os, name)))
        ac.saved_model.save(module, sys.argv[1])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    loaded = ac.saved_model.load(sys.argv[1])
    print(status, float(loaded.w[0, 0]), float(loaded(Sample().w[:2, :2])["table"][0]))
    if status == 0:
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_killed_writer_leaves_the_old_object_or_the_new_one(forker, tmp_path):
    lines = forker.run(["-c", KILLED, tmp_path, HERE], check=True).stdout.splitlines()
    killed, values = [line.split()[0] for line in lines], [line.split()[1] for line in lines]
    assert len(lines) > 6 and killed[:-1] == ["9"] * (len(lines) - 1) and killed[-1] == "0"
    first_new = values.index("7.0")
    assert values == ["0.0"] * first_new + ["7.0"] * (len(values) - first_new)
    assert 3 < first_new < len(values) - 1
    assert len(os.listdir(tmp_path)) == 3, "the last save removes what the killed ones left"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="folders have no locks there")
def test_processes_and_threads_that_save_at_the_same_time(tmp_path):
    """Concurrent saves of several workers succeed, and each load returns one of the objects, complete."""
    faults = []

    def work(number):
        module = ac.Module()
        module.w = ac.Variable(np.full(500, float(number)))
        checkpoint = ac.train.Checkpoint(w=module.w)
        try:
            for _ in range(8):
                ac.saved_model.save(module, tmp_path)
                checkpoint.write(tmp_path / "c")
                assert len(set(ac.saved_model.load(tmp_path).w.numpy().tolist())) == 1
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(list(tmp_path.iterdir())) == 5
    assert len(set(ac.train.load_variable(tmp_path / "c", "w/.ATTRIBUTES/VARIABLE_VALUE").tolist())) == 1


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def write_no_arrays(path, arrays):
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr("autoconv.saved_model.layout.write_arrays", write_no_arrays)
    with pytest.raises(OSError, match="No space left on device"):
        ac.saved_model.save(Sample(), tmp_path / "made")
    assert not (tmp_path / "made").exists()
    folder = tmp_path / "older"
    folder.mkdir()
    with pytest.raises(OSError, match="No space left on device"):
        ac.saved_model.save(Sample(), folder)
    assert list(folder.iterdir()) == []
