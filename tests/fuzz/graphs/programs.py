"""Random functions over graphs of objects: `program(head, held, table, pair, other, k)`, some with globals."""

from __future__ import annotations

import random

from graphs.classes import DATACLASSES, PRELUDE, STYLES

_HELPERS = """
def total(node, depth=0):
    if node is None or depth > 12:
        return 0
    return node.value + total(node.next, depth + 1)


def insert(node, value):
    if node is None:
        return Node(value)
    if value < node.value and node.next is not None and node.next.value < node.value:
        node.next = insert(node.next, value)
    else:
        node.next = Node(value, node.next)
    return node


def both(one, two):
    one.value, two.value = two.value, one.value
    return one


"""


class Writer:
    """A writer of such functions. By kind of value, it has the names of nodes ("n"), of nodes or None ("m"), of lists
    of nodes ("l"), of numbers ("i"), and of other values ("x")."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.is_simple = self.random.random() < 0.3  # one chain of nodes, conditions on numbers
        self.style = self.random.choice(DATACLASSES if self.is_simple else list(STYLES))
        self.frozen = self.style == "frozen"
        self.names: dict[str, list[str]] = {"m": ["head"], "n": [], "l": ["held"], "i": ["k"], "x": ["pair", "other"]}
        self.uses_globals = self.random.random() < (0.1 if self.is_simple else 0.35)
        if self.uses_globals:
            self.names["m"] += ["FIRST", "FIRST"]
            self.names["l"] += ["MANY"]
        self.return_share = self.random.choice([0.0, 0.0, 0.15, 0.4])  # the share of nested blocks that return
        self.name_count = 0

    def source(self) -> str:
        lines = self.block(0, self.random.randint(1, 6))
        lines.append(f"return {self.result()}")
        body = "\n".join("    " + line for line in lines)
        helpers = _HELPERS if not self.frozen else _HELPERS.partition("def insert")[0]
        prelude = PRELUDE.replace("{node}", STYLES[self.style])
        return f"{prelude}{helpers}def program(head, held, table, pair, other, k):\n{body}\n"

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def new_name(self, kind: str) -> str:
        self.name_count += 1
        name = f"{kind}{self.name_count}"
        self.names[kind].append(name)
        return name

    def optional_node(self) -> str:
        """A node or None."""
        names = [*self.names["m"], *self.names["m"], *self.names["n"], *self.names["n"]]
        node = self.random.choice(names)
        return self.random.choice([*names, f"{node}.next", f"table.get('k{self.random.randint(0, 3)}')"])

    def node(self) -> str:
        """An expression of a node; it may raise where a value is no node."""
        names = [*self.names["n"], *self.names["n"], *self.names["m"]]
        choices = [*names, *names, f"{self.random.choice(names)}.next", f"{self.random.choice(names)}.last()"]
        items = self.random.choice(self.names["l"])
        choices += [f"{items}[{self.random.choice(['0', '-1', '1', 'k'])}]", "table['k0']", f"Node({self.number()})"]
        return self.random.choice(choices)

    def number(self) -> str:
        i = self.random.choice(self.names["i"])
        choices = [i, i, "1", f"{i} + 1", f"len({self.random.choice(self.names['l'])})"]
        if self.names["n"]:
            choices += [f"{self.random.choice(self.names['n'])}.value", f"{self.random.choice(self.names['n'])}.double"]
        return self.random.choice(choices)

    def node_list(self) -> str:
        """A list of nodes."""
        items = self.random.choice(self.names["l"])
        number = self.number()
        return self.random.choice(
            [
                items, f"[x for x in {items} if x.value > {number}]", f"sorted({items}, key=lambda x: x.value)",
                f"list(filter(lambda x: x.value % 2, {items}))", f"{items}[::-1]", f"{items}[:{number}]",
                f"[x.next for x in {items} if x.next is not None]", f"list({items})", "list(table.values())",
                f"sorted({items}, key=lambda x: -x.value)[:3]", f"[Node(x.value) for x in {items}]",
                f"[x.last() for x in {items}]", f"[x for x in {items} for y in x.links if y is not x]",
                f"[{self.node()}, {self.node()}]", f"{items} + [{self.node()}]",
            ]
        )  # fmt: skip

    def condition(self) -> str:
        n = self.node()
        return self.random.choice(
            [
                f"{self.number()} > {self.number()}", f"{self.optional_node()} is None",
                f"{self.optional_node()} is {self.optional_node()}",
                f"{n}.value > k", f"{self.optional_node()} is not None",
                f"{n} in {self.random.choice(self.names['l'])}",
                "pair is other", f"{self.optional_node()}", f"{self.random.choice(self.names['l'])}",
                "k % 2 == 0", "k > 1",
                f"{n} == {self.node()}", "'k1' in table", "isinstance(pair, tuple)",
            ]
        )  # fmt: skip

    def block(self, depth: int, length: int) -> list[str]:
        outer_names = {kind: list(names) for kind, names in self.names.items()}
        lines: list[str] = []
        for _ in range(length):
            lines += self.statement(depth)
        if depth and self.random.random() < self.return_share:
            lines.append(f"return {self.one_of(self.number(), self.result(), 'None')}")
        if depth:
            self.names = outer_names
        return lines

    def statement(self, depth: int) -> list[str]:
        choice = self.random.random()
        if self.is_simple:
            return self.compound_on_number(depth) if depth < 2 and choice < 0.4 else self.simple_statement()
        if depth < 2 and choice < 0.22:
            return self.compound(depth)
        if choice < 0.4:
            return self.walk()
        if choice < 0.62:
            return self.assign()
        return self.write()

    def compound_on_number(self, depth: int) -> list[str]:
        """A branch or a loop that depends on a number of the call."""
        heads = [f"if k {self.one_of('>', '<', '==')} {self.one_of('1', '2', '3')}:", "for _ in range(k):"]
        heads.append(f"if {self.simple_node()}.value {self.one_of('>', '<')} {self.number()}:")
        return [self.random.choice(heads), *_indent(self.block(depth + 1, self.random.randint(1, 3)))]

    def simple_statement(self) -> list[str]:
        """A write of an attribute, an assignment of a node or of a list of nodes, or a walk."""
        if self.random.random() < 0.25:
            return self.walk()
        n = self.simple_node()
        if self.random.random() < 0.5:
            texts = [f"{n}.value = {self.number()}", f"{n}.value += {self.number()}",
                     f"{n}.next = {self.simple_node()}",
                     f"both({n}, Node(k))", f"{n}.other = Node({self.number()})", f"{n}.add(k)"]  # fmt: skip
            return [self.random.choice(texts)]
        target = self.random.choice([*self.names["n"], "new"])
        text = self.one_of(self.simple_node(), f"Node({self.number()})")
        if self.random.random() < 0.4:
            name, items = self.one_of("held", self.new_name("l")), [text, n][: self.random.randint(1, 2)]
            return [f"{name} = [{', '.join(items)}]"]
        return [f"{self.new_name('n') if target == 'new' else target} = {text}"]

    def simple_node(self) -> str:
        names = [*self.names["n"], "head", "head"]
        names += [*names, "head.next", "head.last()"]
        return self.random.choice([*names, "FIRST"] if self.uses_globals else names)

    def compound(self, depth: int) -> list[str]:
        kind = self.one_of("if", "if", "for", "for", "range", "try")
        if kind == "if":
            lines = [f"if {self.condition()}:", *_indent(self.block(depth + 1, self.random.randint(1, 2)))]
            if self.random.random() < 0.5:
                lines += ["else:", *_indent(self.block(depth + 1, 1))]
            return lines
        if kind == "try":
            lines = ["try:", *_indent(self.block(depth + 1, 2))]
            handler = self.block(depth + 1, 1)
            return [*lines, "except (AttributeError, IndexError, KeyError, TypeError):", *_indent(handler)]
        if kind == "range":
            self.name_count += 1
            head = f"for j{self.name_count} in range({self.one_of('2', 'k', '5')}):"
            return [head, *_indent(self.block(depth + 1, 2))]
        outer_names = {kind: list(names) for kind, names in self.names.items()}
        items = self.one_of(f"list({self.random.choice(self.names['l'])})", "table.values()", self.node_list())
        name = self.new_name("n")
        lines = [f"for {name} in {items}:", *_indent(self.block(depth + 1, 2))]
        self.names = outer_names
        return lines

    def walk(self) -> list[str]:
        start = self.optional_node()
        kind = self.random.choice(["sum", "steps", "find", "seen", "reverse", "collect", "deque"])
        if self.is_simple:
            start, kind = self.simple_node(), self.one_of("seen", "seen", "collect", "sum", "steps")
        if kind == "steps":
            name = self.new_name("m")
            return [f"{name} = {start}", f"for _ in range({self.number()}):", f"    if {name} is None:",
                    "        break", f"    {name} = {name}.{self.one_of('next', 'next', 'other')}"]  # fmt: skip
        if kind == "find":
            name = self.new_name("m")
            counter = f"c{self.name_count}"
            limit = self.number()
            return [f"{name}, {counter} = {start}, 0",
                    f"while {name} is not None and {name}.value < {limit} and {counter} < 70:",
                    f"    {name} = {name}.next", f"    {counter} += 1"]  # fmt: skip
        if kind == "seen":
            node, items = f"w{self.name_count}", self.new_name("l")
            return [f"{node}, {items}, ids = {start}, [], set()",
                    f"while {node} is not None and id({node}) not in ids:",
                    f"    ids.add(id({node}))", f"    {items}.append({node})", f"    {node} = {node}.next"]  # fmt: skip
        if kind == "collect":
            node, items = f"w{self.name_count}", self.new_name("l")
            return [f"{node}, {items} = {start}, []", f"while {node} is not None and len({items}) < 65:",
                    f"    if {node}.value {self.one_of('>', '<', '!=')} {self.number()}:",
                    f"        {items}.append({node})", f"    {node} = {node}.next"]  # fmt: skip
        if kind == "deque":
            node, items = f"w{self.name_count}", self.new_name("l")
            return [f"queue, {items} = deque([{start}]), []", f"while queue and len({items}) < 30:",
                    f"    {node} = queue.popleft()", f"    if {node} is None:", "        continue",
                    f"    {items}.append({node})",
                    f"    queue.extend([{node}.next, {node}.other, *{node}.links])"]  # fmt: skip
        if kind == "reverse" and not self.frozen:
            name, node = self.new_name("m"), f"w{self.name_count}"
            counter = f"c{self.name_count}"
            return [f"{name}, {node}, {counter} = None, {start}, 0", f"while {node} is not None and {counter} < 90:",
                    f"    {node}.next, {name}, {node} = {name}, {node}, {node}.next",
                    f"    {counter} += 1"]  # fmt: skip
        node, total = f"w{self.name_count}", self.new_name("i")
        counter = f"c{self.name_count}"
        return [f"{node}, {total}, {counter} = {start}, 0, 0", f"while {node} is not None and {counter} < 80:",
                f"    {total} += {node}.value", f"    {node} = {node}.next", f"    {counter} += 1"]  # fmt: skip

    def assign(self) -> list[str]:
        kind = self.random.choice("nnmllix")
        if kind == "n":
            text = self.one_of(self.node(), self.node(), f"Node({self.number()}, {self.optional_node()})")
        elif kind == "m":
            node, body, condition, other = (
                self.optional_node(), self.optional_node(), self.condition(), self.optional_node(),
            )  # fmt: skip
            text = self.one_of(node, f"({body} if {condition} else {other})")
        elif kind == "l":
            text = self.node_list()
        elif kind == "i":
            items = self.random.choice(self.names["l"])
            text = self.one_of(
                f"total({self.optional_node()})",
                f"sum(x.value for x in {items})",
                f"max({self.number()}, {self.number()})",
                f"len([x for x in {items} if x.value > {self.number()}])", f"{self.number()} + {self.number()}",
                f"min((x.value for x in {items}), default=0)", f"len({self.node_list()})",
            )
        else:
            text = self.one_of(
                f"Pair({self.node()}, {self.number()})", f"({self.optional_node()}, {self.optional_node()})",
                f"Holder({self.optional_node()}, k)",
                f"{{x.value: x for x in {self.node_list()}}}", "dict(table)", "(pair, other)", "[pair, pair]",
                f"{{name: node for name, node in table.items() if node.value > {self.number()}}}",
                f"Bag({self.node_list()})", f"OrderedDict((x.value, x) for x in {self.node_list()})",
                f"Table(a={self.node()})",
                f"max({self.node_list()}, key=lambda x: x.value, default=None)", f"deque({self.node_list()})",
            )
        return [f"{self.new_name(kind)} = {text}"]

    def write(self) -> list[str]:
        n, items = self.node(), self.random.choice(self.names["l"])
        texts = [
            f"{items}.append({n})", f"{items}.reverse()", f"{items}.sort(key=lambda x: x.value)",
            f"table['k{self.random.randint(0, 2)}'] = {n}", f"{items}[{self.one_of('0', '-1', 'k')}] = {n}",
            f"del {items}[{self.one_of('0', '-1', ':2')}]", f"{items}.insert(k, {n})",
            f"{items}.remove({n})", f"{n}.links.append({self.optional_node()})", "table.pop('k0', None)",
            f"{items}.extend({self.node_list()}[:3])",
        ]  # fmt: skip
        if self.random.random() < 0.2:
            return [self.random.choice(texts)]
        if self.frozen:
            return [f"{self.new_name('n')} = replace({n}, value={self.number()})"]
        rest = self.new_name("m") if self.random.random() < 0.3 else None
        if rest is not None:
            return [f"{rest} = {n}.next", f"{self.node()}.next = {self.one_of('None', self.optional_node())}"]
        texts = [
            f"{n}.value = {self.number()}", f"{n}.value += {self.number()}",
            f"{n}.next = Node({self.number()}, {self.optional_node()})", f"{n}.other = {self.optional_node()}",
            f"{n}.next = {self.optional_node()}", f"{n}.next = {self.node()}.other = Node({self.number()})",
            f"{n}.next, {self.node()}.next = {self.node()}.next, {n}.next", f"insert({n}, {self.number()})",
            f"both({n}, {self.node()})", f"{n}.add({self.number()})", f"{n}.links = {self.node_list()}",
            f"{n}.links = pair", f"{n}.links = {items}",
            f"{n}.extra = {self.number()}", f"{n}.other = {n}", f"{items}[0].next = {items}[-1]",
        ]  # fmt: skip
        return [self.random.choice(texts)]

    def result(self) -> str:
        names = [name for kind in "nmlix" for name in self.names[kind]]
        parts = [self.random.choice(names) for _ in range(self.random.randint(1, 3))]
        if self.is_simple:
            lists = [name for name in self.names["l"] if name != "held"]
            parts = [self.random.choice([*lists, *self.names["n"], "head", "[head]", "k"]) for _ in parts]
        if self.random.random() < 0.4:
            nodes, node, optional = self.node_list(), self.node(), self.optional_node()
            parts.append(self.one_of(nodes, node, optional, "pair", "table", self.number()))
        if self.random.random() < 0.2:
            return self.one_of(f"[{', '.join(parts)}]", f"{{'a': {parts[0]}, 'b': {parts[-1]}}}", f"Holder({parts[0]})")
        return ", ".join(parts)


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
