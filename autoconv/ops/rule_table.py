"""Tables of rules by name: each rule registers itself where it is defined, and a name has one rule in a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class RuleTable(dict[str, F], Generic[F]):
    """Rules by the names of ops, or of classes of ops; `kind` names them in errors, such as "gradient rule".

    >>> rules = RuleTable("example rule")
    >>> @rules.of("add", "subtract")
    ... def rule(x, y): ...
    >>> sorted(rules)
    ['add', 'subtract']
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def of(self, *names: str) -> Callable[[F], F]:
        """Register a function as the rule of these names; raises ValueError if a name has another rule."""

        def register(rule: F) -> F:
            for name in names:
                if self.get(name, rule) is not rule:
                    raise ValueError(f"the {self._kind} of {name!r} is defined twice")
                self[name] = rule
            return rule

        return register
