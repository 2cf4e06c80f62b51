"""Programs of NumPy as C libraries: those of fixtures/numpy."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv

from .calling import Caller

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "numpy"


@pytest.mark.parametrize("name", ["bubble_sort", "crc32", "edit_distance", "life_by_rolling", "merge_sort", "sieve"])
def test_agrees_with_numpy(name: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    mine, its = module.make(0), module.make(0)
    specs = [x if isinstance(x, np.ndarray) else autoconv.TensorSpec([], np.asarray(x).dtype) for x in module.make(0)]
    library = autoconv.clibrary.build(module.program, *specs, to=tmp_path / name, contract="compile")
    found, expected = Caller(library)(*mine), module.program(*its)
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    for one, other in zip(mine, its, strict=True):
        np.testing.assert_array_equal(one, other)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (tuple, list)) else [value]


def test_a_process_that_loads_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.zeros(3) + np.sqrt(x)\n")
    text = "import autoconv, program; autoconv.clibrary.build(program.f, 'float64[3]', to='f', contract='compile')"
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True)
    assert (tmp_path / "f.o").exists()
