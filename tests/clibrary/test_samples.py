"""Every op on its samples: its form in a C library agrees with the kernel; the docs list the ops without a form."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm.library.build import library_object
from autoconv.clibrary.header import header_text
from autoconv.clibrary.interface import Interface
from autoconv.clibrary.link import find_compiler, link
from autoconv.graph.graph import Graph

from .calling import Caller
from .samples import form_of, sample_graphs

SAMPLES_PER_LIBRARY = 100
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "c-libraries.md"


@functools.cache
def all_graphs() -> list[tuple[str, Graph, list[np.ndarray], list[np.ndarray]]]:
    return list(sample_graphs())


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("part", range(6))
def test_agrees_with_the_kernel(part: int, tmp_path: Path) -> None:
    samples = [item for item in all_graphs() if item[1].outputs]
    selected = samples[part * SAMPLES_PER_LIBRARY : (part + 1) * SAMPLES_PER_LIBRARY]
    assert selected
    assert len(samples) <= 6 * SAMPLES_PER_LIBRARY
    joined_graph = Graph("samples")
    for _, graph, _, _ in selected:
        joined_graph.parameters += graph.parameters
        joined_graph.nodes += graph.nodes
        joined_graph.outputs = [*joined_graph.outputs, *graph.outputs]
    form = form_of(joined_graph)
    library = library_object(form, [joined_graph], "x86-64", "")
    (tmp_path / "f.h").write_text(header_text(Interface(form, "", ()), library.messages))
    (tmp_path / "f.o").write_bytes(library.data)
    link(find_compiler(), str(tmp_path / "f.o"), str(tmp_path / "libf.so"))
    call = Caller(SimpleNamespace(header=tmp_path / "f.h", shared=tmp_path / "libf.so"))
    results = call(*(x for _, _, inputs, _ in selected for x in inputs)).values()
    expected = [(name, x) for name, _, _, all_ in selected for x in all_]
    for (name, expected_array), actual in zip(expected, map(np.asarray, results), strict=True):
        assert actual.shape == expected_array.shape, name
        if name in ("eigh", "svd"):  # the signs of vectors are the routine's choice
            actual, expected_array = np.abs(actual), np.abs(expected_array)
        tolerance = 1e-6 if expected_array.dtype in (np.float32, np.complex64) else 1e-13
        if expected_array.dtype.kind in "fc":
            np.testing.assert_allclose(actual, expected_array, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(actual, expected_array, err_msg=name)


def test_the_page_lists_the_ops_without_a_form() -> None:
    ops_without_form = {name for name, graph, _, _ in all_graphs() if not graph.outputs}
    assert set(ops_in_table(PAGE.read_text(encoding="utf-8"))) == ops_without_form


def ops_in_table(page: str) -> Iterator[Any]:
    """Return the ops in the table of the page."""
    table = page.partition("## What has no form")[2]
    for row in re.findall(r"^\| [^|`]+ \| (`.*) \|", table, flags=re.MULTILINE):
        yield from re.findall(r"`(\w+)`", row)
