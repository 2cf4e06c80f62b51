"""Operators as converted code gets them: an error that passes through one shows no frame of it.

Each is a function of as few arguments as the operator has, which Python calls faster than one of any arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autoconv.runtime.tracebacks import hide

Operator = Callable[..., Any]


def quiet(operator: Operator) -> Operator:
    """The operator, for any arguments."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return operator(*args, **kwargs)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_1(operator: Operator) -> Operator:
    def run(x: Any) -> Any:
        try:
            return operator(x)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_2(operator: Operator) -> Operator:
    def run(x: Any, y: Any) -> Any:
        try:
            return operator(x, y)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_3(operator: Operator) -> Operator:
    def run(x: Any, y: Any, z: Any) -> Any:
        try:
            return operator(x, y, z)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_logic(operator: Operator) -> Operator:
    """and_ and or_: mostly of two operands."""

    def run(x: Any, y: Any, *rest: Any) -> Any:
        try:
            return operator(x, y, *rest) if rest else operator(x, y)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_branch(operator: Operator) -> Operator:
    """if_stmt and switch_stmt."""

    def run(test: Any, body: Any, orelse: Any = None, inputs: Any = (), names: Any = (), cells: Any = None) -> Any:
        try:
            return operator(test, body, orelse, inputs, names, cells)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)


def quiet_loop(operator: Operator) -> Operator:
    """while_stmt and for_stmt."""

    def run(over: Any, body: Any, state: Any = (), names: Any = (), exit: str = "", cells: Any = None) -> Any:
        try:
            return operator(over, body, state, names, exit, cells)
        except BaseException as error:
            hide(error)
            raise

    return functools.wraps(operator)(run)
