"""Type errors of operators: Python's text with the operator and the types, for operands that a graph computes."""

import numpy as np
import pytest

import autoconv


class Float(float):
    pass


class Int(int):
    pass


COMPARISONS = ["<", "<=", ">", ">="]
OPERATORS = ["|", "&", "^", "-", "+", "@", "%", "//", "<<"]
OPERANDS = [{1}, frozenset({1}), {1: 2}, [1], (1,), "a", None, 2j, Float(2.0), np.dtype(float)]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        return str(error)


def outcomes(tmp_path, texts):
    """Return the results of plain and compiled functions, for each other operand."""
    path = tmp_path / "words.py"
    path.write_text("".join(f"def f{i}(n, other):\n{text}\n\n" for i, text in enumerate(texts)))
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    for i, text in enumerate(texts):
        plain = namespace[f"f{i}"]
        for operand in OPERANDS:
            found = [
                outcome(function, (3, operand.copy() if isinstance(operand, (set, dict, list)) else operand))
                for function in (plain, autoconv.compile(plain))
            ]
            yield text, operand, *found


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_comparisons(tmp_path, symbol):
    texts = [f"    return n + 1 {symbol} other", f"    return other {symbol} n", f"    return [n {symbol} other]"]
    texts += [f"    m = [None][0]\n    return m {symbol} other, n"]
    for text, operand, plain, compiled in outcomes(tmp_path, texts):
        assert plain == compiled, (text, operand)


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_and_assignments(tmp_path, symbol):
    texts = [
        f"    n += 1\n    n {symbol}= other\n    return n",
        f"    other {symbol}= n\n    return other",
        f"    return (n + 1) {symbol} other",
        f"    found = 0\n    if n > 1:\n        found = None\n        found {symbol}= other\n    return found",
    ]
    for text, operand, plain, compiled in outcomes(tmp_path, texts):
        if not (symbol == "%" and isinstance(operand, str)):
            assert plain == compiled, (text, operand)


def test_divmod(tmp_path):
    texts = ["    return divmod(n, other)", "    return divmod(other, n + 1)"]
    for text, operand, plain, compiled in outcomes(tmp_path, texts):
        assert plain == compiled, (text, operand)


def test_subclasses_of_numbers_and_lists():
    def shifted(n, operand):
        return n >> operand

    def joined(n, operand):
        return [n] + operand  # noqa: RUF005

    for function in (shifted, joined):
        for arguments in ((3, Float(2.0)), (Float(2.0), 3), (Int(3), 2.0), (2, Int(3)), (2.0, Int(3)), (2j, Int(1))):
            assert outcome(autoconv.compile(function), arguments) == outcome(function, arguments)


@pytest.mark.parametrize("symbol", ["|", "+", "<", "@"])
def test_changed_arrays_beside_other_types(tmp_path, symbol):
    """A call that has changed an array cannot run again as plain Python: the graph raises the error."""
    (tmp_path / "words.py").write_text(f"def f(x, other):\n    x += 1\n    return (x > 0) {symbol} other\n")
    namespace = {}
    exec(compile((tmp_path / "words.py").read_text(), str(tmp_path / "words.py"), "exec"), namespace)
    compiled = autoconv.compile(namespace["f"])
    for operand in (np.dtype(float), None, {1}, int, len):
        for size in (0, 3):
            expected, found = (str(outcome(f, (np.zeros(size), operand))) for f in (namespace["f"], compiled))
            assert found == expected


def test_reflected_methods_of_the_right_operand_are_called():
    class Reflecting:
        def __lt__(self, other):
            return "less", other

        def __ror__(self, other):
            return "or", other

    def f(n, operand):
        n += 1
        found = n > operand
        n |= operand
        return found, n

    assert autoconv.compile(f)(3, Reflecting()) == f(3, Reflecting()) == (("less", 4), ("or", 4))
