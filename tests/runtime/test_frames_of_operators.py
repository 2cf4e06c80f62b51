"""Tracebacks of converted code on plain values: no frame of this package, and the messages of plain Python."""

import traceback

import pytest

from autoconv.config.paths import is_own_file
from autoconv.emit.module import convert_source

STATEMENTS = [
    "a, *b = x", "(a, *b), c = x", "return {1, x}", "return {x: 1}", "return {**x, 'a': 1}", "return {*x, 1}",
    "return [*x, 1]", "return (*x, 1)", "x //= 0", "x %= 0", "x <<= -1", "x >>= -1", "x @= 2", "x **= 'a'", "x /= 0",
    "return '%d' % x", "return f'{x:>3q}'", "return max(*x)", "return {n for n, *m in x}", "del x[3]", "x[3] = x",
    "return 1 in x", "return x < 3", "return not x", "return x and 1",
]  # fmt: skip


class Failing:
    """An object all of whose special methods raise an error."""

    def _fail(self, *_: object) -> None:
        raise KeyError("failed")

    __iter__ = __hash__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = __lt__ = __bool__ = _fail
    __ifloordiv__ = __imod__ = __ilshift__ = __irshift__ = __imatmul__ = __ipow__ = __itruediv__ = keys = _fail
    __format__ = __int__ = _fail


def _outcome(function, value):
    """Return the type and text of the error, and the names of the functions in its traceback; None without an error."""
    try:
        function(value)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        assert not [frame for frame in frames if is_own_file(frame.filename)]
        return type(error), str(error), [frame.name for frame in frames]
    return None


@pytest.mark.parametrize("statement", STATEMENTS)
def test_errors_have_the_users_frames_alone(statement):
    source = f"def f(x):\n    {statement}\n"
    plain, converted = {}, {}
    exec(compile(source, "user.py", "exec"), plain)
    text = convert_source(source, "user.py").text.partition("\n__autoconv__.came_from")[0]
    exec(compile(text, "user.py", "exec"), converted)
    outcomes = [
        (_outcome(plain["f"], value), _outcome(converted["f"], value)) for value in (Failing(), 0, None, [], [[]], "ab")
    ]
    assert any(expected for expected, _ in outcomes)
    for expected, actual in outcomes:
        assert actual == expected
