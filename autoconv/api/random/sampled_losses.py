"""Losses over a random sample of many classes, and the samplers of classes.

The samples that a seed gives are not those of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.nn.layers import (
    embedding_lookup,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from autoconv.api.random.stateful import uniform
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.constants import fill, ones_like, zeros_like
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import log
from autoconv.api.tensors.reductions import reduce_any, reduce_sum
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, shape
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float32, int32, int64
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class CandidateSample(NamedTuple):
    """Sampled classes, and the expected counts of the true classes and of the sampled ones in such a sample."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def log_uniform_candidate_sampler(
    true_classes: TensorLike, num_true: IntLike, num_sampled: IntLike, unique: bool, range_max: IntLike,
    seed: int | None = None, name: str | None = None,
) -> CandidateSample:  # fmt: skip
    """Sample `num_sampled` classes c below `range_max` with probabilities log((c + 2) / (c + 1)) / log(range_max + 1).

    `true_classes` is int64 [batch, num_true]. With `unique`, no class is sampled twice.

    >>> sample = autoconv.random.log_uniform_candidate_sampler([[1]], 1, num_sampled=3, unique=True, range_max=10)
    >>> sample.sampled_candidates.shape
    TensorShape([3])
    """
    size = static_int(range_max, "range_max")
    class_ids = np.arange(size)
    probabilities = np.log((class_ids + 2.0) / (class_ids + 1.0)) / np.log(size + 1.0)
    return _sample(probabilities, true_classes, num_sampled, unique, seed)


def uniform_candidate_sampler(
    true_classes: TensorLike, num_true: IntLike, num_sampled: IntLike, unique: bool, range_max: IntLike,
    seed: int | None = None, name: str | None = None,
) -> CandidateSample:  # fmt: skip
    """Sample classes below `range_max`, each with the same probability; see `log_uniform_candidate_sampler`.

    >>> sample = autoconv.random.uniform_candidate_sampler([[1]], 1, num_sampled=2, unique=False, range_max=4)
    >>> sample.true_expected_count.numpy()
    array([[0.5]], dtype=float32)
    """
    size = static_int(range_max, "range_max")
    return _sample(np.full(size, 1.0 / size), true_classes, num_sampled, unique, seed)


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: IntLike, num_sampled: IntLike, unique: bool, range_max: IntLike,
    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,
    unigrams: Sequence[float] = (), seed: int | None = None, name: str | None = None,
) -> CandidateSample:  # fmt: skip
    """Sample classes by the weights `unigrams`, or by the last field, after a comma, of each line of `vocab_file`.

    Weights are raised to the power of `distortion`. The first `num_reserved_ids` classes are never
    sampled, and only classes c with c % num_shards == shard are.

    >>> sample = autoconv.random.fixed_unigram_candidate_sampler([[1]], 1, 2, False, 2, unigrams=[1.0, 3.0])
    >>> sample.true_expected_count.numpy()
    array([[1.5]], dtype=float32)
    """
    if bool(vocab_file) == bool(len(unigrams)):
        raise ValueError("Must provide exactly one of vocab_file and unigrams")
    frequencies = list(unigrams)
    if vocab_file:
        with open(vocab_file, encoding="utf-8") as file:
            frequencies = [float(line.rsplit(",", 1)[-1]) for line in file if line.strip()]
    weights = np.concatenate([np.zeros(num_reserved_ids), np.asarray(frequencies, np.float64) ** distortion])
    size = static_int(range_max, "range_max")
    if len(weights) != size:
        raise ValueError(f"range_max is {size}, but there are {len(weights)} weights")
    weights[np.arange(size) % num_shards != shard] = 0.0
    return _sample(weights / weights.sum(), true_classes, num_sampled, unique, seed)


def learned_unigram_candidate_sampler(
    true_classes: TensorLike, num_true: IntLike, num_sampled: IntLike, unique: bool, range_max: IntLike,
    seed: int | None = None, name: str | None = None,
) -> CandidateSample:  # fmt: skip
    """Sample classes below `range_max` with equal probabilities, which are not learned as in TensorFlow.

    >>> sample = autoconv.random.learned_unigram_candidate_sampler([[1]], 1, 2, unique=True, range_max=4)
    >>> sample.sampled_candidates.shape
    TensorShape([2])
    """
    return uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed, name)


