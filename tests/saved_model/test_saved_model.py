"""Saved objects: results of loaded objects, and errors of bad files and objects."""

from __future__ import annotations

import collections
import json
import os
import random

import numpy as np
import pytest

pytest.importorskip("safetensors")

import autoconv as ac
from tests.saved_model.damage import ALLOWED, damage_bytes

Pair = collections.namedtuple("Pair", "first second")


class Dense(ac.Module):
    def __init__(self):
        super().__init__()
        self.w = ac.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
        self.parts = [ac.Variable(1.0), {"bias": ac.Variable(2.0, trainable=False)}, (ac.Variable(3.0),)]
        self.table = np.arange(1000, dtype=np.float32)

    @ac.function
    def __call__(self, x, training=False):
        y = ac.matmul(x, self.w)
        if training:
            y = y * 2
        return {"y": y, "rest": Pair(ac.reduce_sum(y), None)}

    @ac.function(input_signature=[ac.TensorSpec([None], ac.float32)])
    def until(self, x):
        while ac.reduce_sum(x) < 100.0:
            x = x * 2.0 + self.parts[0]
        return x + ac.reduce_sum(ac.constant(self.table))

    @ac.function(input_signature=[])
    def count(self):
        return self.parts[0].assign_add(1.0)


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "saved")


def restored(module, folder, **options):
    ac.saved_model.save(module, folder, **options)
    return ac.saved_model.load(folder)


X = np.ones((4, 2), np.float32)


def test_functions_variables_and_containers_are_restored(folder):
    module = Dense()
    expected = module(X)["y"], module(X, training=True)["y"]
    loaded = restored(module, folder)
    np.testing.assert_array_equal(loaded(X)["y"], expected[0])
    np.testing.assert_array_equal(loaded(X, training=True)["y"], expected[1])
    assert loaded(X)["rest"]._fields == ("first", "second")
    assert loaded(X)["rest"].second is None
    assert (loaded.w.name, loaded.parts[1]["bias"].trainable, type(loaded.parts[2])) == ("w:0", False, tuple)
    np.testing.assert_array_equal(loaded.until([1.0, 2.0]), module.until([1.0, 2.0]))


def test_effects_of_a_loaded_function_are_on_the_loaded_variables(folder):
    module = Dense()
    loaded = restored(module, folder)
    assert [float(loaded.count()), float(loaded.count())] == [2.0, 3.0]
    assert (float(loaded.parts[0]), float(module.parts[0])) == (3.0, 1.0)


def test_signatures_take_tensors_by_name_and_return_a_dict(folder):
    module = Dense()
    loaded = restored(module, folder, signatures={"serving_default": module.until, "count": module.count})
    signature = loaded.signatures["serving_default"]
    found = signature(x=ac.constant([1.0, 2.0]))
    assert list(loaded.signatures) == ["serving_default", "count"]
    np.testing.assert_array_equal(found["output_0"], module.until([1.0, 2.0]))
    assert signature.structured_input_signature == ((), {"x": ac.TensorSpec([None], ac.float32, "x")})
    np.testing.assert_array_equal(signature(ac.constant([1.0, 2.0]))["output_0"], found["output_0"])
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        signature()


@pytest.mark.parametrize("dtype", [ac.float32, ac.int32])
def test_a_signature_of_two_tensors_takes_them_by_name_only(folder, dtype):
    module = ac.Module()  # the names are not in the order of the alphabet
    module.f = ac.function(lambda x, k: x - ac.cast(k, ac.float32))
    concrete = module.f.get_concrete_function(ac.TensorSpec([], ac.float32), ac.TensorSpec([], dtype))
    loaded = restored(module, folder, signatures=concrete)
    signature = loaded.signatures["serving_default"]
    assert signature(k=ac.constant(1, dtype), x=ac.constant(3.0))["output_0"].numpy() == 2.0
    with pytest.raises(TypeError, match="too many positional arguments"):
        signature(ac.constant(3.0), ac.constant(1.0))


