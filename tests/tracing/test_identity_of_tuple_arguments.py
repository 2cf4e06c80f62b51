"""Tuples in arguments and defaults that a call stores in outer objects keep their identity."""

from __future__ import annotations

import pytest

import autoconv

HELD = None
LOG: list[object] = []
TABLE: dict[str, object] = {}


def _into_a_global(x, t=(1, (2, 3.5))):
    global HELD
    HELD = t
    return x + t[0]


def _into_a_list(x, t=(1, (2, 3.5))):
    LOG.append(t)
    return x


def _a_part_into_a_dict(x, t=(1, (2, 3.5))):
    TABLE["t"] = t[1]
    return x


def _in_a_new_list(x, t=(1, (2, 3.5))):
    LOG.append([x, t])
    return x


@pytest.mark.parametrize("program", [_into_a_global, _into_a_list, _a_part_into_a_dict, _in_a_new_list])
@pytest.mark.parametrize("is_there_before", [False, True])
def test_stored_tuples(program, is_there_before):
    global HELD
    compiled, default = autoconv.compile(program), program.__defaults__[0]
    HELD, TABLE["t"] = (default, default[1]) if is_there_before else (None, None)
    argument = (4, (5, 6.5))
    for arguments in ((1.0,), (2.0,), (2.0, argument), (3.0, argument), (4.0, (7, (8, 9.5)))):
        LOG.clear()
        t = arguments[1] if len(arguments) > 1 else default
        assert compiled(*arguments) == program(*arguments)
        LOG.clear()
        compiled(*arguments)
        assert _stored(program, t)
    assert compiled.concrete_functions


def _stored(program, t):
    if program is _into_a_global:
        return HELD is t
    if program is _a_part_into_a_dict:
        return TABLE["t"] is t[1]
    return (LOG[0] if program is _into_a_list else LOG[0][1]) is t
