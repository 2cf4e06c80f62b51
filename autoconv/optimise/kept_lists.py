"""Why dicts, and lists and sets of tuples of numbers, stay Python objects, for `explain()`."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Span
from autoconv.graph.types import TensorType, TupleType
from autoconv.optimise.unbox import tests_identity
from autoconv.optimise.unboxing.alias_classes import AliasClass, find_root
from autoconv.optimise.unboxing.kind_inference import Kinds, operation_key
from autoconv.optimise.unboxing.kinds import OTHER, Kind, is_item

_CLASSES = ("list", "deque", "dict", "set")


def find_kept_lists(graph: Graph) -> list[tuple[str, Span | None]]:
    """Return why each list, dict or set stays a Python object, and the place of the operation that is the reason.

    `graph` is an optimised graph. Lists and sets none of whose items is a tuple of numbers are left out.
    """
    nodes = [node for node in graph.walk() if node.op.name.startswith("object_")]
    if not any(_makes_list(node) for node in nodes):
        return []
    kinds = _ExplainedKinds(graph)
    reasons: dict[tuple[str, Span | None], None] = {}
    for node in nodes:
        if _makes_list(node) and node in kinds.reasons:
            text, span = kinds.reasons[node]
            reasons[f"{_noun(node)} stays an object: {text}", span] = None
    identity_test = next(filter(tests_identity, nodes), None)
    if identity_test is not None and (reasons or kinds.has_lists()):
        return [("a list of tuples stays an object: objects are compared by is", identity_test.span)]
    return [*reasons]


def _noun(node: Node) -> str:
    """Return the text for what the node makes."""
    name = _class_name(node)
    return f"a {name}" if name == "dict" else f"a {'set' if name == 'set' else 'list'} of tuples"


def _makes_list(node: Node) -> bool:
    return node.op.name in ("object_build", "object_apply") and _class_name(node) in (*_CLASSES, "sorted")


def _class_name(node: Node) -> str:
    """Return the name of the class that is built, or of the function that is applied, without its module."""
    return str(node.attributes.get("class_name", node.attributes.get("function", ""))).rpartition(".")[2]


class _ExplainedKinds(Kinds):
    """Kinds that record why lists are banned: `reasons` has a text and a place for each node that allocates a list."""

    def __init__(self, graph: Graph) -> None:
        self.reasons: dict[Node, tuple[str, Span | None]] = {}
        self._first_reasons: dict[AliasClass, tuple[str, Span | None]] = {}
        self._held_tuples: set[AliasClass] = set()
        super().__init__(graph)

    def raise_kind(self, alias_class: AliasClass, kind: Kind) -> None:
        """Raise the kind, and record the reason if the class had another one."""
        alias_class = find_root(alias_class)
        kind_before = alias_class.kind
        if isinstance(kind_before, TupleType):
            self._held_tuples.add(alias_class)
        if kind == OTHER or (kind is not None and kind_before not in (None, kind)):
            self._first_reasons.setdefault(alias_class, self._reason(kind_before, kind))
        super().raise_kind(alias_class, kind)

    def unify(self, first: AliasClass, second: AliasClass) -> None:
        """Unify two classes; the joined class holds tuples if either does, and keeps the first reason."""
        first, second = find_root(first), find_root(second)
        kinds = first.kind, second.kind
        super().unify(first, second)
        joined = find_root(first)
        if {first, second} & self._held_tuples or any(isinstance(kind, TupleType) for kind in kinds):
            self._held_tuples.add(joined)
        reason = self._first_reasons.get(first) or self._first_reasons.get(second)
        if joined.kind == OTHER:
            self._first_reasons.setdefault(joined, reason or self._reason(*kinds))

    def _reason(self, kind_before: Kind, kind: Kind) -> tuple[str, Span | None]:
        """Return the reason why two kinds have no common one, with the place of the node that joins them."""
        node = self.current_node
        span = None if node is None else node.span
        if is_item(kind_before) and is_item(kind):
            return f"items are {_kind_text(kind_before)} and {_kind_text(kind)}", span
        if is_item(kind_before):
            return f"{_kind_text(kind_before)} is one item, and another is no number or tuple of numbers", span
        if node is None:
            return "it is returned, or comes from outside", None
        operation = operation_key(node)
        for prefix in ("object_", "apply.", "method.", "build."):
            operation = operation.removeprefix(prefix)
        return f"{operation} has no native form for these operands", span

    def _ban_sites(self, alias_class: AliasClass) -> None:
        """Ban the sites, and record the first reason for lists that hold tuples."""
        super()._ban_sites(alias_class)
        classes = [find_root(alias_class)]
        while classes[-1].content is not None and find_root(classes[-1].content) not in classes:
            classes.append(find_root(classes[-1].content))
        reason = next((self._first_reasons[each] for each in classes if each in self._first_reasons), None)
        holds_tuples = isinstance(classes[-1].kind, TupleType) or classes[-1] in self._held_tuples
        for site in classes[0].sites if reason is not None and holds_tuples else ():
            self.reasons.setdefault(site, reason)  # type: ignore[arg-type]


def _kind_text(kind: Kind) -> str:
    """Return the kind of an item as text, such as (int, float)."""
    if isinstance(kind, TupleType):
        return f"({', '.join(_kind_text(item) for item in kind.items)}{',' * (len(kind.items) == 1)})"  # type: ignore[arg-type]
    assert isinstance(kind, TensorType)
    if not kind.weak:
        return kind.dtype.name
    return "bool" if kind.dtype.is_bool else "int" if kind.dtype.is_integer else "float"
