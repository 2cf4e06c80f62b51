"""Graphs compiled by XLA, through jaxlib: on the CPU, or on a GPU or TPU where jax finds one."""

from __future__ import annotations

from autoconv.backends.xla.backend import XlaBackend

__all__ = ["XlaBackend"]
