"""HTML for notebooks: the traces of a function, their reasons and times, and their graphs, folded."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from autoconv.graph.picture import graph_html


def function_html(title: str, rows: Iterable[tuple[int, str, Any]], plain_reasons: Iterable[str]) -> str:
    """Return an HTML table of traces, with a list of `plain_reasons`: why calls ran as plain Python.

    Each of `rows` is (number, reason, concrete function), with None for a trace that the cache has dropped.
    """
    body = "".join(_row(*row) for row in rows)
    head = "".join(f"<th>{name}</th>" for name in ("", "signature", "why", "nodes", "by kernels", "took"))
    table = f'<table style="text-align:left"><tr>{head}</tr>{body}</table>' if body else "<div>no traces yet</div>"
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in plain_reasons)
    plain_list = f"<div>ran as plain Python:<ul>{reasons}</ul></div>" if reasons else ""
    return f"<div><b>{escape(title)}</b>{table}{plain_list}</div>"


def _row(number: int, reason: str, concrete: Any) -> str:
    """Return the row of a table for the trace of this number; None stands for one that is no longer kept."""
    if concrete is None:
        return f"<tr><td>{number}</td><td>dropped from the cache since</td><td>{escape(reason)}</td></tr>"
    node_count = sum(1 for _ in concrete.recorded.walk())
    picture = f"<details><summary>{node_count}</summary>{graph_html(concrete.optimised)}</details>"
    cells = (
        escape(concrete.pretty_printed_signature(verbose=False)), escape(reason), picture,
        escape(", ".join(dict.fromkeys(concrete.kernels))) or "none", f"{concrete.seconds * 1000:.0f} ms",
    )  # fmt: skip
    return f"<tr><td>{number}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
