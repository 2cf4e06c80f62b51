"""A small budget of the exported programs; `python tests/fuzz/exports.py --programs N` is the large one."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")
_SPEC = importlib.util.spec_from_file_location("exported_programs", Path(__file__).with_name("exports.py"))
exports = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(exports)


@pytest.mark.parametrize("name", exports.FORMATS)
def test_exported_programs_agree_with_numpy(name):
    for number in (0, 3):
        generator = exports.array_programs.Generator(number)
        counts = exports.check(generator.program(), number, generator.dtype, exports.FORMATS[name])
        assert counts["agrees"] >= 4, counts
