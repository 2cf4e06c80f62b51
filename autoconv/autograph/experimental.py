"""Public names of `tf.autograph.experimental`: features, `do_not_convert`, options of loops."""

from __future__ import annotations

import enum
from typing import Any

from autoconv.runtime.recording.regions import current_region
from autoconv.tracing.views.autograph import do_not_convert


class Feature(enum.Enum):
    """Parts of conversion that programs of TensorFlow select; here all of them are always on.

    >>> autoconv.autograph.experimental.Feature.ALL.name
    'ALL'
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Return all features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Return the features without `exclude`, one feature or a collection of them."""
        excluded = exclude if isinstance(exclude, (list, tuple, set, frozenset)) else (exclude,)
        return tuple(feature for feature in cls if feature not in excluded)


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Set options of a loop; call it at the start of the loop's body.

    `maximum_iterations`, an integer or integer scalar, limits a loop that is part of a graph under `function`; it has
    no effect on other loops. The other options have no effect: shapes widen without `shape_invariants`.

    >>> @autoconv.function
    ... def count(n):
    ...     i = 0
    ...     while i < n:
    ...         autoconv.autograph.experimental.set_loop_options(maximum_iterations=3)
    ...         i += 1
    ...     return i
    >>> count(autoconv.constant(10)).numpy()
    np.int32(3)
    """
    region = current_region()
    # `contract.python_numbers` is False under `function` only.
    if maximum_iterations is not None and region is not None and not region.contract.python_numbers:
        region.max_iterations = maximum_iterations


__all__ = ["Feature", "do_not_convert", "set_loop_options"]
