"""Non-maximum suppression: of boxes that overlap, those with the highest scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.arguments import static_int
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_text import attribute_class
from autoconv.graph.dtypes import DType, float32, int32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

Array = Any


def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The places of at most `max_output_size` boxes, by falling scores, without pairs that overlap too much.

    A box is two opposite corners, [y1, x1, y2, x2]. Two overlap too much if the area that they share is more than
    `iou_threshold` of the area that they cover. Boxes whose score is not above `score_threshold` are left out.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> autoconv.image.non_max_suppression(boxes, [0.7, 0.9, 0.8], max_output_size=3).numpy()
    array([1, 2], dtype=int32)
    """
    return _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold, 0.0)[0]


def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), soft_nms_sigma: TensorLike = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`non_max_suppression` and the scores of the boxes.

    With a `soft_nms_sigma` above 0, a box that overlaps one with a higher score stays. Its score is multiplied by
    exp(-share² / (2 sigma)), where `share` is the shared part of the area.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> autoconv.image.non_max_suppression_with_scores(boxes, [0.7, 0.9], 2, soft_nms_sigma=0.5)[1].numpy().round(3)
    array([0.9  , 0.358], dtype=float32)
    """
    places, scores_of_boxes = _suppress(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )
    return places, scores_of_boxes


def _suppress(boxes: TensorLike, scores: TensorLike, *numbers: Any) -> list[Tensor]:
    corners, values = convert_to_tensor(boxes), convert_to_tensor(scores)
    if corners.shape.rank not in (None, 2) or values.shape.rank not in (None, 1):
        raise ValueError(f"boxes are [n, 4] and scores [n], found {corners.shape} and {values.shape}")
    specs = [TensorSpec((None,), int32), TensorSpec((None,), values.dtype)]
    return _on_host(Suppression(values.dtype), [corners, values, *numbers], specs)


def non_max_suppression_overlaps(
    overlaps: TensorLike, scores: TensorLike, max_output_size: TensorLike, overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), name: str | None = None,
) -> Tensor:  # fmt: skip
    """`non_max_suppression` where `overlaps` has how much each pair overlaps, as a matrix.

    >>> overlaps = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> autoconv.image.non_max_suppression_overlaps(overlaps, [0.7, 0.9, 0.8], 3).numpy()
    array([1, 2], dtype=int32)
    """
    inputs = [convert_to_tensor(overlaps), convert_to_tensor(scores), max_output_size, overlap_threshold]
    return _on_host(OverlapSuppression(), [*inputs, score_threshold], [TensorSpec((None,), int32)])[0]


def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size: TensorLike, iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"), pad_to_max_output_size: bool = False, name: str | None = None,
    sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`non_max_suppression` for each of a batch of boxes [..., n, 4] and scores [..., n]: places, and their number.

    With `pad_to_max_output_size`, which a batch needs, the places are filled up by zeros. Boxes that share
    `iou_threshold` of their area exclude each other. The corners of all boxes are in the order of the first box's.

    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> found = autoconv.image.non_max_suppression_padded(boxes, [0.7, 0.9, 0.8], 3, pad_to_max_output_size=True)
    >>> found[0].numpy(), found[1].numpy()
    (array([1, 2, 0], dtype=int32), np.int32(2))
    """
    corners, values = convert_to_tensor(boxes), convert_to_tensor(scores)
    if not pad_to_max_output_size and corners.shape.rank not in (None, 2):
        raise ValueError(f"a batch of boxes needs pad_to_max_output_size=True, found boxes of shape {corners.shape}")
    batch = None if values.shape.rank is None else values.shape.as_list()[:-1]
    most = static_value(max_output_size)
    count = None if most is None or not pad_to_max_output_size else int(most)
    shape = None if batch is None else (*batch, count)
    specs = [TensorSpec(shape, int32), TensorSpec(batch, int32)]
    function = PaddedSuppression(bool(pad_to_max_output_size), bool(canonicalized_coordinates))
    inputs = [corners, values, max_output_size, iou_threshold, score_threshold]
    places, number = _on_host(function, inputs, specs)
    return places, number


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
    """The boxes with the highest scores for each class of each image: boxes, scores, classes, and their numbers.

    `boxes` is [batch, n, q, 4], where q is 1 or the number of classes, and `scores` [batch, n, classes]. The results
    are filled up by zeros to `max_total_size` boxes an image, with `pad_per_class` to at most
    `max_output_size_per_class` times the number of classes. `clip_boxes` limits coordinates to 0 to 1.

    >>> boxes, scores = [[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.1, 1.0, 1.1]]]], [[[0.7], [0.9]]]
    >>> found = autoconv.image.combined_non_max_suppression(boxes, scores, 2, 2)
    >>> found[1].numpy(), found[3].numpy()
    (array([[0.9, 0. ]], dtype=float32), array([1], dtype=int32))
    """
    corners, values = convert_to_tensor(boxes, float32), convert_to_tensor(scores, float32)
    total = static_int(max_total_size, "max_total_size")
    batch, kinds = (values.shape[0], values.shape[2]) if values.shape.rank == 3 else (None, None)
    most = static_value(max_output_size_per_class)
    per_class = min(total, int(most) * kinds) if kinds is not None and most is not None else None
    size = per_class if pad_per_class else total
    shapes = [(batch, size, 4), (batch, size), (batch, size)]
    specs = [*(TensorSpec(shape, float32) for shape in shapes), TensorSpec((batch,), int32)]
    function = CombinedSuppression(total, bool(pad_per_class), bool(clip_boxes))
    inputs = [corners, values, max_output_size_per_class, iou_threshold, score_threshold]
    found, marks, classes, number = _on_host(function, inputs, specs)
    return CombinedNonMaxSuppression(found, marks, classes, number)


