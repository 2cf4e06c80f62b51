"""Graphs of many layers or sizes: what is written for them grows as they do, and no depth is an error."""

import sys

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import autoconv
from autoconv.backends import llvm
from autoconv.backends.llvm.jit import engine

LEFT_FRAMES = 300  # of Python's recursion limit: more than tracing takes, fewer than the layers


def training_step(layers):
    """Return a function of a step of gradient descent through so many layers, and its variables."""
    weights = [autoconv.Variable(np.full((8, 8), 0.01, np.float32)) for _ in range(layers)]

    @autoconv.function
    def step(x):
        with autoconv.GradientTape() as tape:
            h = x
            for w in weights:
                h = autoconv.nn.relu(h @ w) + h
            loss = autoconv.reduce_mean(h)
        for w, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(gradient)
        return loss

    return step, weights


def sums_of_parts(count):
    """Return a function with so many sizes that it computes: of the parts above each number."""

    @autoconv.function
    def sums(x):
        return [autoconv.reduce_sum(autoconv.boolean_mask(x, x > number) * 2.0) for number in range(count)]

    return sums


def written_characters(function, monkeypatch):
    """Return the length of all texts of native code that a call writes."""
    lengths = []

    def record_and_prepare(texts):
        lengths.extend(map(len, texts))
        engine.prepare_object_files(texts)

    monkeypatch.setattr(llvm, "prepare_object_files", record_and_prepare)
    function(np.ones((32, 8), np.float32))
    return sum(lengths)


def test_the_text_of_a_graph_does_not_grow_as_the_square_of_its_layers(monkeypatch):
    short, long = (written_characters(training_step(layers)[0], monkeypatch) for layers in (100, 250))
    assert short > 0 and long < 2.5**2 * short


def test_the_text_of_a_graph_does_not_grow_as_the_square_of_its_sizes(monkeypatch):
    few, many = (written_characters(sums_of_parts(count), monkeypatch) for count in (20, 80))
    assert few > 0 and many < 5 * few


def test_the_depth_of_a_graph_is_no_depth_of_recursion():
    step, weights = training_step(LEFT_FRAMES + 60)
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + LEFT_FRAMES)
    try:
        loss = step(np.ones((32, 8), np.float32))
    finally:
        sys.setrecursionlimit(limit)
    assert float(loss) == pytest.approx(1.08 ** len(weights), rel=1e-4)
