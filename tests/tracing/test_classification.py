"""Every callable that a program may name is an op, is converted, or is checked by the contract before a trace calls it:
no function of NumPy or Python runs while a graph is traced without such a check."""

from __future__ import annotations

import builtins
import collections
import functools
import io
import itertools
import math
import operator
import os
import random
import time
import types

import numpy as np
import pytest

import autoconv.numpy  # noqa: F401 - with the whole table of NumPy's functions
from autoconv.operators.calls.call import convert_callee
from autoconv.operators.numpy.calls import is_harmless_context
from autoconv.runtime.objects.symbolic_generators import drawing_methods
from autoconv.runtime.recording.regions import new_trace, recording
from autoconv.tracing.guards import trace_restrictions
from autoconv.tracing.specialise.compile_contract import CompileContract

MODULES = (
    np, np.linalg, np.fft, np.random, math, random, itertools, functools, os, time, builtins, operator, collections
)  # fmt: skip
# Functions that are called for their effects or their state.
_WITH_EFFECTS = ("rand", "shuffle", "seed", "choice", "normal", "getrandbits", "urandom", "system", "remove", "time",
                 "monotonic", "getcwd", "environ", "input", "open", "exec")  # fmt: skip


class _Refused(Exception):
    """The contract refused the call of a function."""


class _RecordingContract(CompileContract):
    """The contract `compile` outside of a call; it records the functions that it checks."""

    def __init__(self):
        self.checked = []

    def before_call(self, function):
        self.checked.append(function)
        if not trace_restrictions._has_no_effects(function):
            raise _Refused

    def require_original(self, owner, what, spots=()):
        """Do nothing: there is no call whose arguments could become inputs."""

    def count_step(self, unit):
        """Do nothing: there is no budget."""

    def on_converted(self, function):
        """Do nothing: there are no guards."""


def _classify(function):
    """Return how a trace would treat a callable, without calling it."""
    contract = _RecordingContract()
    trace = new_trace("program", contract)
    trace.created_objects = {}
    with recording(trace.root):
        try:
            found = convert_callee(function, trace.root)
        except _Refused:
            return "checked"
    if contract.checked:
        return "pure"
    return "unchecked" if found is function and not is_harmless_context(function) else "known"


def _callables(module):
    callables = {name: value for name, value in vars(module).items() if not name.startswith("_") and callable(value)}
    return {name: value for name, value in callables.items() if not isinstance(value, types.ModuleType)}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_public_callables(module):
    kinds = {name: _classify(value) for name, value in _callables(module).items()}
    assert [name for name, kind in kinds.items() if kind == "unchecked"] == []


@pytest.mark.parametrize("module", (np.random, random, os, time), ids=lambda module: module.__name__)
def test_functions_with_effects_or_state_are_not_called(module):
    found = {name: _classify(value) for name, value in _callables(module).items() if name in _WITH_EFFECTS}
    kinds = {np.random: np.random.RandomState, random: random.Random}
    staged = drawing_methods(kinds[module]) if module in kinds else frozenset()
    assert all(kind == ("known" if name in staged else "checked") for name, kind in found.items()), found


class Called:
    def __call__(self):
        """Does nothing."""


class Hashed:
    def __hash__(self):
        raise AssertionError("a trace looks this up")

    def __eq__(self, other):
        raise AssertionError("a trace compares this")

    def __call__(self):
        """Does nothing."""


def _plain():
    """Does nothing."""


METHODS = {
    "of a C type": np.random.RandomState(0).rand, "of a generator": np.random.default_rng(0).random,
    "of random.Random": random.Random(0).random, "of a class in Python": random.Random(0).randint,
    "of a partial": types.MethodType(functools.partial(random.Random.random), random.Random(0)),
    "partial of a draw": functools.partial(random.getrandbits, 2), "cached": functools.lru_cache(_plain),
    "methodcaller": operator.methodcaller("random"), "generator's method": np.random.default_rng(0).shuffle,
    "made by frompyfunc": np.frompyfunc(_plain, 0, 1),
    "slot": object.__setattr__, "unbound": list.append, "bound slot": [].__setitem__, "file": io.StringIO().read,
    "next of a stream": itertools.count().__next__, "array in place": np.zeros(2).sort, "sub-partial": type(
        "Partial", (functools.partial,), {})(_plain),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_bound_methods_partials_and_instances(name):
    assert _classify(METHODS[name]) == "checked"


@pytest.mark.parametrize(
    "function", [Called(), Hashed(), _plain, functools.partial(_plain), Called().__call__, np.vectorize(_plain)]
)
def test_functions_of_the_program_are_converted_without_a_check(function):
    assert _classify(function) == "known"