def _on_host(function: Any, inputs: list[Any], specs: list[TensorSpec]) -> list[Tensor]:
    return list(numpy_function(function, [convert_to_tensor(x) for x in inputs], specs, name=type(function).__name__))


@attribute_class
@dataclass(frozen=True)
class Suppression:
    """Choose boxes by falling scores; each lowers the scores of those that overlap it, or removes them."""

    graphdef: ClassVar = "NonMaxSuppressionV5"
    dtype: DType

    def __call__(self, boxes: Array, scores: Array, most: Array, most_shared: Array, least: Array, sigma: Array) -> Any:
        _check(boxes, scores)
        corners = _order_corners(boxes)
        share = lambda place: _overlap(corners[place], corners)
        return _greedy(scores, int(most), float(most_shared), float(least), float(sigma), share)


@attribute_class
@dataclass(frozen=True)
class OverlapSuppression:
    """Choose by falling scores where the overlaps are given."""

    graphdef: ClassVar = "NonMaxSuppressionWithOverlaps"

    def __call__(self, overlaps: Array, scores: Array, most: Array, most_shared: Array, least: Array) -> Any:
        return _greedy(scores, int(most), float(most_shared), float(least), 0.0, lambda place: overlaps[:, place])[0]


@attribute_class
@dataclass(frozen=True)
class PaddedSuppression:
    """Choose boxes for each of a batch."""

    graphdef: ClassVar = "NonMaxSuppressionV5"
    padded: bool
    in_order: bool

    def __call__(self, boxes: Array, scores: Array, most: Array, most_shared: Array, least: Array) -> Any:
        batch = scores.shape[:-1]
        flat, marks = boxes.reshape(-1, *boxes.shape[-2:]), scores.reshape(-1, scores.shape[-1])
        places = np.zeros((len(marks), int(most)), np.int32)
        numbers = np.zeros(len(marks), np.int32)
        bound = np.nextafter(float(most_shared), -math.inf)  # an equal share is too much
        for row, (corners, values) in enumerate(zip(flat, marks, strict=True)):
            if not self.in_order and len(flat[0]):
                corners = _in_order_of(corners, flat[0][0])
            picked_boxes, _ = _greedy(
                values, int(most), bound, float(least), 0.0, lambda at, c=corners: _overlap(c[at], c)
            )
            places[row, : len(picked_boxes)], numbers[row] = picked_boxes, len(picked_boxes)
        if not self.padded:
            return places[0, : numbers[0]], numbers[0]
        return places.reshape(*batch, int(most)), numbers.reshape(batch)