def all_candidate_sampler(
    true_classes: TensorLike, num_true: IntLike, num_sampled: IntLike, unique: bool, seed: int | None = None,
    name: str | None = None,
) -> CandidateSample:  # fmt: skip
    """Take all classes below `num_sampled`, each once.

    `seed` has no effect.

    >>> autoconv.random.all_candidate_sampler([[1]], 1, 3, unique=True).sampled_candidates.numpy()
    array([0, 1, 2])
    """
    true_ids = convert_to_tensor(true_classes, int64)
    class_ids = convert_to_tensor(np.arange(static_int(num_sampled, "num_sampled")))
    return CandidateSample(class_ids, ones_like(true_ids, float32), ones_like(class_ids, float32))


def compute_accidental_hits(
    true_classes: TensorLike, sampled_candidates: TensorLike, num_true: IntLike, seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Find sampled classes that are true classes: rows, positions in the sample, and the lowest float32 for each.

    `seed` has no effect.

    >>> rows, positions, weights = autoconv.nn.compute_accidental_hits([[2], [7]], [5, 7, 2], num_true=1)
    >>> rows.numpy(), positions.numpy()
    (array([0, 1], dtype=int32), array([2, 1]))
    """
    true_ids, sampled_ids = convert_to_tensor(true_classes, int64), convert_to_tensor(sampled_candidates, int64)
    hit_coordinates = where(apply("equal", expand_dims(true_ids, -1), sampled_ids))
    rows, sample_positions = get_item(hit_coordinates, (slice(None), 0)), get_item(hit_coordinates, (slice(None), 2))
    weights = fill(shape(sample_positions), np.float32(np.finfo(np.float32).min))
    return cast(rows, int32), sample_positions, weights


def nce_loss(
    weights: Any, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: IntLike,
    num_classes: IntLike, num_true: IntLike = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:  # fmt: skip
    """The noise-contrastive loss for each row of `inputs` [batch, n]: logistic losses of true and sampled classes.

    `weights` is [num_classes, n], or a list of tensors to be concatenated to it, `biases` [num_classes], `labels` the
    true classes [batch, num_true]. `sampled_values` is the result of a sampler (by default a log-uniform one).

    >>> w, b = autoconv.ones([3, 2]), autoconv.zeros([3])
    >>> sample = autoconv.random.all_candidate_sampler([[1]], 1, 3, unique=True)
    >>> autoconv.nn.nce_loss(w, b, [[1]], [[1.0, 1.0]], 3, 3, sampled_values=sample).numpy().round(3)
    array([6.508], dtype=float32)
    """
    logits, sampled_labels = _sampled_logits(
        weights, biases, labels, inputs, _ClassCounts(num_sampled, num_classes, num_true), sampled_values,
        remove_accidental_hits,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(sampled_labels, logits), -1)


def sampled_softmax_loss(
    weights: Any, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: IntLike,
    num_classes: IntLike, num_true: IntLike = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
    seed: int | None = None, name: str = "sampled_softmax_loss",
) -> Tensor:  # fmt: skip
    """The softmax loss over true and sampled classes for each row of `inputs`; parameters as in `nce_loss`.

    >>> w, b = autoconv.ones([3, 2]), autoconv.zeros([3])
    >>> sample = autoconv.random.all_candidate_sampler([[1]], 1, 3, unique=True)
    >>> autoconv.nn.sampled_softmax_loss(w, b, [[1]], [[1.0, 1.0]], 3, 3, sampled_values=sample).numpy().round(3)
    array([1.099], dtype=float32)
    """
    logits, sampled_labels = _sampled_logits(
        weights, biases, labels, inputs, _ClassCounts(num_sampled, num_classes, num_true), sampled_values,
        remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(stop_gradient(sampled_labels), logits)


class _ClassCounts(NamedTuple):
    """The numbers of sampled classes, of all classes, and of true classes in each row."""

    num_sampled: IntLike
    num_classes: IntLike
    num_true: IntLike


def _sampled_logits(
    weights: Any, biases: TensorLike, labels: TensorLike, inputs: TensorLike, counts: _ClassCounts,
    sampled_values: Any, remove_hits: bool, seed: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return logits and labels, both [batch, num_true + num_sampled].

    With `remove_hits`, sampled classes that are true ones get the lowest float32 as logits.
    """
    num_sampled, num_classes, num_true = (static_int(count, "number of classes") for count in counts)
    weight_rows = concat(list(weights), 0) if isinstance(weights, (list, tuple)) else weights
    x: Any = convert_to_tensor(inputs)
    true_ids = reshape(cast(convert_to_tensor(labels), int64), [-1, num_true])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true_ids, num_true, num_sampled, unique=True, range_max=num_classes, seed=seed
        )
    sampled_ids, true_expected, sampled_expected = (
        stop_gradient(convert_to_tensor(tensor)) for tensor in sampled_values
    )
    sampled_ids = cast(sampled_ids, int64)
    true_rows: Any = embedding_lookup(weight_rows, true_ids)
    true_logits: Any = reduce_sum(expand_dims(x, 1) * true_rows, -1) + embedding_lookup(biases, true_ids)
    sampled_rows = embedding_lookup(weight_rows, sampled_ids)
    sampled_logits: Any = apply("matmul", x, sampled_rows, transpose_b=True) + embedding_lookup(biases, sampled_ids)
    if remove_hits:
        is_hit = reduce_any(apply("equal", expand_dims(true_ids, -1), sampled_ids), 1)
        lowest = float(np.finfo(np.float32).min)
        sampled_logits = sampled_logits + where(is_hit, convert_to_tensor(lowest, x.dtype), zeros_like(sampled_logits))
    true_logits = true_logits - log(cast(true_expected, x.dtype))
    sampled_logits = sampled_logits - log(cast(sampled_expected, x.dtype))
    sampled_labels = concat([ones_like(true_logits) / float(num_true), zeros_like(sampled_logits)], 1)
    return concat([true_logits, sampled_logits], 1), sampled_labels


