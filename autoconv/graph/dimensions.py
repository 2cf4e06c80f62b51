"""Arithmetic on dimensions: ints, symbols, and expressions of them.

A `Sum` is a polynomial over symbols with integer coefficients in normal form, so that equal polynomials are equal
dimensions: `(n - 1) + 1` is `n`. A `Quotient` rounds down and is a symbol itself, as is the `Minimum`
of two dimensions. An unknown dimension (None) makes every expression of it unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.graph.linear_form import add_terms
from autoconv.graph.types import Dimension, Symbol
from autoconv.lazy_dataclass import dataclass

Monomial = tuple[Symbol, ...]  # sorted by name; empty for a number


@dataclass(frozen=True, slots=True)
class Sum(Symbol):
    """A polynomial; `terms` are products of symbols with their coefficients."""

    terms: tuple[tuple[Monomial, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ComputedSize(Symbol):
    """A size that a node of the graph computes at run time. It may be 0 or 1, unlike open sizes of arguments."""


@dataclass(frozen=True, slots=True)
class Quotient(Symbol):
    """A quotient of two dimensions, rounded down; `divisor` is a positive int, or a product of argument sizes."""

    dividend: int | Symbol = 0
    divisor: int | Symbol = 1


@dataclass(frozen=True, slots=True)
class Minimum(Symbol):
    """The smaller of two dimensions whose order is not static."""

    first: int | Symbol = 0
    second: int | Symbol = 0


def plus(first: Dimension, second: Dimension) -> Dimension:
    """Return the sum of two dimensions; None if one is unknown."""
    if first is None or second is None:
        return None
    return _normal_form(add_terms(dict(monomials(first)), monomials(second)))


def times(first: Dimension, second: Dimension) -> Dimension:
    """Return the product of two sizes; None if one is unknown."""
    if first is None or second is None:
        return None
    products: list[tuple[Monomial, int]] = [
        (tuple(sorted((*first_symbols, *second_symbols), key=_symbol_sort_key)), first_coefficient * second_coefficient)
        for first_symbols, first_coefficient in monomials(first)
        for second_symbols, second_coefficient in monomials(second)
    ]
    return _normal_form(add_terms({}, products))


def product(dimensions: Sequence[Dimension]) -> Dimension:
    """Return the product of all dimensions, 1 for none; None if one is unknown."""
    result: Dimension = 1
    for dimension in dimensions:
        result = times(result, dimension)
    return result


def floor_quotient(dividend: Dimension, divisor: Dimension) -> Dimension:
    """Return the quotient, rounded down; None if it is unknown.

    A quotient with a remainder is known only for a divisor that is a positive int or a product of argument sizes.
    """
    if dividend is None or divisor is None or (isinstance(divisor, int) and divisor <= 0):
        return None
    exact_result = exact_quotient(dividend, divisor)
    if exact_result is not None:
        return exact_result
    if isinstance(dividend, int) and isinstance(divisor, int):
        return dividend // divisor
    if isinstance(divisor, Symbol) and not _is_product_of_argument_sizes(divisor):
        return None
    return Quotient(f"({dividend})//{_factor_text(divisor)}", dividend, divisor)


def minimum(first: Dimension, second: Dimension) -> Dimension:
    """Return the minimum; a `Minimum` where it is not static. Argument sizes (`Symbol` itself) are greater than 1."""
    if first is None or second is None:
        return None
    for number, size in ((first, second), (second, first)):
        if number in (0, 1) and type(size) is Symbol:
            return number
    difference = plus(first, times(second, -1))
    if isinstance(difference, int):
        return first if difference < 0 else second
    first, second = sorted((first, second), key=str)
    return Minimum(f"min({first},{second})", first, second)


def maximum(first: Dimension, second: Dimension) -> Dimension:
    """Return the maximum: the sum of both minus their minimum."""
    return plus(plus(first, second), times(minimum(first, second), -1))


def have_equal_element_counts(first: Sequence[Dimension], second: Sequence[Dimension]) -> bool:
    """Return whether two shapes have equally many elements, on the assumption that each Quotient in them is exact."""
    if None in first or None in second:
        return False
    if product(first) == product(second):
        return True
    for one_shape, other_shape in ((first, second), (second, first)):
        factors = [factor for size in one_shape for factor in _factors(size)]
        for i, factor in enumerate(factors):
            if isinstance(factor, Quotient):
                return have_equal_element_counts(
                    (*factors[:i], factor.dividend, *factors[i + 1 :]), (*other_shape, factor.divisor)
                )
    return False


def exact_quotient(dividend: Dimension, divisor: Dimension) -> Dimension:
    """Return the exact quotient by an int or a single product; None where the divisor does not divide every term."""
    if dividend is None or divisor is None or divisor == 0:
        return None
    terms = monomials(divisor)
    if len(terms) != 1:
        return None
    ((divisor_symbols, divisor_coefficient),) = terms
    quotient_terms: dict[Monomial, int] = {}
    for monomial, coefficient in monomials(dividend):
        remaining_symbols = list(monomial)
        for symbol in divisor_symbols:
            if symbol not in remaining_symbols:
                return None
            remaining_symbols.remove(symbol)
        if coefficient % divisor_coefficient:
            return None
        quotient_terms[tuple(remaining_symbols)] = coefficient // divisor_coefficient
    return _normal_form(quotient_terms)


def slice_length(size: Dimension, bounds: Sequence[Any], preconditions: list[Dimension]) -> Dimension:
    """Return the length of a slice, assuming that its bounds lie within the dimension; None if unknown.

    `bounds` are the start, the stop and the step: each a dimension, None, or a tuple of dimensions (a vector, for which
    no length is known). The assumption is added to `preconditions`, as dimensions that must not be negative.
    """
    start, stop, step = bounds
    step = 1 if step is None else step
    has_vector_bound = isinstance(start, tuple) or isinstance(stop, tuple)
    if size is None or has_vector_bound or not isinstance(step, int) or not step:
        return None
    if all(isinstance(dimension, int) for dimension in (size, start or 0, stop or 0)):
        return len(range(*slice(start, stop, step).indices(int(size))))  # type: ignore[arg-type]
    if step < 0:
        last = plus(size, -1)
        first = last if start is None else _bound_position(
            last, plus(size, start) if _is_negative(start) else start, preconditions
        )
        end = -1 if stop is None else _bound_position(  # -1: the position before the first element
            last, plus(size, stop) if _is_negative(stop) else stop, preconditions
        )
        length = plus(first, times(end, -1))
        preconditions.append(length)
        return 0 if _is_negative(length) else floor_quotient(plus(length, -step - 1), -step)  # rounded up
    first = _bound_position(size, 0 if start is None else start, preconditions)
    end = _bound_position(size, size if stop is None else stop, preconditions)
    length = plus(end, times(first, -1))
    preconditions.append(length)
    if isinstance(length, int) and length < 0:
        return 0
    return length if step == 1 else floor_quotient(plus(length, step - 1), step)  # rounded up


def _is_negative(bound: Any) -> bool:
    return isinstance(bound, int) and bound < 0


def _bound_position(size: Dimension, bound: Dimension, preconditions: list[Dimension]) -> Dimension:
    """Return the position of a bound, which may count from the end. A bound that always exceeds `size` is `size`.

    `preconditions` gets the dimensions that are not negative if the bound is within `size`.
    """
    if isinstance(bound, int) and bound < 0:
        bound = plus(size, bound)
        preconditions.append(bound)
    elif bound != size and bound != 0:
        distance_to_end = plus(size, times(bound, -1))
        if _is_negative(distance_to_end):
            return size
        preconditions += [distance_to_end, bound]
    return bound


def evaluate_dimension(dimension: int | Symbol, values: Mapping[str, int]) -> int:
    """Evaluate a dimension for values of its atomic symbols, by name (see `atomic_symbols`)."""
    if isinstance(dimension, Quotient):
        return evaluate_dimension(dimension.dividend, values) // evaluate_dimension(dimension.divisor, values)
    if isinstance(dimension, Minimum):
        return min(evaluate_dimension(dimension.first, values), evaluate_dimension(dimension.second, values))
    if isinstance(dimension, Sum):
        total = 0
        for monomial, coefficient in dimension.terms:
            for symbol in monomial:
                coefficient *= evaluate_dimension(symbol, values)
            total += coefficient
        return total
    return dimension if isinstance(dimension, int) else values[dimension.name]


def substitute(dimension: Dimension, replacement_of: Callable[[Symbol], Dimension]) -> Dimension:
    """Replace each atomic symbol in a dimension by `replacement_of(symbol)`."""
    if isinstance(dimension, Quotient):
        return floor_quotient(*(substitute(part, replacement_of) for part in (dimension.dividend, dimension.divisor)))
    if isinstance(dimension, Minimum):
        return minimum(substitute(dimension.first, replacement_of), substitute(dimension.second, replacement_of))
    if isinstance(dimension, Sum):
        total: Dimension = 0
        for monomial, coefficient in dimension.terms:
            term: Dimension = coefficient
            for symbol in monomial:
                term = times(term, substitute(symbol, replacement_of))
            total = plus(total, term)
        return total
    return replacement_of(dimension) if isinstance(dimension, Symbol) else dimension


def atomic_symbols(dimension: int | Symbol) -> Iterator[Symbol]:
    """Iterate over the atomic symbols in a dimension: those that are no expressions of others."""
    if isinstance(dimension, Quotient):
        yield from (*atomic_symbols(dimension.dividend), *atomic_symbols(dimension.divisor))
    elif isinstance(dimension, Minimum):
        yield from (*atomic_symbols(dimension.first), *atomic_symbols(dimension.second))
    elif isinstance(dimension, Sum):
        for monomial, _ in dimension.terms:
            for symbol in monomial:
                yield from atomic_symbols(symbol)
    elif isinstance(dimension, Symbol):
        yield dimension


def is_computed(dimension: Dimension) -> bool:
    """Return whether a node of the graph computes the dimension, or a part of it."""
    symbols = atomic_symbols(dimension) if isinstance(dimension, Symbol) else ()
    return any(isinstance(symbol, ComputedSize) for symbol in symbols)


def _is_product_of_argument_sizes(dimension: Symbol) -> bool:
    """Return whether the dimension is a product of argument sizes and a positive number, so that it is positive."""
    if not isinstance(dimension, Sum):
        return type(dimension) is Symbol
    ((monomial, coefficient), *further_terms) = dimension.terms
    return not further_terms and coefficient > 0 and all(type(symbol) is Symbol for symbol in monomial)


def _factors(dimension: Dimension) -> Sequence[Dimension]:
    """Return the factors of a dimension that is a single product; other dimensions are their only factor."""
    if isinstance(dimension, Sum) and len(dimension.terms) == 1:
        ((monomial, coefficient),) = dimension.terms
        return (*monomial, coefficient)
    return (dimension,)


def _factor_text(dimension: int | Symbol) -> str:
    return f"({dimension})" if isinstance(dimension, Sum) else str(dimension)


def monomials(dimension: int | Symbol) -> tuple[tuple[Monomial, int], ...]:
    """Return the products of symbols in a dimension, with their coefficients."""
    if isinstance(dimension, int):
        return (((), dimension),) if dimension else ()
    return dimension.terms if isinstance(dimension, Sum) else (((dimension,), 1),)


def _normal_form(coefficients: Mapping[Monomial, int]) -> int | Symbol:
    """Return the sum of the monomials: an int or a single symbol if it is one, else a `Sum`."""
    terms = tuple(sorted(coefficients.items(), key=_term_sort_key))
    if not terms:
        return 0
    if len(terms) == 1:
        ((monomial, coefficient),) = terms
        if not monomial:
            return coefficient
        if len(monomial) == 1 and coefficient == 1:
            return monomial[0]
    return Sum(_sum_text(terms), terms)


def _term_sort_key(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    monomial, _ = term
    return -len(monomial), [symbol.name for symbol in monomial]


def _sum_text(terms: Sequence[tuple[Monomial, int]]) -> str:
    """Return the text of a sum, such as `2*n*m+n-1`."""
    result = ""
    for monomial, coefficient in terms:
        factors = [symbol.name for symbol in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        result += ("-" if coefficient < 0 else "+" if result else "") + "*".join(factors)
    return result


def _symbol_sort_key(symbol: Symbol) -> str:
    return symbol.name
