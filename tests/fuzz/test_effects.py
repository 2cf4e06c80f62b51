"""A small part of the product of ways to an object and effects; `python tests/fuzz/effects.py` runs the large one."""

import random
from pathlib import Path

import numpy as np
import pytest

from tests.module_loading import load_module

effects = load_module(Path(__file__).with_name("effects.py"), "effects_programs")


@pytest.fixture(autouse=True)
def _restore_random_states():
    states = random.getstate(), np.random.get_state()
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])


@pytest.mark.parametrize("seed", range(10))
def test_effects_happen_as_in_plain_python(seed):
    for program in effects.sample_programs(4, random.Random(seed)):
        kind, details, _ = effects.check(program)
        assert kind != "WRONG", f"{program}\n{program.source()}\n{details}"


@pytest.mark.parametrize("seed", range(3))
def test_effects_of_functions_of_converted_modules(seed):
    programs = [*effects.sample_programs(2, random.Random(seed))]
    programs.append(effects.Program("called closure", "__missing__", "setter", "map", "none"))
    for program in programs:
        kind, details, _ = effects.check(program, is_converted=True)
        assert kind != "WRONG", f"{program}\n{program.source()}\n{details}"
