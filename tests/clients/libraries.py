"""The public TensorFlow libraries whose tests `run.py` runs, with what these tests need."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """A library with its tests.

    `packages` import TensorFlow. `needs` are further packages that they import, without their own requirements.
    `tests` are globs in the archive. `from_source`: only the source archive has the tests, not the wheel.
    """

    requirement: str
    packages: tuple[str, ...]
    tests: tuple[str, ...]
    needs: tuple[str, ...] = ()
    from_source: bool = False
    old_numpy: tuple[str, ...] = ()  # names of Python's types that NumPy has dropped
    variables: tuple[tuple[str, str], ...] = ()


ABSL = ("absl-py", "six")
KERAS_2 = (*ABSL, "tf-keras==2.21.0", "dm-tree", "attrs", "wrapt", "decorator", "cloudpickle", "gast", "scipy")
PROBABILITY = (*KERAS_2, "tensorflow-probability==0.25.0", "opt_einsum", "typing_extensions")
SCIKIT_LEARN = ("scikit-learn", "scipy", "joblib", "threadpoolctl", "cloudpickle", "narwhals")
LIBRARIES = {
    "einops": Library(
        "einops==0.8.2", ("einops",), ("einops/tests/test_*.py",), variables=(("EINOPS_TEST_BACKENDS", "tensorflow"),)
    ),
    "t3f": Library("t3f==1.2.0", ("t3f",), ("t3f/*_test.py",), (*ABSL, "opt_einsum"), True, ("int", "float")),
    "sonnet": Library(
        "dm-sonnet==2.0.2",
        ("sonnet",),
        ("sonnet/**/*_test.py",),
        (*ABSL, "dm-tree", "wrapt", "tabulate", "attrs", "mock"),
    ),
    "larq": Library(
        "larq==0.14.0", ("larq",), ("larq/**/*_test.py",), (*ABSL, "terminaltables", "pytest-mock"), from_source=True
    ),
    "tensorly": Library(
        "tensorly==0.10.0",
        ("tensorly",),
        ("tensorly/**/test_*.py",),
        ("scipy",),
        variables=(("TENSORLY_BACKEND", "tensorflow"),),
    ),
    "tensornetwork": Library(  # its other tests need JAX and PyTorch, too
        "tensornetwork==0.4.6",
        ("tensornetwork",),
        ("tensornetwork/backends/tensorflow/*_test.py",),
        ("scipy", "graphviz", "opt_einsum", "h5py"),
    ),
    "tensorflow-graphics": Library(
        "tensorflow-graphics==2021.12.3",
        ("tensorflow_graphics",),
        tuple(
            f"tensorflow_graphics/{folder}/**/*_test.py"
            for folder in ("geometry", "image", "math", "nn/loss", "nn/metric", "rendering")
        ),
        (*ABSL, "scipy", "psutil", "tqdm", "termcolor", "trimesh", "networkx", "matplotlib"),
        old_numpy=("int", "complex"),
    ),
    "tf-slim": Library("tf-slim==1.1.0", ("tf_slim",), ("tf_slim/**/*_test.py",), ABSL),
    "trfl": Library(
        "trfl==1.2.0",
        ("trfl", "tensorflow_probability", "tf_keras"),
        ("trfl/*_test.py",),
        PROBABILITY,
        old_numpy=("int",),
    ),
    "graph-nets": Library(  # `tests` are for Sonnet 1
        "graph-nets==1.1.0",
        ("graph_nets", "sonnet"),
        ("graph_nets/tests_tf2/*_test.py",),
        (*ABSL, "dm-tree", "attrs", "wrapt", "tabulate", "networkx", "dm-sonnet==2.0.2"),
        from_source=True,
    ),
    "tensorflow-recommenders": Library(
        "tensorflow-recommenders==0.7.7",
        ("tensorflow_recommenders",),
        ("tensorflow_recommenders/**/*_test.py",),
        ABSL,
    ),
    "keras-self-attention": Library(
        "keras-self-attention==0.51.0",
        ("keras_self_attention", "tests"),
        ("tests/**/test_*.py",),
        from_source=True,
        variables=(("TF_KERAS", "1"),),
    ),
    "qkeras-v3": Library(
        "qkeras-v3==1.2.1",
        ("qkeras", "tests"),
        ("tests/*_test.py",),
        (*ABSL, *SCIKIT_LEARN, "networkx", "tqdm", "keras-tuner", "kt-legacy"),
    ),
    "spektral": Library(  # the archives have no tests
        "spektral==1.3.1",
        ("spektral", "tests"),
        ("tests/**/test_*.py",),
        (*SCIKIT_LEARN, "networkx", "tqdm", "lxml", "pandas", "requests"),
    ),
    "keras-tuner": Library(  # the archives have no tests
        "keras-tuner==1.4.8",
        ("keras_tuner",),
        ("keras_tuner/**/*_test.py",),
        (*ABSL, *SCIKIT_LEARN, "kt-legacy", "requests", "pandas"),
    ),
    "tensorflow-probability": Library(  # the archives have no tests; a sample of the repository's
        "tensorflow-probability==0.25.0",
        ("tensorflow_probability", "tf_keras"),
        tuple(
            f"tensorflow_probability/python/{files}_test.py"
            for files in ("bijectors/[cefg]*", "distributions/[bm]*", "math/[bdg]*", "mcmc/[dhm]*", "optimizer/[bc]*")
        ),
        (*KERAS_2, "hypothesis", "sortedcontainers", "mock", "opt_einsum"),
    ),
    "gpflow": Library(  # the archives have no tests; a part of the repository's
        "gpflow==2.9.2",
        ("gpflow", "check_shapes", "tensorflow_probability", "tf_keras", "tests"),
        tuple(f"tests/gpflow/{files}.py" for files in ("utilities/test_*", "quadrature/test_*", "test_*")),
        (*PROBABILITY, "check-shapes", "lark", "dropstackframe", "deprecated", "multipledispatch", "tabulate"),
    ),
}
