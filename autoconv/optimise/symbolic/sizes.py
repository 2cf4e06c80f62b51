"""Facts about symbolic sizes that rules read and derive."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, Symbol

Numbers = Dimension | tuple[Dimension, ...]  # value of a scalar; values of a vector


class Sizes:
    """Facts about sizes that the rules derive.

    `numbers` maps values to the dimensions that they hold; `preconditions` are dimensions that must not be negative.
    """

    def __init__(self) -> None:
        self.numbers: dict[Value, Numbers] = {}
        self.preconditions: dict[int | Symbol, None] = {}

    def copy_facts(self, parameters: Sequence[Value], outer_values: Sequence[Value]) -> None:
        """Copy the facts about outer values to the parameters of a region."""
        for parameter, value in zip(parameters, outer_values, strict=True):
            if value in self.numbers:
                self.numbers[parameter] = self.numbers[value]

    def require_nonnegative(self, dimension: Dimension) -> None:
        """Add the precondition that the dimension is not negative."""
        if isinstance(dimension, Symbol):
            self.preconditions[dimension] = None
