"""Linear forms of integers over atoms of any kind: values of a graph, registers, products of symbols.

    3 + 2·k - m      LinearForm(3, {k: 2, m: -1})
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from autoconv.lazy_dataclass import dataclass, field

Atom = Hashable  # a number that is not decomposed further
Range = tuple[int, int]  # lowest and highest number
INT64_RANGE: Range = (-(1 << 63), (1 << 63) - 1)
_A = TypeVar("_A", bound=Atom)


@dataclass(frozen=True, slots=True)
class LinearForm:
    """`constant` + the sum of coefficient · atom; `terms` maps each atom to its coefficient, which is not 0."""

    constant: int = 0
    terms: Mapping[Atom, int] = field(default_factory=dict)

    def plus(self, other: LinearForm, factor: int = 1) -> LinearForm:
        """Return this form plus `factor` times the other."""
        terms = add_terms(self.terms, ((atom, factor * coefficient) for atom, coefficient in other.terms.items()))
        return LinearForm(self.constant + factor * other.constant, terms)

    def minus(self, other: LinearForm) -> LinearForm:
        return self.plus(other, factor=-1)

    def times(self, factor: int) -> LinearForm:
        return LinearForm().plus(self, factor=factor)

    def range(self, ranges: Mapping[Atom, Range]) -> Range:
        """Return the interval of the form; `ranges` has intervals of atoms, and any other atom is an int64."""
        low = high = self.constant
        for atom, coefficient in self.terms.items():
            ends = sorted(coefficient * end for end in ranges.get(atom, INT64_RANGE))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def is_never_zero(self, ranges: Mapping[Atom, Range]) -> bool:
        """Return whether the form differs from zero for all numbers in the atoms' ranges.

        This holds if its interval excludes zero, or if a divisor of all coefficients does not divide the constant.
        """
        low, high = self.range(ranges)
        divisor = math.gcd(*self.terms.values())
        return low > 0 or high < 0 or (divisor > 1 and self.constant % divisor != 0)


def of_atom(atom: Atom) -> LinearForm:
    """Return the form that is the atom itself."""
    return LinearForm(0, {atom: 1})


def add_terms(coefficients: Mapping[_A, int], terms: Iterable[tuple[_A, int]]) -> dict[_A, int]:
    """Return the coefficients by atom after further terms are added; atoms that cancel are left out."""
    total = dict(coefficients)
    for atom, coefficient in terms:
        total[atom] = total.get(atom, 0) + coefficient
    return {atom: coefficient for atom, coefficient in total.items() if coefficient}
