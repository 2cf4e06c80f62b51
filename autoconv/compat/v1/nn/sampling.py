"""Losses over many classes, which are estimated with a random sample of the classes."""

from __future__ import annotations

import math as python_math
from typing import Any, NamedTuple

import numpy as np

from autoconv import math, nn
from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.matrices.linalg import matmul
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.constants import ones_like, zeros_like
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import concat, reshape, transpose
from autoconv.graph.dtypes import float32, int64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor


class Candidates(NamedTuple):
    """Sampled classes, and the expected counts of the true and of the sampled classes in such a sample.

    >>> autoconv.compat.v1.nn.sampling.Candidates(1, 2, 3).sampled_candidates
    1
    """

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def log_uniform_candidate_sampler(
    true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int | None = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw `num_sampled` classes k below `range_max` with probabilities log((k + 2) / (k + 1)) / log(range_max + 1).

    With `unique`, no class is drawn twice.

    >>> sample = autoconv.compat.v1.nn.log_uniform_candidate_sampler([[0]], 1, 3, unique=True, range_max=3)
    >>> sorted(sample.sampled_candidates.numpy().tolist())
    [0, 1, 2]
    """
    if unique and num_sampled > range_max:
        raise ValueError(f"{num_sampled} different classes cannot be drawn of {range_max}")
    generator = np.random.default_rng(seed)

    def draw_sample(true_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        class_ids: list[int] = []
        drawn_ids: set[int] = set()
        draw_count = 0
        while len(class_ids) < num_sampled:
            draw_count += 1
            class_id = int(np.exp(generator.random() * np.log(range_max + 1))) - 1
            class_id = min(max(class_id, 0), range_max - 1)
            if not (unique and class_id in drawn_ids):
                class_ids.append(class_id)
                drawn_ids.add(class_id)
        sampled_ids = np.array(class_ids, np.int64)

        def expected_counts(classes: np.ndarray) -> np.ndarray:
            probabilities = (np.log(classes + 2.0) - np.log(classes + 1.0)) / python_math.log(range_max + 1)
            counts = -np.expm1(draw_count * np.log1p(-probabilities)) if unique else probabilities * num_sampled
            return counts.astype(np.float32)

        return sampled_ids, expected_counts(np.asarray(true_ids)), expected_counts(sampled_ids)

    true_ids = cast(convert_to_tensor(true_classes), int64)
    specs = [
        TensorSpec((num_sampled,), int64), TensorSpec(true_ids.shape, float32), TensorSpec((num_sampled,), float32),
    ]  # fmt: skip
    results = numpy_function(draw_sample, [true_ids], specs, name=name or "LogUniformSampler")
    return Candidates(*map(stop_gradient, results))


def nce_loss(
    weights: Any, biases: Any, labels: TensorLike, inputs: TensorLike, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
    partition_strategy: str = "mod", name: str = "nce_loss",
) -> Any:  # fmt: skip
    """The noise-contrastive loss of each row of `inputs` (Gutmann and Hyvärinen, 2010); parameters as in `nn.nce_loss`.

    >>> autoconv.compat.v1.nn.nce_loss(np.zeros((5, 2), "f"), np.zeros(5, "f"), [[1]], np.ones((1, 2), "f"), 2, 5).shape
    TensorShape([1])
    """
    logits, truth = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits
    )
    return math.reduce_sum(nn.sigmoid_cross_entropy_with_logits(truth, logits), axis=1)


def sampled_softmax_loss(
    weights: Any, biases: Any, labels: TensorLike, inputs: TensorLike, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
    partition_strategy: str = "mod", name: str = "sampled_softmax_loss", seed: int | None = None,
) -> Any:  # fmt: skip
    """The softmax loss over true and sampled classes of each row of `inputs` (Jean et al., 2014).

    >>> weights, biases, x = np.zeros((5, 2), "f"), np.zeros(5, "f"), np.ones((1, 2), "f")
    >>> autoconv.compat.v1.nn.sampled_softmax_loss(weights, biases, [[1]], x, 2, 5).shape
    TensorShape([1])
    """
    logits, truth = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits
    )
    return nn.softmax_cross_entropy_with_logits(stop_gradient(truth), logits)


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int,
    sampled_values: Any, remove_accidental_hits: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the logits of true and sampled classes, less the logarithms of their expected counts, and their labels."""
    true_classes = reshape(cast(convert_to_tensor(labels), int64), [-1, num_true])
    candidates = sampled_values or log_uniform_candidate_sampler(
        true_classes, num_true, num_sampled, unique=True, range_max=num_classes
    )
    sampled_classes, true_counts, sampled_counts = candidates
    weight_rows, bias_vector, rows = convert_to_tensor(weights), convert_to_tensor(biases), convert_to_tensor(inputs)
    true_weights = gather(weight_rows, true_classes)
    true_products = math.reduce_sum(rows[:, None, :] * true_weights, axis=2)
    true_logits = true_products + gather(bias_vector, true_classes) - math.log(true_counts)
    sampled_products = matmul(rows, transpose(gather(weight_rows, sampled_classes)))
    sampled_logits = sampled_products + gather(bias_vector, sampled_classes) - math.log(sampled_counts)
    if remove_accidental_hits:
        is_true_class = math.reduce_any(math.equal(true_classes[:, :, None], sampled_classes[None, None, :]), axis=1)
        sampled_logits = where(is_true_class, sampled_logits + cast(-1e37, sampled_logits.dtype), sampled_logits)
    truth = concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)
    return concat([true_logits, sampled_logits], 1), truth
