"""Functions of a module that differ only in constants become one, whose constants are arguments."""

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import autoconv
from autoconv.backends import llvm
from autoconv.backends.llvm.ir import merging
from autoconv.backends.llvm.ir import module as module_file
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Function, Signature

_DEFINITION = re.compile(r"^define [^@\n]*@(\w+)\([^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def add_loop(module, count, start=0, callee="", operation="add"):
    """Add a function that adds the same number `count` times, and return its name."""
    lines = [
        "entry:", "  br label %loop1", "loop1:", f"  %i1 = phi i64 [ {start}, %entry ], [ %v2, %loop1 ]",
        f"  %v1 = {operation} i64 %x, {count}", "  %v2 = add nsw i64 %i1, 1", f"  %v3 = icmp slt i64 %v2, {count}",
        *([f"  call void @{callee}(i64 %v1)"] if callee else []),
        "  br i1 %v3, label %loop1, label %done", "done:", "  ret i64 %v1",
    ]  # fmt: skip
    return module.add(Function(Signature("i64", ("i64 %x",)), lines), "routine")


@pytest.fixture
def module(monkeypatch):
    monkeypatch.setattr(merging, "_MIN_CHARACTERS", 0)
    module = ModuleText()
    module.has_loops = True
    return module


def definitions(module):
    """Return the body of each function by its name."""
    return {name: body for text in module.texts() for name, body in _DEFINITION.findall(text)}


def test_functions_of_other_constants_call_one_function(module):
    first, second = add_loop(module, 40), add_loop(module, 70)
    bodies = definitions(module)
    (merged,) = bodies.keys() - {first, second}
    assert f"call i64 @{merged}(i64 %x, i64 40)" in bodies[first]
    assert f"call i64 @{merged}(i64 %x, i64 70)" in bodies[second]
    assert "add i64 %x, %c0" in bodies[merged] and "icmp slt i64 %v2, %c0" in bodies[merged]


def test_constants_that_vary_apart_are_apart(module):
    constants = [(5, 40), (6, 70), (5, 50)]
    names = [add_loop(module, count, start=start) for start, count in constants]
    bodies = definitions(module)
    (merged,) = bodies.keys() - {*names}
    for name, (start, count) in zip(names, constants, strict=True):
        assert f"@{merged}(i64 %x, i64 {start}, i64 {count})" in bodies[name]


def test_a_linear_function_of_another_constant_is_computed(module):
    names = [add_loop(module, 3 * start - 7, start=start) for start in (5, 9, 20)]
    bodies = definitions(module)
    (merged,) = bodies.keys() - {*names}
    assert [re.search(r"i64 %x, (.*)\)", bodies[name])[1] for name in names] == ["i64 5", "i64 9", "i64 20"]
    assert "= mul i64 %c0, 3\n" in bodies[merged] and "%c1 = add i64 %c1.scaled, -7\n" in bodies[merged]
    assert "icmp slt i64 %v2, %c1" in bodies[merged]


def test_arguments_of_calls_are_constants(module):
    callee = module.add(Function(Signature("void", ("i64 %x",), name="f1"), ["  ret void"]), "")
    lines = [["entry:", f"  call void @{callee}(i64 {size})", "  ret i64 0"] for size in (8, 30)]
    names = [module.add(Function(Signature("i64", ("i64 %x",)), part), "routine") for part in lines]
    bodies = definitions(module)
    (merged,) = bodies.keys() - {callee, *names}
    assert f"call void @{callee}(i64 %c0)" in bodies[merged]


def test_called_functions_are_arguments(module):
    callees = [module.add(Function(Signature("void", ("i64 %x",), name=n), ["  ret void"]), "") for n in ("f1", "f2")]
    first, second = (add_loop(module, 40, callee=callee) for callee in callees)
    bodies = definitions(module)
    (merged,) = bodies.keys() - {first, second, *callees}
    assert f"@{merged}(i64 %x, ptr @f1)" in bodies[first] and f"@{merged}(i64 %x, ptr @f2)" in bodies[second]
    assert "call void %c0(i64 %v1)" in bodies[merged]


@pytest.fixture
def module_ahead(monkeypatch):
    """A module that begins to compile whatever it can, with the texts of which it has begun the compilation."""
    monkeypatch.setattr(merging, "_MIN_CHARACTERS", 0)
    monkeypatch.setattr(module_file, "_AHEAD_CHARACTERS", 0)
    texts = []
    module = ModuleText(lambda text, level: texts.append(text))
    module.has_loops = True
    return module, texts


def test_functions_of_later_portions_call_merged_ones_if_their_constants_fit(module_ahead):
    module, texts = module_ahead
    early = [add_loop(module, 3 * start - 7, start=start) for start in (5, 9)]
    module.compile_ahead()
    late = [add_loop(module, 3 * 20 - 7, start=20), add_loop(module, 100, start=20)]
    module.compile_ahead()  # nothing that can be merged is new
    (text,) = texts
    ((merged, _),) = _DEFINITION.findall(text)
    bodies = definitions(module)
    assert bodies.keys() == {merged, *early, *late}
    assert [f"call i64 @{merged}(i64 %x, i64 " in bodies[name] for name in (*early, *late)] == [True] * 3 + [False]
    assert f"@{merged}(i64 %x, i64 20)" in bodies[late[0]]
    assert "icmp slt i64 %v2, 100" in bodies[late[1]]
    assert text in module.texts() and sum(f"i64 @{merged}(" in other for other in module.texts()) > 1


def test_early_functions_can_be_called_from_other_texts(module_ahead):
    module, texts = module_ahead
    for count in (40, 70):
        add_loop(module, count)
    module.compile_ahead()
    assert "define i64 @merged" in texts[0] and "define internal i64 @merged" not in texts[0]


def test_functions_of_other_instructions_stay(module):
    names = {add_loop(module, 40), add_loop(module, 40, operation="mul")}
    assert definitions(module).keys() == names


def test_a_small_module_keeps_its_constants(module, monkeypatch):
    monkeypatch.undo()
    names = {add_loop(module, 40), add_loop(module, 70)}
    assert definitions(module).keys() == names


@pytest.mark.optimised
@pytest.mark.parametrize("ahead_characters", [5_000, 1_000_000])
def test_results_of_merged_layers_are_those_of_numpy(monkeypatch, ahead_characters):
    monkeypatch.setattr(merging, "_MIN_CHARACTERS", 0)
    monkeypatch.setattr(module_file, "_AHEAD_CHARACTERS", ahead_characters)
    begun_texts = []
    begin = llvm.begin_compilation
    monkeypatch.setattr(llvm, "begin_compilation", lambda *module: begun_texts.append(module[0]) or begin(*module))
    texts = []
    original = ModuleText.texts
    monkeypatch.setattr(ModuleText, "texts", lambda self: texts.append(original(self)) or texts[-1])
    sizes = (17, 40, 33, 24, 50)

    def layers(library, tables, weights):
        return [
            (library.tanh(table) * weight).sum(axis=1) - library.exp(-table).max(axis=0)[: len(table)]
            for table, weight in zip(tables, weights, strict=True)
        ]

    random = np.random.default_rng(3)
    tables = [random.normal(size=(size, size + 3)) for size in sizes]
    weights = [random.normal(size=size + 3) for size in sizes]
    results = autoconv.compile(lambda tables, weights: layers(np, tables, weights))(tables, weights)
    for result, expected in zip(results, layers(np, tables, weights), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert any("@merged" in text for text in texts[-1])
    assert (len(begun_texts) > 0) == (ahead_characters == 5_000) and set(begun_texts) <= texts[-1].keys()
