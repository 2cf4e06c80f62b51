"""Variants of the classes of such programs, and graphs of their objects as arguments."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

# Variants of a class of nodes: its name is Node, its attributes value, next, other and links.
_FIELDS = """    value: int
    next: object = None
    other: object = None
    links: list = field(default_factory=list)
"""
_BODY = """        self.value = value
        self.next = next
        self.other = other
        self.links = [] if links is None else links
"""
_INIT = f"    def __init__(self, value, next=None, other=None, links=None):\n{_BODY}"
_PREPARED = "    def __post_init__(self):\n        self.value = self.value * 2\n"
_EQUAL = """    def __eq__(self, other):
        return isinstance(other, Node) and self.value == other.value

    __hash__ = None
"""
_LESS = "    def __lt__(self, other):\n        return self.value < other.value\n"
_METHODS = """
    def last(self):
        node, count = self, 0
        while node.next is not None and count < 40:
            node = node.next
            count += 1
        return node

    def add(self, value):
        self.links.append(value)
        self.value += value
        return self

    @property
    def double(self):
        return self.value * 2
"""
STYLES: dict[str, str] = {
    "dataclass": f"@dataclass\nclass Node:\n{_FIELDS}{_METHODS}",
    "by identity": f"@dataclass(eq=False)\nclass Node:\n{_FIELDS}{_METHODS}",
    "ordered": f"@dataclass(order=True)\nclass Node:\n{_FIELDS}{_METHODS}",
    "with slots": f"@dataclass(slots=True, eq=False)\nclass Node:\n{_FIELDS}{_METHODS}",
    "frozen": f"@dataclass(frozen=True)\nclass Node:\n{_FIELDS}{_METHODS}",
    "prepared": f"@dataclass(eq=False)\nclass Node:\n{_FIELDS}\n{_PREPARED}{_METHODS}",
    "constructed": f"@dataclass(eq=False)\nclass Node:\n{_FIELDS}\n{_INIT}        self.value += 1\n{_METHODS}",
    "plain": f"class Node:\n{_INIT}{_METHODS}",
    "slots": f"class Node:\n    __slots__ = ('value', 'next', 'other', 'links')\n\n{_INIT}{_METHODS}",
    "equal": f"class Node:\n{_INIT}\n{_EQUAL}\n{_LESS}{_METHODS}",
    "inherits": f"class Base:\n{_INIT}\n\nclass Node(Base):\n    kind = 'leaf'\n{_METHODS}",
    "list": f"class Node(list):\n{_INIT}{_METHODS}",
    "dict": f"class Node(dict):\n{_INIT}{_METHODS}",
}
DATACLASSES = ("dataclass", "by identity", "ordered", "with slots", "prepared", "constructed")
PRELUDE = """from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field, replace

Pair = namedtuple("Pair", "left right")


class Bag(list):
    pass


class Table(dict):
    pass


{node}

@dataclass
class Holder:
    node: object
    count: int = 0


FIRST, MANY = None, []

