"""Non-maximum suppression: choose boxes by their scores, and drop those that overlap a chosen one."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.arguments import static_int
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, float16, float32, int32
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

Array = Any  # an array or a scalar of NumPy
_NO_DECAY = 0.0  # the `sigma` with which overlapping boxes are removed and scores stay unchanged


def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The indices of at most `max_output_size` boxes, by descending scores, without pairs that overlap too much.

    A box is two opposite corners, [y1, x1, y2, x2]. Two overlap too much if the area of their intersection is more
    than `iou_threshold` times that of their union. Boxes whose score is not above `score_threshold` are left out.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> autoconv.image.non_max_suppression(boxes, [0.7, 0.9, 0.8], max_output_size=3).numpy()
    array([1, 2], dtype=int32)
    """
    indices, _ = _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold, _NO_DECAY)
    return indices


def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), soft_nms_sigma: TensorLike = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`non_max_suppression` and the scores of the boxes.

    With a `soft_nms_sigma` above 0, a box that overlaps one with a higher score stays. Its score is multiplied by
    exp(-overlap² / (2 sigma)), where the overlap is the area of their intersection over that of their union.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> autoconv.image.non_max_suppression_with_scores(boxes, [0.7, 0.9], 2, soft_nms_sigma=0.5)[1].numpy().round(3)
    array([0.9  , 0.358], dtype=float32)
    """
    indices, scores_of_boxes = _suppress(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )
    return indices, scores_of_boxes


def _suppress(boxes: TensorLike, scores: TensorLike, *limits: Any) -> list[Tensor]:
    """Return the indices and scores of the chosen boxes; `limits` are the further inputs of `Suppression`."""
    check_dtype("non_max_suppression", frozenset({float16, float32}), boxes, scores)
    corners, score_tensor = convert_to_tensor(boxes), convert_to_tensor(scores)
    specs = [TensorSpec((None,), int32), TensorSpec((None,), score_tensor.dtype)]
    return _call_on_host(Suppression(score_tensor.dtype), [corners, score_tensor, *limits], specs)


def non_max_suppression_overlaps(
    overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """`non_max_suppression` with the overlap of each pair of boxes given by the matrix `overlaps`.

    >>> overlaps = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> autoconv.image.non_max_suppression_overlaps(overlaps, [0.7, 0.9, 0.8], 3).numpy()
    array([1, 2], dtype=int32)
    """
    inputs = [convert_to_tensor(overlaps), convert_to_tensor(scores), max_output_size, overlap_threshold]
    return _call_on_host(OverlapSuppression(), [*inputs, score_threshold], [TensorSpec((None,), int32)])[0]


def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), pad_to_max_output_size: bool = False, name: str | None = None,
    sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`non_max_suppression` for each of a batch of boxes [..., n, 4] and scores [..., n]: indices, and their counts.

    With `pad_to_max_output_size`, which a batch needs, the indices are padded with zeros. Boxes that overlap by
    `iou_threshold` exclude each other. Each box must have its two corners in the same order as the first box.
    `sorted_input` and `tile_size` have no effect.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> chosen = autoconv.image.non_max_suppression_padded(boxes, [0.7, 0.9, 0.8], 3, pad_to_max_output_size=True)
    >>> chosen[0].numpy(), chosen[1].numpy()
    (array([1, 2, 0], dtype=int32), np.int32(2))
    """
    corners, score_tensor = convert_to_tensor(boxes), convert_to_tensor(scores)
    if not pad_to_max_output_size and corners.shape.rank not in (None, 2):
        raise ValueError(f"a batch of boxes needs pad_to_max_output_size=True, found boxes of shape {corners.shape}")
    batch_shape = None if score_tensor.shape.rank is None else score_tensor.shape.as_list()[:-1]
    static_limit = static_value(max_output_size)
    static_count = None if static_limit is None or not pad_to_max_output_size else int(static_limit)
    shape = None if batch_shape is None else (*batch_shape, static_count)
    specs = [TensorSpec(shape, int32), TensorSpec(batch_shape, int32)]
    function = PaddedSuppression(bool(pad_to_max_output_size), bool(canonicalized_coordinates))
    inputs = [corners, score_tensor, max_output_size, iou_threshold, score_threshold]
    indices, counts = _call_on_host(function, inputs, specs)
    return indices, counts


