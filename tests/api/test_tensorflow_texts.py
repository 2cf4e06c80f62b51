"""Texts of values and errors, and orders of results, as in TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac


def text_of(*values: object) -> str:
    return " ".join(map(str, values)).replace("autoconv.", "tf.")


def test_slices_of_rows_print_positions_first():
    slices = ac.IndexedSlices(ac.constant([[1.0, 2.0]]), ac.constant([1]))
    assert text_of(slices) == (
        "IndexedSlices(indices=tf.Tensor([1], shape=(1,), dtype=int32), "
        "values=tf.Tensor([[1. 2.]], shape=(1, 2), dtype=float32))"
    )
    whole = ac.IndexedSlices(ac.constant([1.0]), ac.constant([1]), ac.constant([2]))
    assert text_of(whole).endswith("dense_shape=tf.Tensor([2], shape=(1,), dtype=int32))")


def test_aggregations_have_the_name_of_their_class():
    assert text_of(ac.VariableAggregation.SUM) == "VariableAggregationV2.SUM"
    assert repr(ac.VariableAggregation.MEAN) == "<VariableAggregationV2.MEAN: 2>"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (lambda: ac.debugging.assert_equal(ac.constant(1), ac.constant(2)), "InvalidArgumentError"),
        (lambda: ac.debugging.Assert(False, ["x"]), "InvalidArgumentError"),
        (lambda: ac.zeros([2])[5], "InvalidArgumentError"),
        (lambda: ac.constant("a") + 1, "InvalidArgumentError"),
        (lambda: iter(ac.data.Dataset.range(0)).get_next(), "OutOfRangeError"),
        (lambda: ac.constant(1) + 1.5, "InvalidArgumentError"),
        (lambda: ac.constant(1) * 1.5, "TypeError"),
    ],
)
def test_names_of_the_classes_of_errors(program, name):
    with pytest.raises(Exception) as caught:
        program()
    assert caught.type.__name__ == name


def test_shapes_of_stacks_of_ragged_rows():
    rows = ac.ragged.constant([[1, 2], [], [3, 4, 5]])
    shapes = [ac.ragged.stack([rows, rows], axis=axis).shape.as_list() for axis in (0, 1, 2)]
    assert shapes == [[2, None, None], [3, None, None], [3, None, 2]]
    assert ac.ragged.stack([rows]).shape.as_list() == [1, None, None]
    assert ac.ragged.stack([[1, 2], [3, 4]]).shape.as_list() == [2, None]


def test_features_come_in_the_order_of_their_kinds():
    values = ac.train.Feature(int64_list=ac.train.Int64List(value=[1, 2]))
    record = ac.train.Example(features=ac.train.Features(feature={"a": values, "s": values})).SerializeToString()
    features = {
        "z": ac.io.FixedLenFeature([], ac.float32, 1.5),
        "a": ac.io.FixedLenFeature([2], ac.int64),
        "s": ac.io.VarLenFeature(ac.int64),
        "r": ac.io.RaggedFeature(ac.float32, value_key="w"),
        "c": ac.io.VarLenFeature(ac.string),
    }
    assert list(ac.io.parse_single_example(record, features)) == ["c", "s", "a", "z", "r"]
    assert list(ac.io.parse_example([record], features)) == ["c", "s", "a", "z", "r"]


def test_a_checkpoint_contains_the_object_graph(tmp_path):
    path = ac.train.Checkpoint(v=ac.Variable([1.0]), parts=[ac.Variable(2)]).save(tmp_path / "c")
    assert ac.train.list_variables(path)[0] == ("_CHECKPOINTABLE_OBJECT_GRAPH", [])
    reader = ac.train.load_checkpoint(path)
    message = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    assert isinstance(message, bytes) and b"parts/0/.ATTRIBUTES/VARIABLE_VALUE" in message
    assert reader.get_variable_to_dtype_map()["_CHECKPOINTABLE_OBJECT_GRAPH"] is ac.string


@pytest.mark.parametrize(
    ("seed", "most", "expected"),
    [([5, 8], 9, [3, 8, 0, 1, 2, 7, 6, 9, 4, 5]), ([5, 9], 3, [2, 0, 1, 3])],  # TensorFlow's documentation
)
def test_shuffled_positions(seed, most, expected):
    shuffle = ac.random.experimental.index_shuffle
    assert [int(shuffle(i, seed, most)) for i in range(most + 1)] == expected
    assert list(ac.data.Dataset.range(most + 1).map(lambda i: shuffle(i, seed, most)).as_numpy_iterator()) == expected
    assert sorted(np.array(ac.function(shuffle)(ac.range(1000), seed, 999))) == list(range(1000))


def test_results_of_loaded_functions_are_specs(tmp_path):
    class Scaled(ac.Module):
        @ac.function(input_signature=[ac.TensorSpec([None], ac.float32)])
        def both(self, x):
            return {"y": x * 2.0, "z": (x, x)}

        @ac.function(input_signature=[ac.TensorSpec([None], ac.float32)])
        def one(self, x):
            return {"y": x + 1.0}

    module = Scaled()
    ac.saved_model.save(module, tmp_path / "m", signatures=module.one)
    loaded = ac.saved_model.load(tmp_path / "m")
    specs = loaded.both.concrete_functions[0].structured_outputs
    assert [specs["y"].name, *(spec.name for spec in specs["z"])] == ["y", "z_0", "z_1"]
    assert text_of(loaded.signatures["serving_default"].structured_outputs) == (
        "{'y': TensorSpec(shape=(None,), dtype=tf.float32, name='y')}"
    )
    for wrong in (ac.constant([[1.0]]), ac.constant([1]), "a"):
        with pytest.raises(TypeError, match=r"Binding inputs to tf\.function failed"):
            loaded.both(wrong)
    ac.saved_model.save(loaded, tmp_path / "again")
    assert ac.saved_model.load(tmp_path / "again").one(ac.constant([1.0]))["y"].numpy() == 2.0


def test_results_of_assignments_print_as_variables():
    v = ac.Variable([1.0, 2.0])
    text = "<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>"
    assert text_of(v.assign_add([1.0, 1.0])) == text
    assert text_of(v.assign(v) + 0.0) == "tf.Tensor([2. 3.], shape=(2,), dtype=float32)"
    assert text_of(v[0]) == "tf.Tensor(2.0, shape=(), dtype=float32)"


def test_numbers_print_in_full_and_are_formatted_as_their_values():
    x, v = ac.constant(1.1), ac.Variable(1.1)
    assert repr(x) == "<autoconv.Tensor: shape=(), dtype=float32, numpy=1.100000023841858>"
    assert text_of(v) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.100000023841858>"
    assert f"{x}|{x:.2f}|{ac.constant(3):>4}" == "1.100000023841858|1.10|   3"
    assert f"{ac.constant([1.1])}|{ac.constant('a')}|{ac.constant(True)}" == "[1.1]|b'a'|True"
    assert text_of(f"{x!s}") == "tf.Tensor(1.1, shape=(), dtype=float32)"
    assert text_of(f"{v.assign(2.0)}").startswith("<tf.Variable 'UnreadVariable'")
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{ac.constant([1.0]):.2f}"


def test_results_and_shapes_that_tensorflow_refuses_or_ignores():
    assert ac.math.in_top_k([5, -1, 1], [[1.0, 2.0]] * 3, 1).numpy().tolist() == [False, False, True]
    with pytest.raises(TypeError, match="unsupported shape"):
        ac.constant([1, 2], shape=[3])
    with pytest.raises(ValueError, match="is not compatible"):
        ac.Variable([1, 2], shape=[3])


def test_a_string_is_written_into_an_array_as_a_string():
    @ac.function
    def written(n):
        words = ac.TensorArray(ac.string, n)
        for i in ac.range(n):
            words = words.write(i, ac.strings.as_string(i) if i > 0 else "a")
        return words.stack()

    assert written(ac.constant(3)).numpy().tolist() == [b"a", b"1", b"2"]
    assert ac.tensor_scatter_nd_update(["a", "b"], [1], "z").numpy().tolist() == [b"a", b"z"]
    v = ac.Variable(["a", "b"])
    v.scatter_nd_update([1], ac.constant("y"))
    assert v.numpy().tolist() == [b"a", b"y"]
