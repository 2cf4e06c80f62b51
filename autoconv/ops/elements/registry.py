"""Element rules: how an op computes one element of its result, shared by all code generators.

A rule is written against the `Elements` protocol, for an op whose record is elementwise, or whose
operands are single numbers: `rule(b, *operands, **attributes) -> element`. Operands are numbers of the op's own
dtypes (`x.dtype`) that support Python's operators. A rule returns None for unsupported dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from autoconv.graph.dtypes import DType

Rule = Callable[..., Any]


class Elements(Protocol):
    """Operations available to rules, besides the operators of the elements themselves."""

    def constant(self, number: Any, dtype: DType) -> Any: ...
    def compare(self, test: str, x: Any, y: Any) -> Any: ...
    def select(self, condition: Any, x: Any, y: Any) -> Any: ...
    def cast(self, x: Any, dtype: DType) -> Any: ...
    def bitcast(self, x: Any, dtype: DType) -> Any: ...
    def bits(self, name: str, x: Any, y: Any) -> Any: ...
    def fma(self, x: Any, y: Any, z: Any) -> Any: ...
    def scaled(self, x: Any, n: Any) -> Any: ...
    def intrinsic(self, name: str, *operands: Any) -> Any: ...
    def libm(self, name: str, *operands: Any) -> Any: ...
    def divide(self, x: Any, y: Any) -> Any: ...
    def remainder(self, x: Any, y: Any) -> Any: ...
    def is_nan(self, x: Any) -> Any: ...
    def checked(self, name: str, x: Any, y: Any) -> tuple[Any, Any]: ...
    def fail(self, condition: Any) -> None: ...


ELEMENTS: dict[str, Rule] = {}


def element(*names: str) -> Callable[[Rule], Rule]:
    """Register a function as the rule of these ops; raises ValueError when one has a rule already."""

    def register(rule: Rule) -> Rule:
        for name in names:
            if name in ELEMENTS:
                raise ValueError(f"the op {name!r} has two element rules")
            ELEMENTS[name] = rule
        return rule

    return register
