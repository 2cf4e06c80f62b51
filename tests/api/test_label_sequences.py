"""Sets, and decoders and distances of label sequences; the figures are TensorFlow's."""

import numpy as np
import pytest

import autoconv as ac


def parts(x):
    return [np.asarray(part).tolist() for part in (x.indices, x.values, x.dense_shape)]


LOGITS = np.array([[3, 1, 0], [2, 2.5, 0], [0, 1, 4], [1, 5, 0], [0, 0, 1]], np.float32)[:, None]


@pytest.mark.parametrize("staged", [False, True])
def test_decoders(staged):
    run = ac.function if staged else lambda f: f
    (labels,), scores = run(lambda: ac.nn.ctc_greedy_decoder(LOGITS, [5]))()
    assert parts(labels) == [[[0, 0], [0, 1], [0, 2]], [0, 1, 1], [1, 3]] and scores.numpy() == [[-15.5]]
    (labels,), _ = run(lambda: ac.nn.ctc_greedy_decoder(LOGITS, [5], False, 0))()
    assert parts(labels) == [[[0, 0], [0, 1], [0, 2], [0, 3]], [1, 2, 1, 2], [1, 4]]
    (first, second), scores = run(lambda: ac.nn.ctc_beam_search_decoder(LOGITS, [5], 10, 2))()
    assert first.values.numpy().tolist() == [0, 1, 1] and second.values.numpy().tolist() == [0, 1]
    np.testing.assert_allclose(scores, [[-1.020602, -1.2175198]], rtol=1e-6)


def test_decoders_of_wrong_lengths():
    with pytest.raises(ac.errors.InvalidArgumentError, match=r"sequence_length\(b\) <= 5"):
        ac.nn.ctc_greedy_decoder(LOGITS, [6])
    with pytest.raises(ac.errors.InvalidArgumentError, match="top_paths"):
        ac.nn.ctc_beam_search_decoder(LOGITS, [5], 1, 2)


def test_edit_distance():
    argument = ac.SparseTensor([[0, 0, 0], [1, 0, 0]], ["a", "b"], [2, 1, 1])
    truth = ac.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
    assert ac.edit_distance(argument, truth).numpy().tolist() == [[np.inf, 1.0], [0.5, 1.0]]
    with pytest.raises(TypeError, match="takes sparse tensors"):
        ac.edit_distance(argument, [1])


@pytest.mark.parametrize("staged", [False, True])
def test_sets(staged):
    run = ac.function if staged else lambda f: f
    a, b = [[1, 2, 3, 3], [4, 5, 6, 9]], [[3, 2, 7], [9, 9, 1]]
    sparse = ac.sparse.from_dense([[3, 8], [9, 0]])
    assert parts(run(lambda: ac.sets.intersection(a, b))()) == [[[0, 0], [0, 1], [1, 0]], [2, 3, 9], [2, 2]]
    assert parts(run(lambda: ac.sets.union(a, sparse))())[1:] == [[1, 2, 3, 8, 4, 5, 6, 9], [2, 4]]
    assert parts(run(lambda: ac.sets.difference(a, b))())[1:] == [[1, 4, 5, 6], [2, 3]]
    assert parts(run(lambda: ac.sets.difference(a, b, aminusb=False))())[1:] == [[7, 1], [2, 1]]
    assert run(lambda: ac.sets.size(sparse))().numpy().tolist() == [2, 1]
    with pytest.raises(ac.errors.InvalidArgumentError, match="Mismatched group shapes"):
        run(lambda: ac.sets.union(a, [[1]]))()
    with pytest.raises(TypeError, match="SparseTensor"):
        ac.sets.size([[1]])


def test_the_loss_of_sparse_labels_is_that_of_dense_ones_with_lengths() -> None:
    logits = np.random.RandomState(0).randn(6, 2, 4).astype(np.float32)
    labels = ac.sparse.from_dense([[1, 2, 2], [2, 1, 0]])
    loss = ac.nn.ctc_loss([[1, 2, 2], [2, 1, 0]], logits, [3, 2], [6, 5], blank_index=-1).numpy()
    for run in (ac.nn.ctc_loss, ac.function(ac.nn.ctc_loss)):
        assert np.allclose(run(labels, logits, None, [6, 5], blank_index=-1), loss, rtol=1e-6)
        with pytest.raises(ValueError, match="`blank_index` must be provided"):
            run(labels, logits, None, [6, 5])


def test_ctc_loss_needs_the_length_of_each_row() -> None:
    labels, logits = ac.constant([[1, 2], [1, 1]]), ac.zeros([4, 2, 3])
    with pytest.raises(ac.errors.InvalidArgumentError, match="label_length"):
        ac.nn.ctc_loss(labels, logits, ac.constant([2]), ac.constant([4, 4]), blank_index=0)
