"""Lists and dicts of arrays whose items are replaced: the caller's own containers are changed and returned."""

import numpy as np
import pytest

import autoconv

BOTH = {"a": np.ones(3), "b": np.zeros(2)}


def returns_them(p, i):
    q = p
    for k in p:
        w = p[k] - 0.5
        p[k] = w
    return q, w, [p, {"x": q}], p["b"]


def one_array_twice(p, i):
    w = p["a"] * 2
    p["a"], p["b"] = w, w[1:]
    w[0] += 1
    return w


def adds_and_deletes(p, i):
    p["c"] = p.pop("b")
    del p["a"]
    p["a"] = p["c"] + 1
    p["b"] = p.setdefault("a", 5)
    return list(p)


def ends_early(p, i):
    for k in p:
        p[k] = p[k] - 1.0
        if p[k].sum() < -1.5 * i:
            raise ValueError(k)
    return p


def in_branches(p, i):
    if i > 1:
        p["a"] = p["a"] - 1
    else:
        p["b"] = p["b"] + p["a"].sum()
    return p["a"] + p["b"].sum()


def in_a_loop(p, i):
    n = 0
    while np.abs(p["a"]).max() > 0.01:
        p["a"] = p["a"] * 0.5
        p["b"] = p["b"] + p["a"][n % 3]
        n += 1
    return n


def raises_in_a_loop(p, i):
    n = 0
    while np.abs(p["a"]).max() > 0.001:
        p["a"] = p["a"] * 0.5
        p["b"] = p["b"] + p["a"][n]
        n += i
    return n


def in_a_try(p, i):
    try:
        p["a"] = p["a"] * 2
        if p["a"].sum() > 10 * i:
            raise KeyError("a")
    except KeyError as error:
        p["b"] = p["b"] - 1
        return str(error)
    finally:
        p["a"] = p["a"] - 1
    return p


def nested(p, i):
    for layer in p["layers"]:
        layer["W"] = layer["W"] - layer["g"]
        layer["b"] -= 0.5
    p["step"] += 1
    p["layers"][0], p["layers"][1] = p["layers"][1], p["layers"][0]
    return p["layers"][0], p["step"]


def pairs(p, i):
    for position, (weights, bias) in enumerate(p):
        p[position] = weights - 0.1, bias - 1
    return p


def new_parts(p, i):
    part = {"z": p["a"] * 2}
    p["b"] = [part, p["a"]]
    part["z"] = part["z"] + 1
    return part


def kept_in_a_list(p, i):
    references = [p for _ in range(i)]
    p["a"] = p["a"] + 1
    return references


def adam(p, i):
    p["t"] += 1
    for k in p["w"]:
        m = p["m"].setdefault(k, np.zeros_like(p["w"][k]))
        p["m"][k] = 0.9 * m + 0.1 * p["w"][k]
        p["w"][k] = p["w"][k] - p["m"][k] / (1 - 0.9 ** p["t"])


LAYERS = [{"W": np.ones((2, 2)), "g": np.ones((2, 2)), "b": np.zeros(2)} for _ in range(2)]
PROGRAMS = {
    returns_them: BOTH, one_array_twice: BOTH, adds_and_deletes: BOTH, ends_early: BOTH, in_branches: BOTH,
    in_a_loop: BOTH, raises_in_a_loop: BOTH, in_a_try: BOTH, new_parts: BOTH, kept_in_a_list: BOTH,
    nested: {"layers": LAYERS, "step": 0}, pairs: [(np.ones((2, 2)), np.zeros(2)), (np.ones(2), np.zeros(1))],
    adam: {"t": 0, "w": BOTH, "m": {}},
}  # fmt: skip


def copied(value):
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def described(value, seen):
    """Return the parts of a value, with a number for each object that tells it from others."""
    if not isinstance(value, (list, dict, np.ndarray)):
        return tuple(described(part, seen) for part in value) if isinstance(value, tuple) else repr(value)
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        return seen[id(value)], value.dtype.str, np.round(value, 9).tolist()
    parts = value.items() if isinstance(value, dict) else value
    return seen[id(value)], [described(part, seen) for part in parts]


def history(function, argument):
    argument, result = copied(argument), []
    for i in range(5):
        try:
            outcome = function(argument, i)
        except (ValueError, IndexError) as error:
            outcome = repr(error)
        result.append(described((outcome, argument), {}))
        if i == 3 and isinstance(argument, dict) and "a" in argument:
            argument["a"] = np.full(3, 7.0)
    return result


@pytest.mark.parametrize("program", PROGRAMS)
def test_items_that_are_replaced(program, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")
    compiled = autoconv.compile(program)
    assert history(compiled, PROGRAMS[program]) == history(program, PROGRAMS[program])
    explanation = compiled.explain()
    assert ("plain Python" in explanation) == (program is in_a_try), explanation
    assert "Dict[" in explanation or "List[" in explanation or program in (in_a_try, kept_in_a_list), explanation


def test_an_argument_that_is_changed_by_an_outer_name():
    outer = {"a": np.ones(2)}

    @autoconv.compile
    def change(p, x):
        outer["a"] = outer["a"] + x
        return p["a"].sum()

    other = {"a": np.zeros(2)}
    assert [change(outer if i % 2 else other, 1.0) for i in range(6)] == [0, 6, 0, 10, 0, 14]


def test_lists_that_grow_have_one_trace():
    @autoconv.compile
    def push(items, x):
        items.append(x * 2)
        return len(items)

    items = [np.ones(2)]
    assert [push(items, np.ones(2)) for _ in range(6)] == [2, 3, 4, 5, 6, 7]
    assert push.explain().count("Object[list]") == 1


def test_changes_before_an_error_that_a_handler_takes_stay():
    def change(p, rows, n):
        try:
            p["a"] = p["a"] * 0.5
            rows[n]["z"]
        except KeyError:
            pass
        return n

    compiled, found = autoconv.compile(change), []
    for function in (change, compiled):
        p = {"a": np.ones(3), "b": np.zeros(2)}
        found.append([(function(p, [{}, {"z": 1}], n), p["a"].tolist(), p["b"].tolist()) for n in (0, 1, 0, 0)])
    assert found[0] == found[1]
    assert compiled.experimental_get_tracing_count() > 0


def test_an_array_computed_from_outer_arrays_is_a_new_one_in_each_call():
    outer, stored = {"a": np.ones(4)}, []

    def store(p, x):
        p["a"] = outer["a"] * 2
        p["b"] = p["a"]
        return x + 1

    compiled, p = autoconv.compile(store), dict(BOTH)
    for _ in range(4):
        compiled(p, np.ones(3))
        assert p["a"] is p["b"] and p["a"].tolist() == [2.0] * 4
        p["a"][0] = 7.0
        stored.append(p["a"])
    assert len(set(map(id, stored))) == 4 and compiled.experimental_get_tracing_count() > 0
