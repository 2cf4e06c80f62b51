"""Graphs as StableHLO text, for XLA and other tools that read it."""

from __future__ import annotations

from autoconv.backends.stablehlo.module import ChosenPart, Module, Part, to_stablehlo

__all__ = ["ChosenPart", "Module", "Part", "to_stablehlo"]