class CombinedNonMaxSuppression(NamedTuple):
    """The chosen boxes of a batch of images, with their scores and classes, and the number of boxes of each image."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def combined_non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size_per_class: TensorLike, max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5, score_threshold: TensorLike = float("-inf"), pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> CombinedNonMaxSuppression:  # fmt: skip
    """The boxes with the highest scores for each class of each image: boxes, scores, classes, and the number of boxes.

    `boxes` is [batch, n, q, 4], where q is 1 or the number of classes, and `scores` [batch, n, classes]. The results
    are filled up by zeros to `max_total_size` boxes an image, with `pad_per_class` to at most
    `max_output_size_per_class` times the number of classes. `clip_boxes` limits coordinates to 0 to 1.

    >>> boxes, scores = [[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.1, 1.0, 1.1]]]], [[[0.7], [0.9]]]
    >>> chosen = autoconv.image.combined_non_max_suppression(boxes, scores, 2, 2)
    >>> chosen[1].numpy(), chosen[3].numpy()
    (array([[0.9, 0. ]], dtype=float32), array([1], dtype=int32))
    """
    corners, score_tensor = convert_to_tensor(boxes, float32), convert_to_tensor(scores, float32)
    max_total = static_int(max_total_size, "max_total_size")
    batch, class_count = (score_tensor.shape[0], score_tensor.shape[2]) if score_tensor.shape.rank == 3 else (
        None, None
    )
    static_limit = static_value(max_output_size_per_class)
    size: int | None = max_total
    if pad_per_class:
        is_size_unknown = class_count is None or static_limit is None
        size = None if is_size_unknown else min(max_total, int(static_limit) * class_count)  # type: ignore[operator]
    shapes = [(batch, size, 4), (batch, size), (batch, size)]
    specs = [*(TensorSpec(shape, float32) for shape in shapes), TensorSpec((batch,), int32)]
    function = CombinedSuppression(max_total, bool(pad_per_class), bool(clip_boxes))
    inputs = [corners, score_tensor, max_output_size_per_class, iou_threshold, score_threshold]
    chosen_boxes, chosen_scores, classes, counts = _call_on_host(function, inputs, specs)
    return CombinedNonMaxSuppression(chosen_boxes, chosen_scores, classes, counts)


def _call_on_host(function: Any, inputs: list[Any], specs: list[TensorSpec]) -> list[Tensor]:
    """Return the results of a function of NumPy's arrays, which is called when the graph runs."""
    return list(numpy_function(function, [convert_to_tensor(x) for x in inputs], specs, name=type(function).__name__))


@attribute_class
@dataclass(frozen=True)
class Suppression:
    """A function that chooses boxes by descending scores, and returns their indices and scores.

    A chosen box removes those that overlap it, or lowers their scores.
    """

    graphdef_name: ClassVar = "NonMaxSuppressionV5"
    dtype: DType

    def __call__(
        self, boxes: Array, scores: Array, max_boxes: Array, overlap_limit: Array, score_limit: Array, sigma: Array
    ) -> Any:
        _check_shapes(boxes, scores)
        corners = _order_corners(boxes)
        overlaps_with = lambda index: _overlap(corners[index], corners)
        return _select_greedily(
            scores, int(max_boxes), float(overlap_limit), float(score_limit), float(sigma), overlaps_with
        )


@attribute_class
@dataclass(frozen=True)
class OverlapSuppression:
    """A function like `Suppression` that takes the overlaps of boxes as a matrix, and returns indices only."""

    graphdef_name: ClassVar = "NonMaxSuppressionWithOverlaps"

    def __call__(
        self, overlaps: Array, scores: Array, max_boxes: Array, overlap_limit: Array, score_limit: Array
    ) -> Any:
        indices, _ = _select_greedily(
            scores, int(max_boxes), float(overlap_limit), float(score_limit), _NO_DECAY,
            lambda index: overlaps[:, index],
        )
        return indices


@attribute_class
@dataclass(frozen=True)
class PaddedSuppression:
    """A function that chooses boxes for each element of a batch, and returns their indices and their counts."""

    graphdef_name: ClassVar = "NonMaxSuppressionV5"
    is_padded: bool
    has_ordered_corners: bool

    def __call__(self, boxes: Array, scores: Array, max_boxes: Array, overlap_limit: Array, score_limit: Array) -> Any:
        batch = scores.shape[:-1]
        flat_boxes, flat_scores = boxes.reshape(-1, *boxes.shape[-2:]), scores.reshape(-1, scores.shape[-1])
        indices = np.zeros((len(flat_scores), int(max_boxes)), np.int32)
        counts = np.zeros(len(flat_scores), np.int32)
        exclusive_limit = np.nextafter(float(overlap_limit), -math.inf)  # at the limit, boxes exclude each other
        for row, (corners, box_scores) in enumerate(zip(flat_boxes, flat_scores, strict=True)):
            if not self.has_ordered_corners and len(flat_boxes[0]):
                corners = _exchange_corners(corners, flat_boxes[0][0])
            chosen_indices, _ = _select_greedily(
                box_scores, int(max_boxes), exclusive_limit, float(score_limit), _NO_DECAY,
                lambda index, boxes=corners: _overlap(boxes[index], boxes),
            )
            indices[row, : len(chosen_indices)], counts[row] = chosen_indices, len(chosen_indices)
        if not self.is_padded:
            return indices[0, : counts[0]], counts[0]
        return indices.reshape(*batch, int(max_boxes)), counts.reshape(batch)


