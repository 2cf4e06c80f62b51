"""Functions with which libraries register objects; autoconv ignores what is registered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from autoconv.lazy_dataclass import dataclass
from autoconv.tensorflow.absent_names import REMEDY_BY_NAME
from autoconv.tensorflow.missing import Missing


def register(*args: object, **kwargs: object) -> None:
    """Do nothing: what is registered would serve sessions, TensorFlow Lite, or SavedModel files."""


@dataclass
class VersionedTypeRegistration:
    """A class of objects in SavedModel files, which are not read here."""

    object_factory: Callable[..., object]
    version: int
    min_producer_version: int
    min_consumer_version: int
    bad_consumers: Sequence[int] | None = None
    setter: Callable[..., object] = setattr


feature_column = Missing("__internal__.feature_column", REMEDY_BY_NAME["feature_column"])
mixed_precision = SimpleNamespace(register_loss_scale_wrapper=register)
saved_model: Any = Missing("__internal__.saved_model", "SavedModel files are neither read nor written here.")
saved_model.load = SimpleNamespace(
    register_revived_type=register, VersionedTypeRegistration=VersionedTypeRegistration
)
