"""Shapes: a class of their own, which NumPy and clients of the array API accept in place of tuples."""

import copy
import math
import pickle

import numpy as np
import pytest

import autoconv as ac

SHAPE = ac.constant(np.zeros((2, 3))).shape


def test_shapes_as_arguments_of_numpy():
    assert list(np.ndindex(*SHAPE)) == list(np.ndindex((2, 3)))
    assert np.zeros(SHAPE).reshape(SHAPE[::-1]).shape == (3, 2)
    assert np.broadcast_shapes(SHAPE, (1,)) == np.broadcast_to(1.0, SHAPE).shape == SHAPE
    assert np.random.rand(*SHAPE).shape == SHAPE
    assert tuple(SHAPE) == (2, 3) and math.prod(SHAPE) == 6 and max(SHAPE) == 3
    assert ac.xp.zeros(SHAPE).shape == (2, 3) and ac.xp.reshape(ac.xp.zeros(6), SHAPE).shape == SHAPE


def test_shapes_compare_and_hash_as_tuples():
    shape = (1,)
    assert SHAPE == (2, 3) == SHAPE and SHAPE == [2, 3] == SHAPE and SHAPE != "ab"
    assert (SHAPE != (2, 3)) is False and SHAPE != (3, 2) and ac.TensorShape([None]) == [None]
    assert hash(SHAPE) == hash((2, 3)) and {(2, 3): "found"}[SHAPE] == "found"
    assert SHAPE[-1] == 3 and 3 in SHAPE and list(reversed(SHAPE)) == [3, 2]
    assert SHAPE.__add__((1,)) == (2, 3, 1) and shape + SHAPE == (1, 2, 3) and SHAPE[1:] == (3,)
    assert isinstance(shape + SHAPE, ac.TensorShape) and isinstance(SHAPE[:1], ac.TensorShape)


def test_shapes_in_texts():
    template, pair_template = "%s", "%s of %s"
    assert template % SHAPE == f"{SHAPE}" == "(2, 3)" and pair_template % (SHAPE[:1], SHAPE) == "(2,) of (2, 3)"
    assert f"{ac.TensorShape(None)} {ac.TensorShape([None])!r}" == "<unknown> TensorShape([None])"


def test_shapes_are_leaves_of_structures():
    assert not isinstance(SHAPE, tuple) and ac.nest.flatten([SHAPE, 1]) == [SHAPE, 1]
    for copied in (copy.copy(SHAPE), copy.deepcopy(SHAPE), pickle.loads(pickle.dumps(SHAPE))):
        assert copied == SHAPE and type(copied) is ac.TensorShape


def test_unknown_shapes_have_no_sizes():
    unknown, partly = ac.TensorShape(None), ac.TensorShape([None, 3])
    assert not unknown and unknown != () and unknown.rank is None
    for ask in (len, list, tuple, iter):
        with pytest.raises(ValueError, match="unknown"):
            ask(unknown)
    assert tuple(partly) == (None, 3) and partly == (None, 3) and partly.as_list() == [None, 3]
    assert unknown[2] is None and unknown[1:3] == [None, None] and unknown[1:].rank is None
    with pytest.raises(ValueError, match="partially known TensorShape \\(None, 3\\) to a Tensor"):
        ac.convert_to_tensor(partly)
    assert copy.deepcopy(unknown).rank is None and pickle.loads(pickle.dumps(partly)) == partly


def test_compatible_shapes():
    partly = ac.TensorShape([None, 3])
    assert partly.merge_with([2, None]) == SHAPE and ac.TensorShape(None).merge_with(SHAPE) == SHAPE
    with pytest.raises(ValueError, match=r"Shapes \(2, 3\) and \(3, 3\) are not compatible"):
        SHAPE.merge_with([3, 3])
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        ac.TensorShape([2, -1])
    assert SHAPE.is_subtype_of(partly) and not partly.is_subtype_of(SHAPE) and not SHAPE.is_subtype_of([None, 3])
    assert SHAPE.most_specific_common_supertype([ac.TensorShape([4, 3])]) == partly
    assert SHAPE.most_specific_common_supertype([ac.TensorShape([4])]).rank is None


def test_shapes_as_arguments_of_functions():
    @ac.function
    def zeros(shape):
        return ac.zeros(shape)

    assert zeros(SHAPE).shape == SHAPE
    assert ac.function(lambda x: x.shape[0] + ac.ones(x.shape))(ac.ones((2, 3))).shape == SHAPE
