"""Lines of `explain()` about ops that run by their kernels."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS


def test_ops_without_native_form_are_counted_with_their_lines() -> None:
    @ac.function
    def distinct(x: Any) -> Any:
        y = x + 1.0
        found = ac.strings.as_string(y)
        return found, ac.bitcast(x, ac.int32), ac.bitcast(y, ac.int32)

    distinct(np.array([1.0, 1.0, 2.0]))
    first = inspect.getsourcelines(distinct.python_function)[1]
    further_calls = f"bitcast_rows (test_kernel_calls.py:{first + 4}) x2"
    assert f"3 by kernels: as_string (test_kernel_calls.py:{first + 3}), {further_calls}" in distinct.explain()


def test_no_line_where_all_ops_are_native() -> None:
    @ac.function
    def native(x: Any, i: Any) -> Any:
        return ac.cumsum(ac.sort(ac.gather(x, i)) * ac.random.uniform([3]))

    native(np.array([1.0, 1.0, 2.0], np.float32), np.array([2, 0, 1]))
    assert "by kernels" not in native.explain()


def test_a_graph_without_any_native_op() -> None:
    @ac.function
    def plain(x: Any) -> Any:
        return ac.strings.as_string(x)

    plain(np.array([1.0, 1.0]))
    assert "1 by kernels: as_string" in plain.explain()


def test_the_first_of_many_are_named() -> None:
    @ac.function
    def many(x: Any) -> Any:
        text = ac.strings.as_string(x)
        upper = ac.strings.upper(text)
        return [ac.strings.length(upper), ac.bitcast(x, ac.int32), upper, ac.strings.lower(upper),
                ac.strings.length(text), ac.strings.to_number(text), ac.strings.strip(text),
                ac.strings.join([text, upper]), ac.strings.regex_replace(text, "1", "2")]  # fmt: skip

    many(np.ones(2))
    line = next(line for line in many.explain().split("\n") if "by kernels" in line)
    assert line.strip().startswith("10 by kernels: ")
    assert line.endswith(", and 2 more")


def test_the_reference_backend_has_nothing_but_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SETTINGS, "backend", "reference")

    @ac.function
    def plain(x: Any) -> Any:
        return ac.unique(x)[0]

    plain(np.array([1.0, 1.0]))
    assert "by kernels" not in plain.explain()
