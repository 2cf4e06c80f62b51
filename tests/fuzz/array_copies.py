"""Chains of views and copies of arrays, and later writes, plain NumPy against `@autoconv.compile`.

    AUTOCONV_TIERS=native python tests/fuzz/array_copies.py --programs 1000 [--seed 0]

A program makes each array from an earlier one, an argument or a new array, by a function or method that returns a view,
a copy, or either; it writes to some of them, in place or by `out`. The calls bring other sizes, among them 0 and 1, and
other layouts. Results (dtypes, shapes, values, whether they are writable, the memory that they share with each other
and with arguments, which are arguments) are compared, the arguments after the call, and classes of exceptions.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
from differential.counting import compare_calls, load_program, run_command

FIRST_VALUES = (
    "x", "m", "x * 2", "m + 1", "x[:, None] * x", "m @ m.T", "np.zeros_like(x)", "np.ones((len(x), 2))", "m.T.copy()",
    "np.arange(len(x)) * 1.0", "np.where(x > 0, x, 0.5)", "np.full((2, len(x)), 3.0)", "-m", "np.cumsum(x)", "y * 1.0",
    "m.T * 2", "m[:, [0, -1]]", "m.T + m.T[::-1]", "np.stack([m, m]).transpose(2, 0, 1) - 1", "np.exp2(m.T)",
)  # fmt: skip
VIEWS_AND_COPIES = (
    "{0}.reshape(-1)", "{0}.reshape(-1, 1)", "{0}.reshape(1, -1)", "np.reshape({0}, {0}.shape[::-1])", "{0}.ravel()",
    "{0}.flatten()", "np.ravel({0})", "{0}.T", "{0}[::2]", "{0}[::-1]", "{0}[None]", "{0}[..., None]", "{0}[1:]",
    "{0}[:-1]", "{0}[...]", "{0}[:]", "np.squeeze({0})", "{0}.squeeze()", "np.expand_dims({0}, 0)", "{0}.copy()",
    "np.expand_dims({0}, -1)", "{0}.astype({0}.dtype)", "{0}.astype({0}.dtype, copy=False)", "{0}.astype(np.float32)",
    "np.ascontiguousarray({0})", "np.asarray({0})", "np.asarray({0}, dtype=float)", "np.array({0})", "np.copy({0})",
    "np.array({0}, copy=None)", "np.array({0}, ndmin=2)", "np.asanyarray({0})", "np.concatenate([{0}])",
    "np.concatenate([{0}, {0}])", "np.concatenate(({0},), axis=None)", "np.stack([{0}])", "np.stack([{0}, {0}], -1)",
    "np.hstack([{0}])", "np.vstack([{0}])", "np.flip({0})", "np.flip({0}, 0)", "np.roll({0}, 1)", "np.roll({0}, 0)",
    "np.broadcast_to({0}, (2, *{0}.shape))", "np.broadcast_to({0}, {0}.shape)", "np.split({0}, 1)[0]",
    "np.array_split({0}, 2)[1]", "np.array_split({0}, 2)[0]", "np.swapaxes({0}, 0, -1)", "{0}.swapaxes(0, -1)",
    "np.moveaxis({0}, 0, -1)", "np.transpose({0})", "np.atleast_1d({0})", "np.atleast_2d({0})", "np.atleast_3d({0})",
    "np.broadcast_arrays({0}, {0})[0]", "{0}.view()", "np.require({0})", "np.tile({0}, 1)", "np.repeat({0}, 1, axis=0)",
    "{0}.real", "{0}.conj()", "np.real({0})", "np.abs({0})", "+{0}", "np.positive({0})", "{0} * 1", "{0} + 0.5",
    "np.take({0}, [0], axis=0)", "{0}[[0, -1]]", "{0}[{0} > 0]", "np.rot90({0}[None, :2].reshape(1, -1))", "{0}[0]",
    "np.diagonal({0}.reshape(-1, 1))", "np.diag({0}.reshape(-1))", "np.delete({0}, 0, axis=0)", "np.sort({0}, axis=0)",
    "np.append({0}, {0})", "np.pad({0}, 0)", "np.trim_zeros({0}.ravel())", "np.nan_to_num({0})", "{0}.round()",
    "np.clip({0}, None, 100)", "np.resize({0}, {0}.shape)", "np.meshgrid({0}, {0})[0]", "np.unstack({0})[0]",
    "np.nan_to_num({0}, copy=False)", "np.triu({0}.reshape(1, -1))", "{0}.clip(-1, 2)",
    "np.permute_dims({0})", "np.matrix_transpose({0}[None])", "np.column_stack([{0}])", "np.dstack([{0}])[..., 0]",
    "np.ascontiguousarray({0}.T)", "{0}.T.reshape(-1)", "{0}.T.ravel()", "{0}[::2].reshape(-1)", "{0}[::-1].ravel()",
    "{0}.reshape(-1, order='C')", "{0}.T.copy().reshape(-1)", "{0}[{1}.size % 2:]", "({0} if k > 1 else {1})",
    "np.add({0}, 1, out={0})", "np.minimum({0}, {1}, out={0})", "np.multiply({0}, {1})", "{0} + {1}", "{0}.sum(axis=0)",
    "{0}.T * 2", "{0}[..., [0, -1]]", "np.where({0}.T > 0, {0}.T, 0)", "np.concatenate([{0}.T, {0}.T], -1)",
    "np.cumsum({0}.T, axis=0)", "np.zeros_like({0}.T)", "{0}.T.astype(np.float32)", "{0}.T.copy('K')",
    "({0}, {1})[k % 2]", "[{0}, {1}][0]", "({0} * 2)[1:]", "({0} + 1).reshape(-1)", "np.maximum({0}, 0).T",
)  # fmt: skip
WRITES = (
    "{0} += 1", "{0} *= {1}", "{0}[...] = {1}", "{0}[:1] = 7", "{0}[-1:] = {1}[:1]", "{0}[0] = 9", "{0}.fill(4)",
    "{0} -= {0}", "{0}[::2] += 10", "np.add({0}, {1}, out={0})", "np.negative({0}, out={1})", "{0}.sort()",
    "np.copyto({0}, {1})", "{0}[{0} > 1] = -1", "{0}.flat[0] = 8", "{0}.T[...] += 0.5", "{0}.reshape(-1)[:2] = 6",
    "{0}.ravel()[:1] = 3", "np.exp2({0} * 0, out={0})", "{0}[::-1] += {0}", "{0}[1:] = {0}[:-1].copy()",
    "for i in range(len({0})):\n        {0}[i] += i", "{0}[1:] += {0}[:-1]",
)  # fmt: skip
SIZES = ((4, 2, 3), (4, 3, 2), (1, 1, 1), (0, 0, 2), (7, 1, 3), (2, 3, 3), (5, 3, 1), (6, 2, 2), (3, 2, 0))


class _Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def program(self) -> str:
        names = ["v0"]
        lines = ["def program(x, m, y, k):", f"    v0 = {self.draw.choice(FIRST_VALUES)}"]
        for number in range(1, self.draw.randint(3, 6)):
            first = names[-1] if self.draw.random() < 0.7 else self.draw.choice([*names, "x", "m"])
            second = self.draw.choice([*names, "x", "y"])
            lines.append(f"    v{number} = {self.draw.choice(VIEWS_AND_COPIES).format(first, second)}")
            names.append(f"v{number}")
            if self.draw.random() < 0.35:
                target = self.draw.choice(names)
                lines.append(f"    {self.draw.choice(WRITES).format(target, self.draw.choice([*names, 'x', 'y']))}")
        returned = [name for name in names if self.draw.random() < 0.6] or names[-1:]
        return "\n".join([*lines, f"    return {', '.join(returned)},", ""])


def program(seed: int) -> str:
    return _Writer(seed).program()


def _arguments(sizes: tuple[int, int, int], layout: int) -> list[Any]:
    n, rows, columns = sizes
    x, m = np.arange(n) - 1.5, np.arange(float(rows * columns)).reshape(rows, columns)
    if layout == 1:
        x = (np.arange(2.0 * n) - 1)[::2]
    elif layout == 2:
        x.flags.writeable = False
    return [x, m, np.arange(n) % 3, n % 3]


def outcome(function: Any, arguments: list[Any]) -> Any:
    """Return the description of a call's results and arguments, and the memory that they share."""
    arrays = arguments[:3]
    try:
        with np.errstate(all="ignore"):
            results = function(*arguments)
    except Exception as error:
        return type(error).__name__, [_describe(array) for array in arrays]
    described = [_describe(value) for value in results]
    is_argument = [[value is array for array in arrays] for value in results]
    parts = [value for value in (*results, *arrays) if isinstance(value, np.ndarray)]
    shared = [[np.shares_memory(a, b) for a in parts] for b in parts]
    for place, value in enumerate(results):  # later writes
        if isinstance(value, np.ndarray) and value.flags.writeable and value.size:
            value.flat[0] = 100 + place
    return described, is_argument, shared, [_describe(value) for value in (*results, *arrays)]


def _describe(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.flags.writeable, str(value.tolist())
    return type(value).__name__, repr(value)


def check(source: str, number: int) -> tuple[str, str]:
    """Compare a program; return how it ran or "WRONG", and details."""
    plain = load_program(source, f"<program of array copies {number}>", np=np)
    layouts = random.Random(number).choices([0, 1, 2], [6, 2, 1], k=len(SIZES))
    calls = list(zip(SIZES, layouts, strict=True))
    return compare_calls(plain, plain, calls, lambda function, call: outcome(function, _arguments(*call)))


if __name__ == "__main__":
    sys.exit(run_command(__doc__, program, check))
