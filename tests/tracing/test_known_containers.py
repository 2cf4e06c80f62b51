"""Dicts of known keys, and lists of tuples: their arrays are values of the graph, also where a loop replaces them."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autoconv


def sums(arrays, turns):
    total = {name: np.zeros_like(array) for name, array in arrays.items()}
    for _ in range(turns):
        for name in arrays:
            total[name] = total[name] + arrays[name]
    return total


def pairs(arrays, turns):
    layers = [(array, array.sum()) for array in arrays.values()]
    for _ in range(turns):
        for i in range(len(layers)):
            weights, bias = layers[i]
            layers[i] = (weights * 0.5, bias - 1)
    return layers


def kinds_that_change(arrays, turns):
    x = arrays["a"]
    found = {"sum": 0.0, "large": 0, 3: (x, 1.0), "best": None}
    for i in range(turns):
        found["sum"] += x[i % 3]
        if x[i % 3] > 1:
            found["large"] += 1
            found["best"] = i
        found[3] = (found[3][0] * 0.5, found[3][1] + 1)
    return found, found[3][0].sum(), list(found)


def oscillation(arrays, turns):
    state, track = {"place": arrays["a"] * 0, "speed": arrays["a"] + 1}, []
    for _ in range(turns):
        state["speed"] = state["speed"] - 0.1 * state["place"]
        state["place"] += 0.1 * state["speed"]
        track.append(state["place"].copy())
    return state, np.array(track)


def descent(arrays, turns):
    velocities = {name: np.zeros_like(array) for name, array in arrays.items()}
    for _ in range(turns):
        gradients = {name: array - 1.0 for name, array in arrays.items()}
        for name in arrays:
            velocities[name] = 0.9 * velocities[name] - 0.1 * gradients[name]
            arrays[name] += velocities[name]
    return [float(array.sum()) for array in arrays.values()]


def merged(arrays, turns):
    copied = dict(arrays, turns=turns)
    copied["a"] = copied["a"] + turns
    updated = dict(arrays.items())
    updated.update(copied)
    updated |= {"c": updated["a"] * 2}
    joined = dict(zip(arrays.keys(), [array * 2 for array in arrays.values()], strict=True)) | {"a": turns}
    names, values = list(copied), tuple(updated.values())
    return copied, updated, joined, names, values[0] + 1, arrays | joined, copied is arrays


def replaced_by_itself(arrays, turns):
    rows = [arrays["a"], arrays["b"]]
    for _ in range(turns):
        rows[0] *= 0.5
        rows[1][0] += 1
    is_same = rows[0] is arrays["a"]
    rows[-1] = rows[1]
    return rows, is_same


def best_copy(arrays, turns):
    best, least, tried = None, np.inf, {"arrays": dict(arrays), "turns": (turns, ["text", None])}
    for i in range(turns):
        tried["arrays"]["a"] = tried["arrays"]["a"] * 0.5
        loss = abs(tried["arrays"]["a"].sum() - i)
        if loss < least:
            least, best = loss, copy.deepcopy(tried["arrays"])
    deep, shallow = copy.deepcopy(tried), copy.copy(tried)
    deep["arrays"]["b"][0] = 7
    shallow["turns"] = None
    rows = [[arrays["a"][0], turns]] * 2
    copied = copy.deepcopy([rows, rows[0], arrays["b"]])
    copied[2] += 1
    is_one = copied[0][1] is copied[1], copied[1] is rows[0], copy.deepcopy((turns, "a")) == (turns, "a")
    return best, deep, shallow["turns"], tried["turns"], copied, is_one, copy.copy(arrays["b"]) - 1


@pytest.mark.parametrize(
    "function", [sums, pairs, kinds_that_change, oscillation, descent, merged, replaced_by_itself, best_copy],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_items_are_those_of_python(function, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")
    compiled = autoconv.compile(function)
    for turns in (3, 0, 1, 7, -1, 30):
        argument = {"a": np.array([1.0, 2.0, 3.0]), "b": np.ones((2, 2))}
        expected_state, found_state = copy.deepcopy(argument), copy.deepcopy(argument)
        expected, found = function(expected_state, turns), compiled(found_state, turns)
        assert repr(found) == repr(expected)
        assert repr(found_state) == repr(expected_state)
    explained = compiled.explain()
    assert "0 traces" not in explained and "Object" not in explained


def test_a_deep_copy_of_arrays_that_are_one(monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")

    def copied(arrays):
        both = copy.deepcopy(arrays)
        both["a"] += 1
        return both, both["a"] is both["b"]

    compiled, ones, row = autoconv.compile(copied), np.ones(3), np.arange(4.0)
    arguments = [{"a": np.ones(3), "b": np.ones(3)}, {"a": ones, "b": ones}, {"a": row[1:], "b": row[:-1]}]
    for arrays in (*arguments, *arguments):
        assert repr(compiled(arrays)) == repr(copied(arrays))


def test_copies_that_only_python_makes():
    def copied(container):
        return copy.deepcopy([container, container]), copy.copy(container)

    compiled = autoconv.compile(copied)
    for given in ({1, 2}, np.array(3.0), autoconv.constant([1.0]), np.arange(6)[::2], np.eye(2)[None].T):
        pair, copy_ = compiled(given)
        assert pair[0] is pair[1] and type(copy_) is type(given)
        assert repr((pair, copy_)) == repr(copied(given))