"""
SIZES = (0, 1, 2, 3, 5, 8, 17, 40, 60)


class Maker:
    """A source of random graphs of the objects of a module."""

    def __init__(self, names: dict[str, Any], seed: int) -> None:
        self.random = random.Random(seed)
        self.names = names
        self.node: Callable[..., Any] = names["Node"]
        self.frozen = getattr(getattr(self.node, "__dataclass_params__", None), "frozen", False)

    def set(self, node: Any, name: str, value: Any) -> None:
        object.__setattr__(node, name, value)

    def nodes(self, size: int) -> list[Any]:
        return [self.node(self.random.randint(-4, 9)) for _ in range(size)]

    def chain(self, size: int) -> list[Any]:
        """Nodes in a chain. Some hold the previous or another node; the last may hold the first."""
        nodes = self.nodes(size)
        kind = self.random.choice(["list", "list", "doubly", "random", "cycle", "itself"])
        for previous, following in itertools.pairwise(nodes):
            self.set(previous, "next", following)
            if kind == "doubly":
                self.set(following, "other", previous)
        for node in nodes:
            if kind == "random" and self.random.random() < 0.4:
                self.set(node, "other", self.random.choice(nodes))
            if kind == "itself" and self.random.random() < 0.3:
                self.set(node, "other", node)
        if kind == "cycle" and nodes:
            self.set(nodes[-1], "next", self.random.choice(nodes))
        return nodes

    def tree(self, size: int) -> list[Any]:
        """A tree: `next` and `other` are children; the links of a node are its parent, or all nodes that hold it."""
        nodes = self.nodes(size)
        for position, node in enumerate(nodes):
            children = [nodes[at] if at < size else None for at in (2 * position + 1, 2 * position + 2)]
            self.set(node, "next", children[0])
            self.set(node, "other", children[1])
            for child in children:
                if child is not None and size % 2:
                    child.links.append(node)
        return nodes

    def graph(self, size: int) -> list[Any]:
        """Nodes with lists of others."""
        nodes = self.nodes(size)
        for node in nodes:
            node.links.extend(self.random.choices(nodes, k=self.random.randint(0, 3)))
        return nodes

    def arguments(self, size: int) -> tuple[Any, ...]:
        """Return a node or None, a list of nodes, a dict of nodes, two structures (perhaps one object), a number."""
        if self.random.random() < 0.45:
            return self.separate_nodes(min(size, 5))
        nodes = self.random.choice([self.chain, self.chain, self.tree, self.graph])(size)
        head = nodes[0] if nodes else None
        listed = nodes if self.random.random() < 0.7 else [*nodes, *nodes[:2]]
        if self.random.random() < 0.25:
            listed = self.names["Bag"](listed)
        table = {f"k{at}": node for at, node in enumerate(nodes[: self.random.randint(0, 6)])}
        if self.random.random() < 0.3:
            table = self.names[self.random.choice(["Table", "OrderedDict"])](table)
        pair = self.structure(nodes)
        other = pair if self.random.random() < 0.5 else self.structure(nodes)
        arguments: list[Any] = [head, listed, table, pair, other]
        if self.random.random() < 0.6:  # objects in one argument only
            position = self.random.randrange(5)
            arguments = [*self.empty()[:position], arguments[position], *self.empty()[position + 1 :]]
        return (*arguments, self.random.randint(-2, 6))

    def separate_nodes(self, size: int, chain_probability: float = 0.6) -> tuple[Any, ...]:
        """A few nodes without shared references, which a trace passes attribute by attribute."""
        nodes = self.nodes(size)
        arguments = self.empty()
        if self.random.random() < chain_probability:
            for previous, following in itertools.pairwise(nodes):
                self.set(previous, "next", following)
            arguments[0] = nodes[0] if nodes else None
        elif self.random.random() < 0.5:
            arguments[1] = nodes
        else:
            arguments[2] = {f"k{at}": node for at, node in enumerate(nodes)}
        return (*arguments, self.random.randint(-2, 6))

    def empty(self) -> list[Any]:
        return [None, [], {}, (1, 2.5), [2, 3]]

    def structure(self, nodes: list[Any]) -> Any:
        """A tuple, list, named tuple or object that contains nodes, or itself."""
        parts = self.random.choices(nodes, k=2) if nodes else [1, 2]
        kind = self.random.choice(["tuple", "list", "pair", "holder", "knot", "knot", "numbers", "nested"])
        if kind == "pair":
            return self.names["Pair"](*parts)
        if kind == "holder":
            return self.names["Holder"](parts[0])
        if kind == "numbers":
            return (1, 2.5)
        if kind == "nested":
            return ([parts[0]], (parts[1], 3))
        if kind == "knot":
            knot: list[Any] = [*parts]
            knot.append(knot)
            return knot
        return tuple(parts) if kind == "tuple" else parts


def set_globals(names: dict[str, Any], seed: int, size: int) -> None:
    """Set the global objects of the program: `FIRST`, a node or None, and the list `MANY` of nodes."""
    maker = Maker(names, seed)
    nodes = maker.random.choice([maker.chain, maker.tree, maker.graph])(size)
    names["FIRST"], names["MANY"] = nodes[0] if nodes else None, nodes


def arguments(names: dict[str, Any], seed: int, size: int, is_simple: bool = False) -> tuple[Any, ...]:
    maker = Maker(names, seed)
    return maker.separate_nodes(max(1, size % 4), 0.95) if is_simple else maker.arguments(size)
