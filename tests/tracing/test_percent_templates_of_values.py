"""Under `compile`, `template % values` with a template from a parameter, global, attribute or item."""

import linecache
import operator

import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


class Holder:
    def __init__(self, form):
        self.form = form


TEMPLATES = ["a", "%%", "%d", "%r", "%s %s", "%(k)s", "%*d", "%5.2f", "%", b"a", b"%d", b"%a", 17]
VALUES = [3, 2.5, True, 1 + 2j, (3, 4), [1], {"k": 3}]
WAYS = {
    "parameter": "return t % n",
    "global": "return FORM % n",
    "attribute": "return o.form % n",
    "item": "return [t][0] % n",
    "repeated": "return (t * 1) % n",
    "function": "return operator.mod(t, n)",
    "in place": "t %= n\n    return t",
    "attribute in place": "o = Holder(t)\n    o.form %= n\n    return o.form",
    "by name": "return type(t).__mod__(t, n)",
    "lambda": "return (lambda s, v: s % v)(t, n)",
    "beside a branch": "if n:\n        return t % n\n    return t",
}


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("template", TEMPLATES, ids=repr)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.search
def test_templates_are_filled_as_python_does(way, template):
    namespace = {"FORM": template, "operator": operator, "Holder": Holder}
    text, name = f"def program(t, n, o):\n    {WAYS[way]}\n", f"<template {way} {template!r}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), namespace)
    plain = namespace["program"]
    compiled = autoconv.compile(plain)
    for value in VALUES:
        for _ in range(2):
            expected = outcome(plain, template, value, Holder(template))
            assert outcome(compiled, template, value, Holder(template)) == expected, (way, template, value)
