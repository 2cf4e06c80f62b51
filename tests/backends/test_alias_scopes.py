"""Alias scopes: loops over elements of several arrays, with and without common elements."""

import numpy as np

import autoconv as ac
from autoconv.backends.llvm.codegen.alias_scopes import AliasScopes
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.ops.analysis.alias import Overlaps


def spread(source, target, sums, n):
    for i in range(1, n):
        for j in range(1, n):
            target[j] = source[i] + target[j - 1]
            sums[i] += target[j] * 0.25
            source[j] -= 0.25
    return sums[n - 1]


def test_arrays_with_and_without_common_elements():
    compiled = ac.compile(spread)
    memory = np.linspace(0.0, 1.0, 30)
    parts = [
        (memory[:10], memory[10:20], memory[20:]),
        (memory[:10], memory[5:15], memory[20:]),
        (memory[:10], memory[:10], memory[:10]),
        (memory[10:20], memory[:10], memory[1:11]),
        (memory[::3], memory[1::3], memory[2::3]),
    ]
    for arguments in parts:
        for n in (4, 10):
            before = memory.copy()
            found = compiled(*arguments, n)
            after = memory.copy()
            memory[:] = before
            assert found == spread(*arguments, n)
            np.testing.assert_array_equal(after, memory)


def test_arrays_that_are_swapped():
    def sweeps(x, n):
        new, old = np.zeros_like(x), x
        result = np.ones_like(x)
        for k in range(n):
            for i in range(1, len(x)):
                new[i] = old[i - 1] + new[i - 1] * result[i]
                old[i] += 0.5
                result[i] = new[i - 1] - old[i]
            if k % 3 == 1:
                result = new
            new, old = old, new
        return new, old, result

    compiled = ac.compile(sweeps)
    for n in (1, 2, 3, 5, 8):
        compiled_argument, plain_argument = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 9)
        for found, expected in zip(compiled(compiled_argument, n), sweeps(plain_argument, n), strict=True):
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(compiled_argument, plain_argument)


def test_views_are_in_the_scope_of_their_base_alone():
    def f(x, y):
        part = x[2:]
        for i in range(3):
            part[i] = y[i]
        return x

    compiled = ac.compile(f)
    compiled(np.zeros(6), np.ones(6))
    graph = compiled.concrete_functions[0].optimised
    x, y = graph.parameters
    scopes = AliasScopes(ModuleText(), Overlaps(graph))
    assert scopes.metadata_of(x) == ", !alias.scope !{!1000000}, !noalias !{!1000001}"
    assert scopes.metadata_of(y) == ", !alias.scope !{!1000001}, !noalias !{!1000000}"
    (view,) = [node.results[0] for node in graph.walk() if node.op.name == "array_view" and node.inputs[0] is x]
    assert scopes.metadata_of(view) == scopes.metadata_of(x)
    unknown = AliasScopes(ModuleText(), Overlaps(graph, arguments_are_disjoint=False))
    assert not unknown.metadata_of(x) and not unknown.metadata_of(view)