def test_the_only_function_with_a_signature_is_the_default_one(folder):
    module = ac.Module()
    module.f = ac.function(lambda d, k=3: d["a"] * k + d["b"][0])
    argument = {"a": ac.constant(2.0), "b": [ac.constant(1.0)]}
    module.f(argument)
    assert list(restored(module, folder).signatures) == []
    module.g = module.f.get_concrete_function(argument)
    loaded = restored(module, folder)
    assert float(loaded.f(argument)) == 7.0
    found = loaded.signatures["serving_default"](d=argument["a"], d_1=argument["b"][0])
    assert float(found["output_0"]) == 7.0


def test_a_loaded_function_is_differentiable_and_may_be_part_of_another(folder):
    module = Dense()
    module(X)
    loaded = restored(module, folder)
    with ac.GradientTape() as tape:
        loss = ac.reduce_sum(loaded(X)["y"])
    np.testing.assert_array_equal(tape.gradient(loss, loaded.w), np.full((2, 3), 4.0))

    @ac.function
    def twice(x):
        return loaded(x)["y"] * 2.0

    np.testing.assert_array_equal(twice(X), 2 * X @ module.w.numpy())


def test_a_loaded_object_can_be_saved_again(folder, tmp_path):
    loaded = restored(Dense(), folder)
    again = restored(loaded, str(tmp_path / "again"))
    np.testing.assert_array_equal(again.until([1.0, 2.0]), Dense().until([1.0, 2.0]))


def test_custom_gradients_are_saved(folder):
    @ac.custom_gradient
    def scaled(x):
        return ac.identity(x), lambda dy: dy * 100.0

    module = ac.Module()
    module.f = ac.function(lambda x: scaled(x) * 2.0)
    x = ac.constant([1.0, 2.0])
    module.f(x)
    loaded = restored(module, folder)
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    np.testing.assert_array_equal(tape.gradient(y, x), [200.0, 200.0])


