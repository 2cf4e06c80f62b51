"""The states of random generators: saved before a run that may be undone."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph
from autoconv.ops.python.reversibility import makes_all_generators
from autoconv.ops.values.generator_memory import copy_state
from autoconv.ops.values.generator_types import GENERATOR_TYPES, global_generator

SavedStates = list[tuple[Any, Callable[[], Any]]]  # generators, each with the function that restores its state


def state_saver(graph: Graph) -> Callable[[Iterable[Any]], SavedStates] | None:
    """Return a function that saves the states of generators before a run of the graph; None if it uses none.

    The returned function takes the arguments of the run. It saves the generators among the arguments, and the global
    ones that the graph draws from.
    """
    if makes_all_generators(graph):
        return None
    types = {node.results[0].type for node in graph.walk() if node.op.name == "generator_global"}
    global_generators = list(map(global_generator, types))

    def save(arguments: Iterable[Any]) -> SavedStates:
        generators = [*global_generators, *(argument for argument in arguments if type(argument) in GENERATOR_TYPES)]
        return [(generator, _save_state(generator)) for generator in generators]

    return save


def _save_state(generator: Any) -> Callable[[], None]:
    """Return a function that restores the current state of the generator."""
    restore = copy_state(generator)
    if restore is not None:
        return restore
    if type(generator) is random.Random:
        return functools.partial(generator.setstate, generator.getstate())
    if type(generator) is np.random.RandomState:
        return functools.partial(generator.set_state, generator.get_state(legacy=False))
    bits = generator.bit_generator
    return functools.partial(setattr, bits, "state", bits.state)
