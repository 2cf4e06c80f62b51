"""A small budget of the programs as C libraries; `python tests/fuzz/clibraries.py --programs N` is the large one."""

import shutil
from pathlib import Path

import pytest

from tests.module_loading import load_module

clibraries = load_module(Path(__file__).with_name("clibraries.py"), "library_programs")


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("number", [2021, 8, 2006, 87])
def test_libraries_agree_with_python(number, tmp_path):
    program = clibraries.Program(number)
    counts = clibraries.check(program, tmp_path, runs_in_c=number == 8)
    assert not [kind for kind in counts if kind.startswith("WRONG")], f"{program.source}\n{counts}"
    assert counts["agrees"] + counts["agrees on an error"] >= 5, counts