CASES = {
    "text": lambda x: ac.strings.join(["a", ac.as_string(x)]),
    "complex": lambda x: ac.complex(x, x) * ac.constant(1 + 2j, ac.complex64),
    "bfloat16": lambda x: ac.cast(ac.cast(x, ac.bfloat16) * ac.constant([1, 2, 3], ac.bfloat16), ac.float32),
    "transposed": lambda x: ac.constant(np.arange(300.0).reshape(3, 100).T) + ac.cast(x, ac.float64),
    "scan": lambda x: ac.scan(lambda a, b: a + b, x),
    "no elements": lambda x: ac.constant([], ac.float32),
    "random": lambda x: ac.random.stateless_normal([3], seed=[1, 2]) + x,
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_restored_bit_by_bit(folder, name):
    module = ac.Module()
    module.f = ac.function(CASES[name])
    x = ac.constant([1.0, 2.0, 3.0])
    expected = module.f(x)
    found = restored(module, folder).f(x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_recursion(folder):
    @ac.function
    def halves(n):
        if n <= 1:
            return ac.constant(0)
        return 1 + halves(n // 2)

    module = ac.Module()
    module.f = halves
    module.f(ac.constant(40))
    assert int(restored(module, folder).f(ac.constant(1000))) == 9


def test_generators_keep_their_state(folder):
    module = ac.Module()
    module.generator = ac.random.Generator.from_seed(3)
    module.draw = ac.function(lambda: module.generator.uniform([2]))
    module.draw()
    loaded = restored(module, folder)
    np.testing.assert_array_equal(loaded.draw(), module.draw())


def test_assets_are_copied(folder, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("one two")
    module = ac.Module()
    module.words = ac.saved_model.Asset(words)
    module.path = ac.function(lambda: ac.identity(module.words.asset_path))
    module.content = ac.function(lambda end: ac.strings.join([ac.io.read_file(module.words.asset_path), end]))
    module.path(), module.content("!")
    loaded = restored(module, folder)
    path = loaded.path().numpy().decode()
    assert path.startswith(folder)
    words.unlink()
    assert loaded.content("!").numpy() == b"one two!"
    with open(path) as file:
        assert file.read() == "one two"
    assert loaded.words.asset_path.numpy().decode() == path


def test_a_process_without_the_classes_loads_it(forker, folder):
    module = Dense()
    module(X)
    ac.saved_model.save(module, folder)
    program = (
        "import sys, numpy as np, autoconv as ac\n"
        "loaded = ac.saved_model.load(sys.argv[1])\n"
        "print(loaded(np.ones((4, 2), np.float32))['y'].numpy().tolist())\n"
    )
    found = forker.run(["-c", program, folder], check=True)
    assert found.stdout == f"{(X @ module.w.numpy()).tolist()}\n"


def test_bad_objects(folder):
    v = ac.Variable(1.0, name="outer")
    module = ac.Module()
    module.f = ac.function(lambda x: x * v)
    module.f(ac.constant(1.0))
    with pytest.raises(AssertionError, match=r"'untracked' resource. The variable 'outer'"):
        ac.saved_model.save(module, folder)
    module.f = ac.function(lambda x: ac.py_function(lambda y: y, [x], ac.float32))
    module.f(ac.constant(1.0))
    with pytest.raises(ac.errors.AutoconvError, match=r"test_saved_model.py:\d+: .* runs a Python function"):
        ac.saved_model.save(module, folder)
    module.f = ac.compile(lambda x: x * 2.0)
    module.f(1.0)
    with pytest.raises(ac.errors.AutoconvError, match=r"Write instead: @autoconv\.function"):
        ac.saved_model.save(module, folder)
    with pytest.raises(ValueError, match="Expected an object with variables or functions"):
        ac.saved_model.save(3, folder)
    with pytest.raises(ValueError, match="needs a function of one trace"):
        ac.saved_model.save(Dense(), folder, signatures=ac.function(lambda x: x))
    assert not os.path.exists(folder)


def test_calls_that_no_trace_takes(folder):
    module = Dense()
    module(X)
    loaded = restored(module, folder)
    with pytest.raises(ValueError, match="Could not find matching concrete function to call"):
        loaded(np.ones((4, 3), np.float32))
    with pytest.raises(ValueError, match="Could not find matching concrete function to call"):
        loaded(X, training=True)
    with pytest.raises(ValueError, match=r"Option 1:\n  Positional arguments: \(TensorSpec"):
        loaded(X, 1, 2)


def test_folders_that_hold_no_saved_object(folder, tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        ac.saved_model.load(folder)
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(ValueError, match="holds a SavedModel that TensorFlow wrote"):
        ac.saved_model.load(tmp_path)
    ac.saved_model.save(Dense(), folder)
    index = os.path.join(folder, "saved_model.json")
    with open(index) as file:
        text = file.read()
    with open(index, "w") as file:
        file.write(text.replace('"version":1', '"version":2'))
    with pytest.raises(ac.errors.DataLossError, match="checksum"):
        ac.saved_model.load(folder)


def forged(folder, change):
    """Change the index, and give it a checksum that fits."""
    from autoconv.storage.files import write_json

    index = os.path.join(folder, "saved_model.json")
    with open(index) as file:
        content = json.load(file)["content"]
    change(content)
    write_json(index, content)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda content: content["files"].update(graphs="../graphs.txt"), "is not the name of a file"),
        (lambda content: content.update(assets=[["assets/../../x", "0"]]), "is not the name of an asset"),
        (lambda content: content["nodes"][0].update(kind="code"), "damaged"),
        (lambda content: content["nodes"][1].update(array="nothing"), "damaged"),
        (lambda content: content["nodes"][2].update(length=10**12), "a saved sequence has"),
        (lambda content: content["signatures"]["serving_default"].update(captures=[]), "does not fit"),
        (lambda content: content["signatures"]["serving_default"].update(graph=0), "does not fit|damaged"),
    ],
)
def test_forged_indices(folder, change, error):
    module = Dense()
    ac.saved_model.save(module, folder, signatures=module.until)
    forged(folder, change)
    with pytest.raises(ac.errors.DataLossError, match=error):
        ac.saved_model.load(folder)


def test_random_damage_is_found(folder):
    module = Dense()
    module(X)
    ac.saved_model.save(module, folder)
    expected = module(X)["y"].numpy()
    draw = random.Random(11)
    for _ in range(60):
        path = os.path.join(folder, draw.choice(sorted(os.listdir(folder))))
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(damage_bytes(whole, draw)[1])
        try:
            found = ac.saved_model.load(folder)
        except ALLOWED:
            pass
        else:
            np.testing.assert_array_equal(found(X)["y"], expected)
            np.testing.assert_array_equal(found.w, module.w)
        with open(path, "wb") as file:
            file.write(whole)


def test_an_interrupted_save_leaves_the_old_object(folder, monkeypatch):
    from autoconv.saved_model import layout

    module = Dense()
    ac.saved_model.save(module, folder)
    module.w.assign(module.w * 2.0)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(layout, "write_json", full)
    with pytest.raises(OSError, match="No space left"):
        ac.saved_model.save(module, folder)
    np.testing.assert_array_equal(ac.saved_model.load(folder).w, module.w.numpy() / 2)
    assert len(os.listdir(folder)) == 3
    monkeypatch.undo()
    ac.saved_model.save(module, folder)
    np.testing.assert_array_equal(ac.saved_model.load(folder).w, module.w)
    assert len(os.listdir(folder)) == 3


def test_checkpoints_read_into_loaded_objects(folder, tmp_path):
    module = Dense()
    loaded = restored(module, folder)
    loaded.w.assign(loaded.w + 1.0)
    path = ac.train.Checkpoint(loaded).save(str(tmp_path / "checkpoint"))
    ac.train.Checkpoint(module).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(module.w, loaded.w)


def test_further_names_of_functions(tmp_path):
    module = ac.Module()
    module.v = ac.Variable(2.0)
    module.scaled = ac.function(lambda x: x * module.v, input_signature=[ac.TensorSpec([None])])
    options = ac.saved_model.SaveOptions(function_aliases={"other": module.scaled})
    ac.saved_model.save(module, tmp_path, options=options)
    options = ac.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = ac.saved_model.load(tmp_path, options=options)
    assert loaded.function_aliases["other"]([1.0, 3.0]).numpy().tolist() == [2.0, 6.0]
    assert not hasattr(ac.saved_model.load(tmp_path), "function_aliases")
    with pytest.raises(ValueError, match="no function of the saved object"):
        options = ac.saved_model.SaveOptions(function_aliases={"other": ac.function(lambda x: x)})
        ac.saved_model.save(module, tmp_path, options=options)


def test_traces_of_an_input_signature_exist_before_the_first_call():
    traced = ac.function(lambda x: x + 1, input_signature=[ac.TensorSpec([2])])
    (trace,) = traced.concrete_functions
    assert trace([1.0, 2.0]).numpy().tolist() == [2.0, 3.0] and traced.experimental_get_tracing_count() == 1


def test_a_signature_of_containers_that_track_their_items(folder):
    class Tracked(dict):
        pass

    spec = Tracked(x=ac.TensorSpec([1]), y=[ac.TensorSpec([2])])
    module = ac.Module()
    module.f = ac.function(lambda d: d["x"] + d["y"][0], input_signature=[spec])
    loaded = restored(module, folder)
    assert loaded.f({"x": [1.0], "y": [[2.0, 3.0]]}).numpy().tolist() == [3.0, 4.0]
    assert list(loaded.signatures) == ["serving_default"]


def test_a_function_without_a_trace_is_refused(folder):
    module = ac.Module()
    module.f = ac.function(lambda x: x)
    with pytest.raises(ValueError, match="zero restored functions"):
        restored(module, folder).f(1.0)
