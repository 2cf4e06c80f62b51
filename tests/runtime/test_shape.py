"""Shapes are tuples, which NumPy and clients of the array API accept."""

import collections.abc
import copy
import math
import pickle

import numpy as np
import pytest

import autoconv as ac

SHAPE = ac.constant(np.zeros((2, 3))).shape


def test_shapes_as_arguments_of_numpy():
    assert isinstance(SHAPE, tuple) and isinstance(SHAPE, collections.abc.Sequence)
    assert list(np.ndindex(SHAPE)) == list(np.ndindex((2, 3)))
    assert np.zeros(SHAPE).reshape(SHAPE[::-1]).shape == (3, 2)
    assert np.broadcast_shapes(SHAPE, (1,)) == np.broadcast_to(1.0, SHAPE).shape == SHAPE
    assert np.random.rand(*SHAPE).shape == SHAPE
    assert tuple(SHAPE) == (2, 3) and math.prod(SHAPE) == 6 and max(SHAPE) == 3
    assert ac.xp.zeros(SHAPE).shape == (2, 3) and ac.xp.reshape(ac.xp.zeros(6), SHAPE).shape == SHAPE


def test_shapes_compare_and_hash_as_tuples():
    shape = (1,)
    assert SHAPE == (2, 3) and tuple.__eq__((2, 3), SHAPE) and SHAPE == [2, 3]
    assert (SHAPE != (2, 3)) is False and SHAPE != (3, 2) and SHAPE < (2, 4)
    assert hash(SHAPE) == hash((2, 3)) and {(2, 3): "found"}[SHAPE] == "found"
    assert SHAPE.index(3) == 1 and SHAPE.count(2) == 1 and 3 in SHAPE
    assert SHAPE.__add__((1,)) == (2, 3, 1) and shape + SHAPE == (1, 2, 3) and SHAPE[1:] == (3,)
    assert isinstance(shape + SHAPE, ac.TensorShape) and isinstance(SHAPE[:1], ac.TensorShape)


def test_shapes_are_leaves_of_structures():
    assert ac.nest.flatten([SHAPE, 1]) == [SHAPE, 1]
    for copied in (copy.copy(SHAPE), copy.deepcopy(SHAPE), pickle.loads(pickle.dumps(SHAPE))):
        assert copied == SHAPE and type(copied) is ac.TensorShape


def test_unknown_shapes_have_no_sizes():
    unknown, partly = ac.TensorShape(None), ac.TensorShape([None, 3])
    assert not unknown and unknown != () and unknown.rank is None
    for ask in (len, list, tuple, iter):
        with pytest.raises(ValueError, match="unknown"):
            ask(unknown)
    assert tuple(partly) == (None, 3) and partly == (None, 3) and partly.as_list() == [None, 3]
    assert copy.deepcopy(unknown).rank is None and pickle.loads(pickle.dumps(partly)) == partly


def test_shapes_as_arguments_of_functions():
    @ac.function
    def zeros(shape):
        return ac.zeros(shape)

    assert zeros(SHAPE).shape == SHAPE
    assert ac.function(lambda x: x.shape[0] + ac.ones(x.shape))(ac.ones((2, 3))).shape == SHAPE
