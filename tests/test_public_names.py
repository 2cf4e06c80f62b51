"""Names that programs written for TensorFlow 2 use, under the same path here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import autoconv

NAMES = (Path(__file__).parent / "public_names.txt").read_text(encoding="utf-8").split()


def test_the_names_exist() -> None:
    assert [path for path in NAMES if not _exists(path)] == []


def _exists(path: str) -> bool:
    found: object = autoconv
    try:
        for part in path.split("."):
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


def test_every_listed_name_exists_once() -> None:
    assert sorted(set(autoconv.__all__)) == sorted(autoconv.__all__)
    assert set(autoconv.__all__) <= set(dir(autoconv))
    for name in autoconv.__all__:
        assert hasattr(autoconv, name)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'autoconv' has no attribute 'no_such_name'"):
        _ = autoconv.no_such_name
    with pytest.raises(ImportError):
        from autoconv import no_such_name  # noqa: F401


def test_star_import_brings_the_public_names() -> None:
    namespace: dict[str, object] = {}
    exec("from autoconv import *", namespace)
    assert namespace["constant"] is autoconv.constant and namespace["range"] is autoconv.range


def test_functions_are_polymorphic() -> None:
    function = autoconv.function(lambda x: x)
    assert isinstance(function, autoconv.types.experimental.PolymorphicFunction)
    assert isinstance(function, autoconv.types.experimental.GenericFunction)
    traced = function.get_concrete_function(autoconv.constant(1))
    assert isinstance(traced, autoconv.types.experimental.ConcreteFunction)


def test_the_version_is_that_of_the_distribution() -> None:
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert autoconv.__version__ == tomllib.loads(project.read_text())["project"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", autoconv.__version__)


NAMESPACES = [
    "autodiff", "autograph", "bitwise", "config", "data", "debugging", "dtypes", "errors", "linalg", "math", "nest",
    "nn", "random", "signal", "strings", "types",
]  # fmt: skip


@pytest.mark.parametrize(
    "statement",
    [
        "from autoconv.types.experimental import TraceType, PolymorphicFunction",
        "from autoconv.config.experimental import list_physical_devices, VirtualDeviceConfiguration",
        "from autoconv.data.experimental import CsvDataset, Counter, make_csv_dataset",
        "from autoconv.autograph.experimental import do_not_convert, Feature, set_loop_options",
        "from autoconv.random.experimental import Generator, stateless_split",
        "import autoconv.types.experimental as t; t.GenericFunction",
        "import autoconv.config.experimental; autoconv.config.experimental.list_physical_devices",
        "import autoconv as tf; tf.autograph.experimental.Feature.ALL",
        "; ".join(f"import autoconv.{name}; autoconv.{name}.__name__" for name in NAMESPACES),
        "from autoconv.nn import relu, softmax; from autoconv.linalg import svd; from autoconv.math import log",
        "from autoconv.errors import InvalidArgumentError, OutOfRangeError; from autoconv.data import Dataset",
        "from autoconv.autodiff import ForwardAccumulator; from autoconv.nest import map_structure",
    ],
)
def test_namespaces_are_modules(statement: str, forker: Any) -> None:
    completed = forker.run(["-c", statement])
    assert completed.returncode == 0, completed.stderr
