"""Functions in one file each: results of loaded functions, and errors of damaged and other files."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

pytest.importorskip("safetensors")

import autoconv as ac
from tests.saved_model.damage import ALLOWED, damage_bytes

BIG = np.arange(1000, dtype=np.float32)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "f.safetensors")


def restored(function, path):
    ac.saved_model.save_function(function, path)
    return ac.saved_model.load_function(path)


def growing():
    total = ac.Variable([1.0, 2.0], name="total")

    @ac.function
    def grow(x, factor=2):
        total.assign_add(x)
        while ac.reduce_sum(total) < 100.0:
            total.assign(total * 2.0)
        return {"total": total * factor + ac.reduce_sum(ac.constant(BIG)), "x": (x, None)}

    grow(ac.constant([0.0, 0.0]))
    total.assign([1.0, 2.0])
    return grow, total


def test_a_function_is_loaded_with_its_variables(path):
    grow, total = growing()
    loaded = restored(grow, path)
    for _ in range(2):
        found, expected = loaded([1.0, 1.0]), grow(ac.constant([1.0, 1.0]))
        np.testing.assert_array_equal(found["total"], expected["total"])
        assert found["x"][0].numpy().tolist() == [1.0, 1.0] and found["x"][1] is None
        (variable,) = loaded.variables
        np.testing.assert_array_equal(variable, total)
    assert variable.name == "total:0" and os.listdir(os.path.dirname(path)) == ["f.safetensors"]
    again = restored(loaded, path)
    np.testing.assert_array_equal(again([0.0, 0.0])["total"], grow(ac.constant([0.0, 0.0]))["total"])
    of_trace = restored(grow.get_concrete_function(ac.TensorSpec([2])), path)
    np.testing.assert_array_equal(of_trace(ac.constant([0.0, 0.0]), 2)["total"], again([0.0, 0.0])["total"])


def test_functions_that_one_file_cannot_hold(path, tmp_path):
    with pytest.raises(TypeError, match=r"takes what autoconv\.function returns"):
        ac.saved_model.save_function(len, path)
    with pytest.raises(ValueError, match="has no trace to save"):
        ac.saved_model.save_function(ac.function(lambda x: x), path)
    words = tmp_path / "words.txt"
    words.write_text("one two")
    asset = ac.saved_model.Asset(words)
    read = ac.function(lambda: ac.io.read_file(asset.asset_path), input_signature=[])
    with pytest.raises(AssertionError, match=r"untracked.*words\.txt"):
        ac.saved_model.save_function(read, path)
    assert not os.path.exists(path)


def test_files_that_hold_no_function(path, tmp_path):
    load = ac.saved_model.load_function
    with pytest.raises(ac.errors.NotFoundError, match="no such file"):
        load(path)
    with open(path, "w") as file:
        file.write("some text")
    with pytest.raises(ac.errors.DataLossError, match="damaged"):
        load(path)
    from safetensors.numpy import save_file

    save_file({"x": BIG}, path, {"title": "other"})
    with pytest.raises(ac.errors.DataLossError, match="is no file of a saved function"):
        load(path)
    from autoconv.storage.files import document_text

    save_file({"x": BIG}, path, {"autoconv.function": document_text({"version": 7})})
    with pytest.raises(ValueError, match="version 7"):
        load(path)


def test_random_damage_is_found(path):
    grow, _ = growing()
    ac.saved_model.save_function(grow, path)
    expected = grow(ac.constant([1.0, 1.0]))["total"].numpy()
    with open(path, "rb") as file:
        whole = file.read()
    draw = random.Random(5)
    for _ in range(60):
        with open(path, "wb") as file:
            file.write(damage_bytes(whole, draw)[1])
        try:
            loaded = ac.saved_model.load_function(path)
        except ALLOWED:
            continue
        np.testing.assert_array_equal(loaded([1.0, 1.0])["total"], expected)
