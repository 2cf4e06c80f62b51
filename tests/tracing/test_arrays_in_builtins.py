"""Python's builtins and text conversions of arrays under `compile`: results and their types are plain Python's."""

import numpy as np
import pytest

import autoconv

NAN = float("nan")


def conversions_to_text(a):
    return repr(a), f"{a!r}|{a}|{a[0]!r}", ascii(a), "%r %s" % (a, a), str([a]), "{!r}".format((a,))  # noqa: UP031, UP032


def error_with_array_in_message(a):
    if a[0] > 0:
        raise ValueError(f"bad {a!r}")
    return 0


def in_order(a):
    return sorted(a), sorted(a, reverse=True)[:2], sorted(a > 1)


def extremes(a):
    return max(a), min(a), max(a[1:]) - min(a[:-1])


def flags(a):
    return any(a > 2), all(a > 2), any(a) is True, str(all(a)), any(a) + 1


def of_rows(a):
    rows = np.outer(a, a)
    return max(rows)


def truth_of_rows(a):
    return any(np.outer(a, a))


def compared(a):
    return (a == None, a != None, a == object, a is None)  # noqa: E711, E721


def past_the_end(a):
    try:
        return a[10]
    except IndexError as error:
        return str(error)


def past_the_end_of_a_part(a):
    try:
        return (a + 1)[1:][-4]
    except IndexError as error:
        return str(error)


def too_many_indices(a):
    try:
        return (a + 1)[0, 1]
    except IndexError as error:
        return str(error)


def index_of_a_scalar(a):
    try:
        return a.sum()[0]
    except IndexError as error:
        return str(error)


def singular(a):
    try:
        return np.linalg.inv(np.outer(a, a) * 0)
    except np.linalg.LinAlgError as error:
        return str(error)


def number_of_an_array(a):
    try:
        return float(a)
    except TypeError as error:
        return str(error)


def largest_of_no_elements(a):
    try:
        return max(a[:0])
    except ValueError as error:
        return str(error)


FAILING_FUNCTIONS = (
    past_the_end, past_the_end_of_a_part, too_many_indices, index_of_a_scalar, singular, number_of_an_array,
    largest_of_no_elements,
)  # fmt: skip


def outcome(function, a):
    try:
        return "gives", repr(function(a))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "function",
    [
        conversions_to_text, error_with_array_in_message, in_order, extremes, flags, of_rows, truth_of_rows, compared,
        *FAILING_FUNCTIONS,
    ],
)
def test_results_are_those_of_plain_python(function):
    compiled = autoconv.compile(function)
    for values in ([0.5, -1.25, 3.0], [1.5, 2.5, 2.5], [-1.0, NAN, 2.0], [NAN, 1.0, -1.0], [3.0, NAN, NAN]):
        a = np.array(values)
        assert outcome(compiled, a.copy()) == outcome(function, a)


@pytest.mark.parametrize("function", [conversions_to_text, error_with_array_in_message, in_order, extremes, flags])
def test_functions_are_part_of_the_graph(function):
    compiled = autoconv.compile(function)
    compiled(np.array([-0.5, -1.25, 3.0]))
    assert "plain Python" not in compiled.explain()


def spans(pairs):
    total, descending = 0, sorted(pairs[0], reverse=True)
    for pair in pairs:
        first, last = sorted(pair)
        total += (last - first) * first
    return total, descending, type(total), type(descending[0])


def test_few_integers_are_sorted_without_objects():
    compiled = autoconv.compile(spans)
    pairs = np.array([[3, 1], [2, 9], [4, 4], [7, -5]])
    for dtype in (np.int64, np.int8):
        assert compiled(pairs.astype(dtype)) == spans(pairs.astype(dtype))
    operations = {node.op.name for node in compiled.concrete_functions[0].optimised.walk()}
    assert "sort" in operations
    assert "object_apply" not in operations
