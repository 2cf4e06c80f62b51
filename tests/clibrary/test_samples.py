"""Every op on its samples: what has a form in a C library agrees with the kernel; the docs list what has none."""

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
from .samples import form_of, graphs

TOGETHER = 100  # samples of a library
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "c-libraries.md"


@functools.cache
def found() -> list[tuple[str, Graph, list[np.ndarray], list[np.ndarray]]]:
    return list(graphs())


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("part", range(6))
def test_agrees_with_the_kernel(part: int, tmp_path: Path) -> None:
    fitting = [one for one in found() if one[1].outputs]
    chosen = fitting[part * TOGETHER : (part + 1) * TOGETHER]
    assert chosen
    assert len(fitting) <= 6 * TOGETHER
    whole = Graph("samples")
    for _, graph, _, _ in chosen:
        whole.parameters += graph.parameters
        whole.nodes += graph.nodes
        whole.outputs = [*whole.outputs, *graph.outputs]
    form = form_of(whole)
    made = library_object(form, [whole], "x86-64", "")
    (tmp_path / "f.h").write_text(header_text(Interface(form, "", ()), made.messages))
    (tmp_path / "f.o").write_bytes(made.data)
    link(find_compiler(), str(tmp_path / "f.o"), str(tmp_path / "libf.so"))
    call = Caller(SimpleNamespace(header=tmp_path / "f.h", shared=tmp_path / "libf.so"))
    results = call(*(x for _, _, given, _ in chosen for x in given)).values()
    expected = [(name, x) for name, _, _, all_ in chosen for x in all_]
    for (name, other), one in zip(expected, map(np.asarray, results), strict=True):
        assert one.shape == other.shape, name
        tolerance = 1e-6 if other.dtype in (np.float32, np.complex64) else 1e-13
        if other.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_the_page_lists_what_has_no_form() -> None:
    none = {name for name, graph, _, _ in found() if not graph.outputs}
    assert set(listed(PAGE.read_text(encoding="utf-8"))) == none


def listed(page: str) -> Iterator[Any]:
    """The ops in the table of the page."""
    table = page.partition("## What has no form")[2]
    for row in re.findall(r"^\| [^|`]+ \| (`.*) \|", table, flags=re.MULTILINE):
        yield from re.findall(r"`(\w+)`", row)
