"""Wrappers that remove an operator's own frames from the tracebacks of errors passing through it.

The functions that they return take exactly the operator's arguments, except that of `hide_frames`: Python calls such a
function faster than one with `*args`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autoconv.runtime.recording.tracebacks import drop_package_frames

Operator = Callable[..., Any]


def hide_frames(operator: Operator) -> Operator:
    """Wrap an operator with arbitrary arguments."""

    def operator_without_frames(*args: Any, **kwargs: Any) -> Any:
        try:
            return operator(*args, **kwargs)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_1(operator: Operator) -> Operator:
    """Wrap an operator with one argument."""

    def operator_without_frames(x: object) -> Any:
        try:
            return operator(x)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_2(operator: Operator) -> Operator:
    """Wrap an operator with two arguments."""

    def operator_without_frames(x: object, y: object) -> Any:
        try:
            return operator(x, y)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_3(operator: Operator) -> Operator:
    """Wrap an operator with three arguments."""

    def operator_without_frames(x: object, y: object, z: object) -> Any:
        try:
            return operator(x, y, z)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_of_logic(operator: Operator) -> Operator:
    """Wrap and_ and or_, which mostly have two operands."""

    def operator_without_frames(x: object, y: object, *other_operands: Any) -> Any:
        try:
            return operator(x, y, *other_operands) if other_operands else operator(x, y)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_of_branch(operator: Operator) -> Operator:
    """Wrap if_stmt and switch_stmt."""

    def operator_without_frames(
        test: object,
        body: Callable[..., Any],
        orelse: Any = None,
        inputs: Any = (),
        names: Any = (),
        cells: Any = None,
    ) -> Any:
        """Call the operator with all its parameters by position, as Python does that faster."""
        try:
            return operator(test, body, orelse, inputs, names, cells)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)


def hide_frames_of_loop(operator: Operator) -> Operator:
    """Wrap while_stmt and for_stmt."""

    def operator_without_frames(
        test_or_iterable: Any, body: Callable[..., Any], state: Any = (), names: Any = (), exit: str = "",
        cells: Any = None,
    ) -> Any:
        """Call the operator with all its parameters by position, as Python does that faster."""
        try:
            return operator(test_or_iterable, body, state, names, exit, cells)
        except BaseException as error:
            drop_package_frames(error)
            raise

    return functools.wraps(operator)(operator_without_frames)
