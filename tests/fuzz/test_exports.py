"""A small budget of the exported programs; `python tests/fuzz/exports.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")
exports = load_module(Path(__file__).with_name("exports.py"), "exported_programs")


@pytest.mark.parametrize("name", exports.FORMATS)
def test_exported_programs_agree_with_numpy(name):
    for number in (0, 3):
        generator = exports.array_programs.Generator(number)
        counts = exports.check(generator.program(), number, generator.dtype, exports.FORMATS[name])
        assert counts["agrees"] >= 4, counts
