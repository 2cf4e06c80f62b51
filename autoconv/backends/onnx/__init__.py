"""Graphs as ONNX models."""

from __future__ import annotations

from autoconv.backends.onnx.model import to_onnx

__all__ = ["to_onnx"]
