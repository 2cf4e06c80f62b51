"""Graphs of version 1 in files: meta graphs, saved models, and functions of their placeholders."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import AutoconvError, DataLossError, FailedPreconditionError, InvalidArgumentError

tf = ac.compat.v1


def line_graph():
    """Build a graph that fits a line by momentum; return its loss."""
    x, y = (tf.placeholder(tf.float32, [None], name=name) for name in "xy")
    slope = tf.get_variable("slope", initializer=0.0)
    with tf.variable_scope("inner"):
        offset = tf.get_variable("offset", initializer=tf.constant(1.0))
    loss = tf.reduce_mean(tf.square(slope * x + offset - y), name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, step, name="train")
    tf.add_to_collection("train", train)
    tf.add_to_collection("loss", loss)
    tf.add_to_collection("rate", 0.1)
    return loss


FEEDS = {"x:0": [0.0, 1.0, 2.0], "y:0": [1.0, 3.0, 5.0]}


def run_steps(session, count):
    train, loss = tf.get_collection("train")[0], tf.get_collection("loss")[0]
    return [session.run([train, loss], FEEDS)[1] for _ in range(count)]


def test_a_training_continues_from_files(tmp_path):
    with ac.Graph().as_default(), tf.Session() as session:
        line_graph()
        session.run(tf.global_variables_initializer())
        run_steps(session, 3)
        path = tf.train.Saver().save(session, str(tmp_path / "line"), global_step=3)
        expected = run_steps(session, 4)
    with ac.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        assert tf.get_collection("rate") == [0.1]
        assert [variable.name for variable in tf.trainable_variables()] == ["slope:0", "inner/offset:0"]
        assert session.run(tf.train.get_global_step()) == 3
        assert run_steps(session, 4) == expected
        assert tf.get_default_graph().get_operation_by_name("train") is tf.get_collection("train")[0]
        session.run(tf.global_variables_initializer())
        assert session.run(tf.global_variables()[:2]) == [0.0, 1.0]


def test_loops_large_constants_and_texts():
    table = np.arange(200.0)
    with ac.Graph().as_default():
        n = tf.placeholder(tf.int32, [], name="n")
        total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.gather(table, i)), [0, np.float64(0)])[1]
        tf.identity(total, name="total")
        tf.constant(["a", "b"], name="texts")
        meta_graph = tf.train.export_meta_graph()
    with ac.Graph().as_default(), tf.Session() as session:
        assert tf.train.import_meta_graph(meta_graph) is None  # no variables
        assert session.run("total:0", {"n:0": 5}) == 10.0
        assert session.run("texts:0").tolist() == [b"a", b"b"]


def test_names_under_a_scope_and_replaced_placeholders(tmp_path):
    path = str(tmp_path / "line.meta")
    with ac.Graph().as_default(), tf.Session() as session:
        line_graph()
        session.run(tf.global_variables_initializer())
        values = tf.train.Saver().save(session, str(tmp_path / "line"))
    with ac.Graph().as_default() as graph, tf.Session() as session:
        for scope in ("one", "two"):
            saver = tf.train.import_meta_graph(path, import_scope=scope, input_map={"x:0": tf.constant([3.0])})
            saver.restore(session, values)
        assert [variable.name for variable in tf.trainable_variables()][-1] == "two/inner/offset:0"
        loss = graph.get_tensor_by_name("two/loss:0")
        assert session.run(loss, {"two/y:0": [4.0]}) == 9.0


def test_a_saver_deletes_graphs_with_its_checkpoints(tmp_path):
    with ac.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=1.0)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(max_to_keep=1)
        for step in range(3):
            saver.save(session, str(tmp_path / "m"), global_step=step)
        assert [path.name for path in tmp_path.glob("*.meta")] == ["m-2.meta"]
        saver.save(session, str(tmp_path / "n"), write_meta_graph=False)
        assert not list(tmp_path.glob("n*.meta"))


def test_what_needs_python_is_left_out_of_files(tmp_path):
    with ac.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        doubled = tf.multiply(x, 2.0, name="doubled")
        called = tf.py_func(lambda value: value + 1.0, [doubled], tf.float32)
        y = tf.identity(called, name="y")
        tf.summary.scalar("doubled", doubled)
        tf.FIFOQueue(3, [tf.int32]).enqueue(1, name="put")
        tf.data.make_one_shot_iterator(ac.data.Dataset.range(3)).get_next()
        with tf.control_dependencies([called]):
            tf.identity(doubled, name="after")
        for tensor in (doubled, y):
            tf.add_to_collection("tensors", tensor)
        folder = str(tmp_path / "doubled")
        tf.saved_model.simple_save(session, folder, {"x": x}, {"doubled": doubled})
        with pytest.raises(AutoconvError, match="cannot be saved"):
            tf.saved_model.simple_save(session, str(tmp_path / "y"), {"x": x}, {"y": y})
    with ac.Graph().as_default() as graph, tf.Session() as session:
        tf.saved_model.load(session, ["serve"], folder)
        assert [tensor.name for tensor in tf.get_collection("tensors")] == ["doubled:0"]
        assert session.run("doubled:0", {"x:0": 2.0}) == 4.0
        for name in ("y:0", "after:0"):
            with pytest.raises(KeyError, match="not in the graph"):
                graph.get_tensor_by_name(name)


def test_tensors_from_outside_of_the_graph():
    outside = ac.constant([1.0, 2.0])
    added = tf.wrap_function(lambda x: x + outside, [ac.TensorSpec([2])])
    assert added(ac.constant([3.0, 4.0])).numpy().tolist() == [4.0, 6.0]
    with ac.Graph().as_default():
        tf.identity(outside * 2.0, name="y")
        meta_graph = tf.train.export_meta_graph()
    with ac.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta_graph)
        assert session.run("y:0").tolist() == [2.0, 4.0]


def test_files_that_are_no_meta_graphs(tmp_path):
    path = tmp_path / "g.meta"
    with ac.Graph().as_default():
        line_graph()
        tf.train.export_meta_graph(str(path))
        content = path.read_bytes()
        for damaged in (b"", b"text", content[:-40], content.replace(b"momentum", b"m0mentum"), content[:300]):
            path.write_bytes(damaged.replace(b"multiply", b"multipl1"))
            with pytest.raises(DataLossError):
                tf.train.import_meta_graph(str(path))
        with pytest.raises(OSError, match="does not exist"):
            tf.train.import_meta_graph(str(tmp_path / "nothing"))
        with pytest.raises(NotImplementedError, match="export_scope"):
            tf.train.export_meta_graph(export_scope="inner")
    with pytest.raises(RuntimeError, match="eager execution"):
        tf.train.import_meta_graph(str(path))


def test_wrapped_functions():
    def count(x):
        total = tf.get_variable("total", initializer=10.0)
        tf.identity(x * 2.0, name="double")
        return {"sum": tf.assign_add(total, x), "old": tf.constant(1.0)}

    counted = tf.wrap_function(count, [ac.TensorSpec([], name="x")])
    assert [float(counted(ac.constant(2.0))["sum"]) for _ in range(2)] == [12.0, 14.0]
    (total,) = counted.variables
    assert total.numpy() == 14.0 and counted.trainable_variables == (total,)
    double = counted.prune("x:0", "double:0")
    assert double(ac.constant(4.0)).numpy() == 8.0 and total.numpy() == 14.0
    both = counted.prune(counted.graph.get_tensor_by_name("double:0"), {"d": "double:0", "t": "total:0"})
    assert {key: float(value) for key, value in both(ac.constant(1.0)).items()} == {"d": 1.0, "t": 14.0}
    with pytest.raises(InvalidArgumentError, match="feed a value for placeholder tensor 'x'"):
        counted.prune([], "double:0")


def test_gradients_of_wrapped_functions():
    squared = tf.wrap_function(lambda x: x * x * tf.get_variable("w", initializer=3.0), [ac.TensorSpec([])])
    x = ac.Variable(2.0)
    with ac.GradientTape() as tape:
        y = squared(x)
    assert [float(g) for g in tape.gradient(y, [x, squared.variables[0]])] == [12.0, 4.0]


def save_line(folder):
    """Save a graph with the variable scale = 3 in two ways of use."""
    with ac.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        scale = tf.get_variable("scale", initializer=2.0)
        y = tf.multiply(x, scale, name="y")
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        signature = tf.saved_model.signature_def_utils.predict_signature_def({"in": x}, {"out": y})
        with pytest.raises(FailedPreconditionError, match="scale"):
            builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        session.run(scale.initializer)
        session.run(scale.assign(3.0))
        builder.add_meta_graph_and_variables(
            session, [tf.saved_model.tag_constants.SERVING], {"serving_default": signature}
        )
        tf.identity(y + 1.0, name="z")
        builder.add_meta_graph(["train"])
        builder.save()


def test_saved_models_are_loaded_by_both_versions(tmp_path):
    folder = str(tmp_path / "line")
    save_line(folder)
    loaded = ac.saved_model.load(folder)
    assert loaded.signatures["serving_default"](ac.constant([2.0]))["out"].numpy().tolist() == [6.0]
    loaded.variables[0].assign(5.0)
    assert loaded.signatures["serving_default"](ac.constant([2.0]))["out"].numpy().tolist() == [10.0]
    for tags, fetched, expected in ((["serve"], "y:0", 6.0), (["train"], "z:0", 7.0)):
        with ac.Graph().as_default(), tf.Session() as session:
            meta_graph = tf.saved_model.loader.load(session, tags, folder)
            assert session.run(fetched, {"x:0": [2.0]}).tolist() == [expected]
            assert [variable.name for variable in tf.global_variables()] == ["scale:0"]
    assert meta_graph.signature_def == {}
    with ac.Graph().as_default(), tf.Session() as session, pytest.raises(RuntimeError, match="could not be found"):
        tf.saved_model.load(session, ["other"], folder)
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.Builder(folder)


def test_objects_of_version_2_are_loaded_into_sessions(tmp_path):
    module = ac.Module()
    module.w = ac.Variable([1.0, 2.0])
    module.f = ac.function(lambda x: {"product": x * module.w}, input_signature=[ac.TensorSpec([2], name="x")])
    ac.saved_model.save(module, str(tmp_path))
    with ac.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], str(tmp_path)).signature_def["serving_default"]
        feeds = {signature.inputs["x"].name: [3.0, 4.0]}
        assert session.run(signature.outputs["product"].name, feeds).tolist() == [3.0, 8.0]


def test_builders_that_lack_a_graph(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "a"))
    for call in (builder.save, lambda: builder.add_meta_graph(["serve"])):
        with pytest.raises(AssertionError, match="has not been saved yet"):
            call()
    with ac.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        with pytest.raises(NotImplementedError, match="runs nothing"):
            tf.saved_model.simple_save(session, str(tmp_path / "b"), {"x": x}, {"y": x}, tf.no_op())
        with pytest.raises(ValueError, match="inputs cannot be None or empty"):
            tf.saved_model.simple_save(session, str(tmp_path / "b"), {}, {"y": x})


def test_runs_in_parts_are_refused_with_the_remedy():
    with ac.Graph().as_default(), tf.Session() as session:
        with pytest.raises(NotImplementedError, match="feed its value in place"):
            session.partial_run_setup([], [])
        with pytest.raises(NotImplementedError, match="feed its value in place"):
            session.partial_run("handle", [])


@pytest.mark.parametrize(
    ("optimizer", "expected"),  # of TensorFlow 2.21, after three steps
    [
        (("ProximalGradientDescentOptimizer", 0.3, 0.0, 0.7), [0.0361263230, 0.0090315900, -0.0144505361]),
        (("ProximalGradientDescentOptimizer", 0.3, 0.9), [0.0, 0.0, 0.0]),
        (("ProximalAdagradOptimizer", 0.3, 0.1, 0.2, 0.7), [0.2546483278, -1.2523987293, 0.0]),
        (("ProximalAdagradOptimizer", 0.3, 0.1, 0.0, 0.7), [0.3102256358, -1.2688746452, -0.0707928017]),
    ],
)
def test_proximal_optimizers(optimizer, expected):
    name, *arguments = optimizer
    with ac.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, -2.0, 0.05])
        step = getattr(tf.train, name)(*arguments).minimize(tf.reduce_sum(v * v * tf.constant([1.0, 2.0, 3.0])))
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_allclose(session.run(v), expected, rtol=1e-6)