@attribute_class
@dataclass(frozen=True)
class CombinedSuppression:
    """Choose boxes for each class of each image, and the best of all classes."""

    graphdef: ClassVar = "CombinedNonMaxSuppression"
    total: int
    pad_per_class: bool
    clip: bool

    def __call__(self, boxes: Array, scores: Array, most: Array, most_shared: Array, least: Array) -> Any:
        batch, _, kinds = scores.shape
        size = min(self.total, int(most) * kinds) if self.pad_per_class else self.total
        corners = np.zeros((batch, size, 4), np.float32)
        marks, classes = np.zeros((2, batch, size), np.float32)
        numbers = np.zeros(batch, np.int32)
        for image in range(batch):
            candidates = []
            for kind in range(kinds):
                own = boxes[image, :, kind if boxes.shape[2] > 1 else 0]
                ordered = _order_corners(own)
                share = lambda place, c=ordered: _overlap(c[place], c)
                picked_boxes = _greedy(scores[image, :, kind], int(most), float(most_shared), float(least), 0.0, share)
                candidates += [(score, kind, own[place]) for place, score in zip(*picked_boxes, strict=True)]
            candidates = sorted(candidates, key=lambda one: -one[0])[:size]
            numbers[image] = len(candidates)
            for at, (score, kind, box) in enumerate(candidates):
                corners[image, at] = np.clip(box, 0.0, 1.0) if self.clip else box
                marks[image, at], classes[image, at] = score, kind
        return corners, marks, classes, numbers


def _greedy(scores: Array, most: int, most_shared: float, least: float, sigma: float, share: Any) -> Any:
    """Return places and scores; `share(place)` has the shares of a box with all boxes."""
    if not 0.0 <= np.float32(most_shared) <= 1.0 and not most_shared < 0:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], found {most_shared}")
    left = np.array(scores)
    open_ = left > least
    places: list[int] = []
    values: list[Any] = []
    while len(places) < most and open_.any():
        best = int(np.argmax(np.where(open_, left, -np.inf)))
        places.append(best)
        values.append(left[best])
        open_[best] = False
        shared = share(best)
        if sigma > 0:
            left = (left * np.exp(-0.5 / sigma * shared * shared)).astype(left.dtype)
            open_ &= left > least
        else:
            open_ &= ~(shared > most_shared)
    return np.array(places, np.int32), np.array(values, left.dtype)


def _order_corners(boxes: Array) -> Array:
    low = np.minimum(boxes[..., :2], boxes[..., 2:])
    return np.concatenate([low, np.maximum(boxes[..., :2], boxes[..., 2:])], -1)


def _in_order_of(boxes: Array, first: Array) -> Array:
    """Exchange the corners of all boxes where those of `first` are exchanged."""
    order = [0 if first[0] <= first[2] else 2, 1 if first[1] <= first[3] else 3]
    return boxes[:, [*order, 2 - order[0], 4 - order[1]]]


def _overlap(box: Array, boxes: Array) -> Array:
    """Return the area that the box shares with each box, over the area that both cover."""
    sides = np.maximum(np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2]), 0)
    common = sides[:, 0] * sides[:, 1]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    own = (box[2] - box[0]) * (box[3] - box[1])
    covered = areas + own - common
    fits = (areas > 0) & (own > 0)
    return np.where(fits, common / np.where(fits, covered, 1), 0).astype(boxes.dtype)


def _check(boxes: Array, scores: Array) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise InvalidArgumentError(f"boxes are [n, 4] and scores [n], found {boxes.shape} and {scores.shape}")
