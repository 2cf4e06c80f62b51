"""Dicts and lists of arrays of objects and outer names, which are inputs because compiled code changes them."""

import copy

import numpy as np
import pytest

import autoconv as ac


class Net:
    def __init__(self):
        self.params = {"W": np.arange(12.0).reshape(3, 4) / 12, "b": np.zeros(4)}
        self.moments = {key: np.zeros_like(value) for key, value in self.params.items()}
        self.state = {"rows": [np.ones(3), np.zeros(3)], "last": {}}
        self.steps = 0

    def forward(self, x):
        self.state["last"]["h"] = np.tanh(x @ self.params["W"] + self.params["b"])
        return self.state["last"]["h"]


STATE = {"total": np.zeros(4)}


def train(net, x):
    gradient = net.forward(x) - 0.5
    net.steps += 1
    for key, value in {"W": np.outer(x, gradient), "b": gradient}.items():
        net.moments[key] = 0.9 * net.moments[key] + value
        net.params[key] -= 0.1 * net.moments[key] / net.steps
    return gradient.sum()


def replace_items(net, x):
    net.params["W"], net.params["b"] = net.params["W"] * 2, x[:1] + net.params["b"]
    net.state["rows"][0] = net.state["rows"][1] + x
    net.params["extra"] = net.params.pop("extra", 0.0 * x) + x
    STATE["total"] = STATE["total"] + net.params["b"]
    return list(net.params), len(net.params), net.params is net.moments


def raise_midway(net, x):
    net.params["b"] = net.params["b"] + 1
    if x.sum() > 2:
        raise ValueError("too large")
    net.moments["b"] = net.params["b"] * 2


def replace_dicts(net, x):
    net.moments = {key: value + x[0] for key, value in net.params.items()}
    net.params["b"] = net.moments["b"]
    return net.params


def replace_items_of_one_of_two_nets(net, x, other):
    other.params["b"] = net.params["b"] + 1
    return net.params["b"].sum()


def _rounded(value):
    if isinstance(value, dict):
        return [(key, _rounded(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), list(map(_rounded, value))
    return type(value), value if value is None or isinstance(value, (str, bool)) else np.round(value, 9).tolist()


def _described(net, result):
    values = [result, net.params, net.moments, net.state, net.steps, STATE["total"]]
    return _rounded(values), net.params is net.moments, result is net.params, net.params["b"] is net.moments["b"]


def _run(function):
    """Return what six calls result in, with a change from outside before each."""
    net, x, outcomes = Net(), np.array([0.5, 0.25, 0.125]), []
    STATE["total"] = np.zeros(4)
    for call in range(6):
        _change(net, call)
        try:
            result = function(net, x * call)
        except ValueError as error:
            result = str(error)
        outcomes.append(_described(net, result))
    return outcomes


def _change(net, call):
    if call == 2:
        net.moments = net.params
    if call == 4:
        net.params["c"], net.moments = np.ones(2), copy.deepcopy(net.moments)


@pytest.mark.parametrize("program", [train, replace_items, raise_midway, replace_dicts])
def test_changes_of_containers_of_objects_are_those_of_plain_python(program):
    compiled = ac.compile(program)
    assert _run(compiled) == _run(program)
    assert compiled.experimental_get_tracing_count() > 0
    assert "plain Python" not in compiled.explain()


def test_a_second_reference_that_guards_alone_would_miss_is_seen():
    compiled = ac.compile(replace_items_of_one_of_two_nets)
    results = {}
    for function in (replace_items_of_one_of_two_nets, compiled):
        net, other, found = Net(), Net(), []
        for call in range(6):
            if call == 3:
                other.params = net.params
            found.append((function(net, np.ones(3), other), net.params["b"].sum(), other.params["b"].sum()))
        results[function is compiled] = found
    assert results[True] == results[False]


def test_a_dict_that_is_an_argument_too_is_one_dict():
    def replace(weights, x):
        STATE["total"] = x + weights["total"]
        weights["total"] = STATE["total"] * 2
        return STATE["total"] is weights["total"], weights is STATE

    compiled = ac.compile(replace)
    for weights in (STATE, STATE, {"total": np.ones(4)}, STATE):
        totals = []
        for function in (replace, compiled):
            STATE["total"] = np.ones(4)
            weights["total"] = np.ones(4) if weights is STATE else np.ones(4) * 3
            totals.append((function(weights, np.ones(4)), STATE["total"].tolist(), weights["total"].tolist()))
        assert totals[0] == totals[1]
    assert compiled.experimental_get_tracing_count() > 0
