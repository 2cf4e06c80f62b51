"""Graphs compiled by XLA, through jaxlib: on the CPU, or on a GPU or TPU where jax finds one."""

from autoconv.backends.xla.accelerator import Accelerator
from autoconv.backends.xla.backend import XlaBackend
from autoconv.backends.xla.client import accelerators

__all__ = ["Accelerator", "XlaBackend", "accelerators"]