def _sample(
    probabilities: np.ndarray, true_classes: TensorLike, num_sampled: IntLike, unique: bool, seed: int | None
) -> CandidateSample:
    """Return a sample of classes, drawn with `probabilities`, one for each class, when the graph runs."""
    count = static_int(num_sampled, "num_sampled")
    if unique and count > np.count_nonzero(probabilities):
        raise ValueError(f"{count} different classes cannot be sampled from {len(probabilities)}")
    generator_seed = uniform([2], maxval=2**31 - 1, dtype=int32, seed=seed)
    true_ids, probability_tensor = convert_to_tensor(true_classes, int64), convert_to_tensor(probabilities)
    sampled_ids, true_count, sampled_count = numpy_function(
        SampleClasses(count, bool(unique)), [generator_seed, true_ids, probability_tensor], [int64, float32, float32]
    )
    return CandidateSample(
        reshape(sampled_ids, [count]), reshape(true_count, shape(true_ids)), reshape(sampled_count, [count])
    )


@attribute_class
@dataclass(frozen=True)
class SampleClasses:
    """A function that draws `count` classes by their probabilities; if `unique`, it skips classes drawn before.

    It returns the classes, and the expected counts of the true and of the sampled classes.
    """

    graphdef_name: ClassVar = "CandidateSampler"
    count: int
    unique: bool

    def __call__(self, generator_seed: Any, true_ids: Any, probabilities: Any) -> tuple[Any, Any, Any]:
        generator = np.random.default_rng(np.asarray(generator_seed).astype(np.uint64))
        probability_sums = np.cumsum(probabilities)
        draw_count = 0
        classes: list[int] = []
        distinct_classes: set[int] = set()
        while len(classes) < self.count:
            index = int(np.searchsorted(probability_sums, generator.random() * probability_sums[-1], side="right"))
            class_id = min(index, len(probabilities) - 1)
            draw_count += 1
            if not self.unique or class_id not in distinct_classes:
                classes.append(class_id)
                distinct_classes.add(class_id)

        def expected_count(probability: Any) -> Any:
            is_drawn = -np.expm1(draw_count * np.log1p(-probability))  # the probability of at least one such draw
            return np.asarray(is_drawn if self.unique else probability * self.count, np.float32)

        sampled_ids = np.array(classes, np.int64)
        return sampled_ids, expected_count(probabilities[true_ids]), expected_count(probabilities[sampled_ids])