@attribute_class
@dataclass(frozen=True)
class CombinedSuppression:
    """A function that chooses boxes for each class of each image, then the best of all classes.

    It returns the boxes, scores and classes, and the number of boxes of each image.
    """

    graphdef_name: ClassVar = "CombinedNonMaxSuppression"
    max_total: int
    pad_per_class: bool
    clips_boxes: bool

    def __call__(self, boxes: Array, scores: Array, max_boxes: Array, overlap_limit: Array, score_limit: Array) -> Any:
        batch, _, class_count = scores.shape
        size = min(self.max_total, int(max_boxes) * class_count) if self.pad_per_class else self.max_total
        chosen_boxes = np.zeros((batch, size, 4), np.float32)
        chosen_scores, classes = np.zeros((2, batch, size), np.float32)
        counts = np.zeros(batch, np.int32)
        for image in range(batch):
            candidates = []
            for class_index in range(class_count):
                class_boxes = boxes[image, :, class_index if boxes.shape[2] > 1 else 0]
                ordered_boxes = _order_corners(class_boxes)
                overlaps_with = lambda index, boxes=ordered_boxes: _overlap(boxes[index], boxes)
                limits = int(max_boxes), float(overlap_limit), float(score_limit)
                picks = _select_greedily(scores[image, :, class_index], *limits, _NO_DECAY, overlaps_with)
                candidates += [(score, class_index, class_boxes[index]) for index, score in zip(*picks, strict=True)]
            candidates = sorted(candidates, key=lambda candidate: -candidate[0])[:size]  # by descending scores
            counts[image] = len(candidates)
            for rank, (score, class_index, box) in enumerate(candidates):
                chosen_boxes[image, rank] = np.clip(box, 0.0, 1.0) if self.clips_boxes else box
                chosen_scores[image, rank], classes[image, rank] = score, class_index
        return chosen_boxes, chosen_scores, classes, counts


def _select_greedily(
    scores: Array, max_boxes: int, overlap_limit: float, score_limit: float, sigma: float, overlaps_with: Any
) -> Any:
    """Return the chosen indices and their scores; `overlaps_with(index)` returns the overlaps of a box with all.

    With a `sigma` above 0, overlapping boxes get lower scores; else those over `overlap_limit` are removed. A limit
    may be below 0.
    """
    if not np.float32(overlap_limit) <= 1.0:  # also for nan
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], found {overlap_limit}")
    current_scores = np.array(scores)
    is_candidate = current_scores > score_limit
    indices: list[int] = []
    chosen_scores: list[Any] = []
    while len(indices) < max_boxes and is_candidate.any():
        best_index = int(np.argmax(np.where(is_candidate, current_scores, -np.inf)))
        indices.append(best_index)
        chosen_scores.append(current_scores[best_index])
        is_candidate[best_index] = False
        overlaps = overlaps_with(best_index)
        if sigma > 0:
            current_scores = (current_scores * np.exp(-0.5 / sigma * overlaps * overlaps)).astype(current_scores.dtype)
            is_candidate &= current_scores > score_limit
        else:
            is_candidate &= ~(overlaps > overlap_limit)
    return np.array(indices, np.int32), np.array(chosen_scores, current_scores.dtype)


def _order_corners(boxes: Array) -> Array:
    """Return the boxes with the lower coordinates first."""
    low_corners = np.minimum(boxes[..., :2], boxes[..., 2:])
    return np.concatenate([low_corners, np.maximum(boxes[..., :2], boxes[..., 2:])], -1)


def _exchange_corners(boxes: Array, reference_box: Array) -> Array:
    """Return the boxes with the lower coordinates first, in each dimension by the order in `reference_box`."""
    is_low_first = reference_box[:2] <= reference_box[2:]
    first_corners, second_corners = boxes[:, :2], boxes[:, 2:]
    low_corners = np.where(is_low_first, first_corners, second_corners)
    return np.concatenate([low_corners, np.where(is_low_first, second_corners, first_corners)], -1)


def _overlap(box: Array, boxes: Array) -> Array:
    """Return the areas of the intersections of `box` with each of `boxes`, over those of their unions."""
    sides = np.maximum(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0)
    common_areas = sides[:, 0] * sides[:, 1]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    box_area = (box[2] - box[0]) * (box[3] - box[1])
    unions = areas + box_area - common_areas
    has_area = (areas > 0) & (box_area > 0)
    return np.where(has_area, common_areas / np.where(has_area, unions, 1), 0).astype(boxes.dtype)


def _check_shapes(boxes: Array, scores: Array) -> None:
    """Raise InvalidArgumentError unless each box has four coordinates and a score."""
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise InvalidArgumentError(f"boxes are [n, 4] and scores [n], found {boxes.shape} and {scores.shape}")
