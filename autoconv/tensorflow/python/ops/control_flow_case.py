"""`tensorflow.python.ops.control_flow_case`: the first of several branches whose predicate is true."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from autoconv import case as case
from autoconv import switch_case as switch_case

Branch = Callable[[], object]


def _case_helper(
    cond_fn: Callable[..., object], pred_fn_pairs: Iterable[tuple[object, Branch]], default: Branch | None,
    exclusive: bool, name: str, allow_python_preds: bool = False, **cond_kwargs: object,
) -> object:  # fmt: skip
    """Return the result of nested conditionals by `cond_fn`, which takes a predicate and two branches.

    `default` is called if no predicate is true. Without it, the last branch is called if no earlier predicate is true.
    `exclusive` is not checked: the first true predicate decides.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("case needs at least one pair of a predicate and a function")
    otherwise: Branch = default if default is not None else pairs.pop()[1]
    for predicate, branch in reversed(pairs):
        otherwise = functools.partial(cond_fn, predicate, branch, otherwise, **cond_kwargs)
    return otherwise()
