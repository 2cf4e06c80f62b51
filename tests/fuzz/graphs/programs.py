"""Writes functions over graphs of objects: `program(head, held, table, pair, other, k)`, and the globals of some."""

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
    """Knows which names hold nodes ("n"), nodes or None ("m"), lists of nodes ("l"), numbers ("i")."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.few = self.random.random() < 0.3  # one chain, numbers that decide, and little else
        self.style = self.random.choice(DATACLASSES if self.few else list(STYLES))
        self.frozen = self.style == "frozen"
        self.names: dict[str, list[str]] = {"m": ["head"], "n": [], "l": ["held"], "i": ["k"], "x": ["pair", "other"]}
        self.outside = self.random.random() < (0.1 if self.few else 0.35)  # it uses the globals
        if self.outside:
            self.names["m"] += ["FIRST", "FIRST"]
            self.names["l"] += ["MANY"]
        self.leaves = self.random.choice([0.0, 0.0, 0.15, 0.4])  # how often an arm returns
        self.count = 0

    def source(self) -> str:
        lines = self.block(0, self.random.randint(1, 6))
        lines.append(f"return {self.result()}")
        body = "\n".join("    " + line for line in lines)
        helpers = _HELPERS if not self.frozen else _HELPERS.partition("def insert")[0]
        prelude = PRELUDE.replace("{node}", STYLES[self.style])
        return f"{prelude}{helpers}def program(head, held, table, pair, other, k):\n{body}\n"

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def new(self, kind: str) -> str:
        self.count += 1
        name = f"{kind}{self.count}"
        self.names[kind].append(name)
        return name

    def maybe(self) -> str:
        """A node or None."""
        some = [*self.names["m"], *self.names["m"], *self.names["n"], *self.names["n"]]
        one = self.random.choice(some)
        return self.random.choice([*some, f"{one}.next", f"table.get('k{self.random.randint(0, 3)}')"])

    def node(self) -> str:
        """A node, or what raises where it is none."""
        some = [*self.names["n"], *self.names["n"], *self.names["m"]]
        choices = [*some, *some, f"{self.random.choice(some)}.next", f"{self.random.choice(some)}.last()"]
        items = self.random.choice(self.names["l"])
        choices += [f"{items}[{self.random.choice(['0', '-1', '1', 'k'])}]", "table['k0']", f"Node({self.number()})"]
        return self.random.choice(choices)

    def number(self) -> str:
        i = self.random.choice(self.names["i"])
        choices = [i, i, "1", f"{i} + 1", f"len({self.random.choice(self.names['l'])})"]
        if self.names["n"]:
            choices += [f"{self.random.choice(self.names['n'])}.value", f"{self.random.choice(self.names['n'])}.double"]
        return self.random.choice(choices)

    def nodes(self) -> str:
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
                f"{self.number()} > {self.number()}", f"{self.maybe()} is None", f"{self.maybe()} is {self.maybe()}",
                f"{n}.value > k", f"{self.maybe()} is not None", f"{n} in {self.random.choice(self.names['l'])}",
                "pair is other", f"{self.maybe()}", f"{self.random.choice(self.names['l'])}", "k % 2 == 0", "k > 1",
                f"{n} == {self.node()}", "'k1' in table", "isinstance(pair, tuple)",
            ]
        )  # fmt: skip

    def block(self, depth: int, length: int) -> list[str]:
        before = {kind: list(names) for kind, names in self.names.items()}
        lines: list[str] = []
        for _ in range(length):
            lines += self.statement(depth)
        if depth and self.random.random() < self.leaves:
            lines.append(f"return {self.pick(self.number(), self.result(), 'None')}")
        if depth:
            self.names = before
        return lines

    def statement(self, depth: int) -> list[str]:
        choice = self.random.random()
        if self.few:
            return self.decided(depth) if depth < 2 and choice < 0.4 else self.small()
        if depth < 2 and choice < 0.22:
            return self.compound(depth)
        if choice < 0.4:
            return self.walk()
        if choice < 0.62:
            return self.assign()
        return self.change()

    def decided(self, depth: int) -> list[str]:
        """A branch or loop that a number of the call decides."""
        heads = [f"if k {self.pick('>', '<', '==')} {self.pick('1', '2', '3')}:", "for _ in range(k):"]
        heads.append(f"if {self.single()}.value {self.pick('>', '<')} {self.number()}:")
        return [self.random.choice(heads), *_in(self.block(depth + 1, self.random.randint(1, 3)))]

    def small(self) -> list[str]:
        """A write of an attribute, a name for a node or for a list of one, or a walk."""
        if self.random.random() < 0.25:
            return self.walk()
        n = self.single()
        if self.random.random() < 0.5:
            texts = [f"{n}.value = {self.number()}", f"{n}.value += {self.number()}", f"{n}.next = {self.single()}",
                     f"both({n}, Node(k))", f"{n}.other = Node({self.number()})", f"{n}.add(k)"]  # fmt: skip
            return [self.random.choice(texts)]
        known = self.random.choice([*self.names["n"], "new"])
        text = self.pick(self.single(), f"Node({self.number()})")
        if self.random.random() < 0.4:
            return [f"{self.pick('held', self.new('l'))} = [{', '.join([text, n][: self.random.randint(1, 2)])}]"]
        return [f"{self.new('n') if known == 'new' else known} = {text}"]

    def single(self) -> str:
        some = [*self.names["n"], "head", "head"]
        return self.random.choice([*some, *some, "head.next", "head.last()", *(["FIRST"] if self.outside else [])])

    def compound(self, depth: int) -> list[str]:
        kind = self.pick("if", "if", "for", "for", "range", "try")
        if kind == "if":
            lines = [f"if {self.condition()}:", *_in(self.block(depth + 1, self.random.randint(1, 2)))]
            if self.random.random() < 0.5:
                lines += ["else:", *_in(self.block(depth + 1, 1))]
            return lines
        if kind == "try":
            lines = ["try:", *_in(self.block(depth + 1, 2))]
            return [*lines, "except (AttributeError, IndexError, KeyError, TypeError):", *_in(self.block(depth + 1, 1))]
        if kind == "range":
            self.count += 1
            return [f"for j{self.count} in range({self.pick('2', 'k', '5')}):", *_in(self.block(depth + 1, 2))]
        before = {kind: list(names) for kind, names in self.names.items()}
        items = self.pick(f"list({self.random.choice(self.names['l'])})", "table.values()", self.nodes())
        name = self.new("n")
        lines = [f"for {name} in {items}:", *_in(self.block(depth + 1, 2))]
        self.names = before
        return lines

    def walk(self) -> list[str]:
        start = self.maybe()
        kind = self.random.choice(["sum", "steps", "find", "seen", "reverse", "collect", "deque"])
        if self.few:
            start, kind = self.single(), self.pick("seen", "seen", "collect", "sum", "steps")
        if kind == "steps":
            name = self.new("m")
            return [f"{name} = {start}", f"for _ in range({self.number()}):", f"    if {name} is None:",
                    "        break", f"    {name} = {name}.{self.pick('next', 'next', 'other')}"]  # fmt: skip
        if kind == "find":
            name = self.new("m")
            turns = f"c{self.count}"
            least = self.number()
            return [f"{name}, {turns} = {start}, 0",
                    f"while {name} is not None and {name}.value < {least} and {turns} < 70:",
                    f"    {name} = {name}.next", f"    {turns} += 1"]  # fmt: skip
        if kind == "seen":
            one, items = f"w{self.count}", self.new("l")
            return [f"{one}, {items}, ids = {start}, [], set()", f"while {one} is not None and id({one}) not in ids:",
                    f"    ids.add(id({one}))", f"    {items}.append({one})", f"    {one} = {one}.next"]  # fmt: skip
        if kind == "collect":
            one, items = f"w{self.count}", self.new("l")
            return [f"{one}, {items} = {start}, []", f"while {one} is not None and len({items}) < 65:",
                    f"    if {one}.value {self.pick('>', '<', '!=')} {self.number()}:",
                    f"        {items}.append({one})", f"    {one} = {one}.next"]  # fmt: skip
        if kind == "deque":
            one, items = f"w{self.count}", self.new("l")
            return [f"queue, {items} = deque([{start}]), []", f"while queue and len({items}) < 30:",
                    f"    {one} = queue.popleft()", f"    if {one} is None:", "        continue",
                    f"    {items}.append({one})",
                    f"    queue.extend([{one}.next, {one}.other, *{one}.links])"]  # fmt: skip
        if kind == "reverse" and not self.frozen:
            name, one = self.new("m"), f"w{self.count}"
            turns = f"c{self.count}"
            return [f"{name}, {one}, {turns} = None, {start}, 0", f"while {one} is not None and {turns} < 90:",
                    f"    {one}.next, {name}, {one} = {name}, {one}, {one}.next", f"    {turns} += 1"]  # fmt: skip
        one, sums = f"w{self.count}", self.new("i")
        turns = f"c{self.count}"
        return [f"{one}, {sums}, {turns} = {start}, 0, 0", f"while {one} is not None and {turns} < 80:",
                f"    {sums} += {one}.value", f"    {one} = {one}.next", f"    {turns} += 1"]  # fmt: skip

    def assign(self) -> list[str]:
        kind = self.random.choice("nnmllix")
        if kind == "n":
            text = self.pick(self.node(), self.node(), f"Node({self.number()}, {self.maybe()})")
        elif kind == "m":
            text = self.pick(self.maybe(), f"({self.maybe()} if {self.condition()} else {self.maybe()})")
        elif kind == "l":
            text = self.nodes()
        elif kind == "i":
            items = self.random.choice(self.names["l"])
            text = self.pick(
                f"total({self.maybe()})", f"sum(x.value for x in {items})", f"max({self.number()}, {self.number()})",
                f"len([x for x in {items} if x.value > {self.number()}])", f"{self.number()} + {self.number()}",
                f"min((x.value for x in {items}), default=0)", f"len({self.nodes()})",
            )
        else:
            text = self.pick(
                f"Pair({self.node()}, {self.number()})", f"({self.maybe()}, {self.maybe()})",
                f"Holder({self.maybe()}, k)",
                f"{{x.value: x for x in {self.nodes()}}}", "dict(table)", "(pair, other)", "[pair, pair]",
                f"{{name: node for name, node in table.items() if node.value > {self.number()}}}",
                f"Bag({self.nodes()})", f"OrderedDict((x.value, x) for x in {self.nodes()})", f"Table(a={self.node()})",
                f"max({self.nodes()}, key=lambda x: x.value, default=None)", f"deque({self.nodes()})",
            )
        return [f"{self.new(kind)} = {text}"]

    def change(self) -> list[str]:
        n, items = self.node(), self.random.choice(self.names["l"])
        texts = [
            f"{items}.append({n})", f"{items}.reverse()", f"{items}.sort(key=lambda x: x.value)",
            f"table['k{self.random.randint(0, 2)}'] = {n}", f"{items}[{self.pick('0', '-1', 'k')}] = {n}",
            f"del {items}[{self.pick('0', '-1', ':2')}]", f"{items}.insert(k, {n})",
            f"{items}.remove({n})", f"{n}.links.append({self.maybe()})", "table.pop('k0', None)",
            f"{items}.extend({self.nodes()}[:3])",
        ]  # fmt: skip
        if self.random.random() < 0.2:
            return [self.random.choice(texts)]
        if self.frozen:
            return [f"{self.new('n')} = replace({n}, value={self.number()})"]
        rest = self.new("m") if self.random.random() < 0.3 else None
        if rest is not None:
            return [f"{rest} = {n}.next", f"{self.node()}.next = {self.pick('None', self.maybe())}"]
        texts = [
            f"{n}.value = {self.number()}", f"{n}.value += {self.number()}",
            f"{n}.next = Node({self.number()}, {self.maybe()})", f"{n}.other = {self.maybe()}",
            f"{n}.next = {self.maybe()}", f"{n}.next = {self.node()}.other = Node({self.number()})",
            f"{n}.next, {self.node()}.next = {self.node()}.next, {n}.next", f"insert({n}, {self.number()})",
            f"both({n}, {self.node()})", f"{n}.add({self.number()})", f"{n}.links = {self.nodes()}",
            f"{n}.links = pair", f"{n}.links = {items}",
            f"{n}.extra = {self.number()}", f"{n}.other = {n}", f"{items}[0].next = {items}[-1]",
        ]  # fmt: skip
        return [self.random.choice(texts)]

    def result(self) -> str:
        names = [name for kind in "nmlix" for name in self.names[kind]]
        some = [self.random.choice(names) for _ in range(self.random.randint(1, 3))]
        if self.few:
            lists = [name for name in self.names["l"] if name != "held"]
            some = [self.random.choice([*lists, *self.names["n"], "head", "[head]", "k"]) for _ in some]
        if self.random.random() < 0.4:
            some.append(self.pick(self.nodes(), self.node(), self.maybe(), "pair", "table", self.number()))
        if self.random.random() < 0.2:
            return self.pick(f"[{', '.join(some)}]", f"{{'a': {some[0]}, 'b': {some[-1]}}}", f"Holder({some[0]})")
        return ", ".join(some)


def _in(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
