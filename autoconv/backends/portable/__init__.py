"""The common part of the writers of graphs for other runtimes, StableHLO and ONNX.

A graph is first made portable (`prepare`): memory and variables become values, and ops without a counterpart become
simpler ops. Then a writer visits its nodes. Elementwise ops are written by the rules of `autoconv.ops.elements`, whose
operators act on whole arrays here (`terms`).
"""

from __future__ import annotations

from autoconv.backends.portable.unfit import GraphUnfit

__all__ = ["GraphUnfit"]
