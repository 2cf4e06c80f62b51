"""Expressions whose value is a list, dict, tuple, set, text, array or object, and iterables of loops."""

from __future__ import annotations

from grammar.numbers import Numbers


class Containers(Numbers):
    """A writer of such expressions. Lists have at least three items, so that an index modulo three is in range."""

    def list_of(self, depth: int) -> str:
        if depth <= 0:
            return self.read("list") or "[3, 1, 2]"
        d = depth - 1
        return self.choose([
            (2, "", lambda: self.list_of(0)),
            (1.5, "", lambda: f"[{self.integer(d)}, {self.integer(d)}, {self.int_atom()}]"),
            (0.5, "", lambda: f"({self.list_of(0)} + [{self.integer(d)}])"),
            (0.3, "", lambda: f"sorted({self.list_of(d)}{self.pick('', ', reverse=True')})"),
            (0.2, "lambdas", lambda: f"sorted({self.list_of(0)}, key=lambda t: {self.pick('-t', 't % 3', 'abs(t)')})"),
            (0.2, "", lambda: f"list({self.pick('reversed', 'tuple')}({self.list_of(0)}))"),
            (0.2, "", lambda: f"([{self.int_atom()}] * {self.pick('3', '4')})"),
            (0.2, "lambdas", lambda: f"list(map(lambda it: it + {self.int_atom()}, {self.list_of(0)}))"),
            (0.3, "", lambda: f"{self.list_of(0)}.copy()"),
            (0.2, "dicts", lambda: f"({self.pick('list(counts)', 'list(table.values())')} + [1, 2, 3])"),
            (0.3, "nested", lambda: f"(grid[{self.integer(d)} % 3] + [1])"),
            (0.5, "slices", lambda: f"{self.list_of(0)}[::{self.pick('1', '-1')}]"),
            (0.4, "starred", lambda: f"[*{self.list_of(0)}, {self.integer(d)}]"),
            (0.6, "comprehensions", lambda: f"[{self.integer(d)}, 0, *{self.comprehension(d, '[', ']')}]"
                if self.on("starred") else f"([1, 2, 3] + {self.comprehension(d, '[', ']')})"),
        ])  # fmt: skip

    def tuple_of(self, depth: int) -> str:
        if depth <= 0:
            return self.read("tuple") or "(1, 2)"
        d = depth - 1
        return self.pick(
            self.tuple_of(0), f"({self.integer(d)}, {self.integer(d)})", f"({self.int_atom()}, {self.integer(d)})"
        )

    def set_of(self, depth: int) -> str:
        if depth <= 0:
            return self.read("set") or "{1, 2}"
        d = depth - 1
        return self.choose([
            (2, "", lambda: self.set_of(0)),
            (1, "", lambda: f"{{{self.integer(d)}, {self.int_atom()}}}"),
            (0.5, "", lambda: f"({self.set_of(0)} {self.pick('|', '&', '-', '^')} {{{self.integer(d)}, 2}})"),
            (0.4, "lists", lambda: f"set({self.list_of(d)})"),
            (0.5, "comprehensions", lambda: self.comprehension(d, "{", "}")),
        ])  # fmt: skip

    def dict_of(self, depth: int) -> str:
        """A dict from small ints to ints."""
        d = depth - 1
        return self.choose([
            (1, "", lambda: f"{{0: {self.integer(d)}, {self.integer(d)} % 4: {self.int_atom()}}}"),
            (0.4, "starred", lambda: f"{{**counts, 3: {self.integer(d)}}}"),
            (0.3, "", lambda: f"dict([(1, {self.integer(d)})])"),
            (0.6, "comprehensions", lambda: self.dict_comprehension(d)),
        ])  # fmt: skip

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.read("str") or self.pick("'p'", "'up'")
        d = depth - 1
        return self.choose([
            (2, "", lambda: self.text(0)),
            (1, "", lambda: self.pick("'p'", "'q'", "'up'", "'x y'")),
            (0.5, "", lambda: f"({self.text(0)} + 'z')"),
            (0.6, "", lambda: f"str({self.integer(d)})"),
            (0.3, "", lambda: f"{self.text(0)}.{self.pick('upper()', 'strip()', 'title()')}"),
            (0.2, "", lambda: f"'%d-%s' % ({self.integer(d)}, {self.text(0)})"),
            (0.2, "", lambda: f"'{{}}/{{}}'.format({self.integer(d)}, {self.text(0)})"),
            (0.3, "lists", lambda: f"','.join(str(it) for it in {self.list_of(0)})"
                if self.on("generator_expressions") else "'lists'"),
            (0.2, "", lambda: f"({self.text(0)} * ({self.integer(d)} % 3))"),
            (0.2, "lists", lambda: f"'-'.join(['a', {self.text(0)}])"),
            (0.2, "dicts", lambda: "'/'.join(sorted(table))"),
            (0.2, "slices", lambda: f"{self.text(0)}[{self.pick('1:', '::-1', ':2')}]"),
            (0.3, "conditionals", lambda: f"({self.text(0)} if {self.condition(d)} else 'other')"),
            (1.5, "fstrings", lambda: self.fstring(d)),
        ])  # fmt: skip

    def fstring(self, d: int) -> str:
        name, text = self.int_atom(), self.read("str")
        parts = [f"{{{name}}}", f"{{{self.float_atom()}:.2f}}", f"{{{name}:>4}}", f"{{{name} + 1}}", f"{{{name}!r}}"]
        parts += [f"{{{text}}}"] * 2 if text else []
        return f'f"{self.pick("at ", "", "<")}{self.pick(*parts)}{self.pick("", ";", ">")}"'

    def array(self, depth: int) -> str:
        if depth <= 0:
            return self.read("array") or "v"
        d = depth - 1
        return self.choose([
            (2, "", lambda: self.array(0)),
            (1, "", lambda: f"({self.array(0)} {self.pick('+', '-', '*')} {self.integer(d)})"),
            (0.7, "", lambda: f"({self.array(0)} {self.pick('+', '-')} {self.array(0)})"),
            (0.4, "", lambda: f"{self.pick('-', 'abs')}({self.array(0)})"),
            (0.3, "slices", lambda: f"{self.array(0)}[::-1]"),
            (0.2, "", lambda: f"({self.array(0)} % {self.pick('3', '5')})"),
        ])  # fmt: skip

    def object_of(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.6):
            return "box"
        return f"Box({self.integer(depth - 1)})"

    def source(self, depth: int) -> str:
        """A short iterable of ints."""
        return self.choose([
            (2, "", lambda: f"range({self.rng.randint(2, 4)})"),
            (2, "", lambda: f"range({self.integer(depth - 1)} % {self.pick('4', '5')})"),
            (1, "", lambda: f"range({self.pick('1', '-1', '0')}, {self.rng.randint(2, 5)}{self.pick('', ', 2')})"),
            (0.4, "", lambda: f"range({self.rng.randint(2, 4)}, 0, -1)"),
            (0.5, "", lambda: f"({self.integer(depth - 1)}, {self.int_atom()})"),
            (1.5, "lists", lambda: self.list_of(depth)),
            (0.3, "lists", lambda: f"reversed({self.list_of(0)})"),
            (0.4, "dicts", lambda: self.pick("table.values()", "counts", "list(counts)")),
            (0.4, "sets", lambda: f"sorted({self.set_of(depth)})"),
            (0.3, "tuples", lambda: self.tuple_of(depth)),
            (0.4, "arrays", lambda: f"{self.array(depth)}.tolist()"),
            (1.5, "generators", lambda: self.stream(depth)),
            (0.5, "generator_expressions", lambda: f"({self.int_clauses(depth)})"),
            (0.3, "objects dunders", lambda: "box"),
            (0.3, "nested", lambda: f"grid[{self.integer(depth - 1)} % 3]"),
            (0.2, "nested tuples", lambda: "(it[0] for it in grid)" if self.on("generator_expressions") else "(1, 2)"),
            (0.3, "lambdas", lambda: f"filter(lambda t: t != {self.int_atom()}, {self.pick('range(4)', '(1, 2)')})"),
        ])  # fmt: skip

    def stream(self, d: int) -> str:
        return self.rng.choice(self.scope.streams)(d) if self.scope.streams else "range(3)"

    def comprehension(self, depth: int, opening: str, closing: str) -> str:
        return f"{opening}{self._clauses(depth, self.integer)}{closing}"

    def dict_comprehension(self, depth: int) -> str:
        return f"{{{self._clauses(depth, lambda d: f'{self.int_atom()} % 4: {self.integer(d)}')}}}"

    def int_clauses(self, depth: int) -> str:
        return self._clauses(depth, self.integer)

    def bool_clauses(self, depth: int) -> str:
        return self._clauses(depth, self.condition)

    def _clauses(self, depth: int, element) -> str:
        name = self.fresh("e")
        with self.only_expressions():
            source = self.source(max(depth, 1))
            with self.reading("int", name):
                test = f" if {self.condition(depth)}" if self.chance(0.4) else ""
                if self.chance(0.15):
                    inner = self.fresh("e")
                    with self.reading("int", inner):
                        return f"{element(depth)} for {name} in {source}{test} for {inner} in range({name} % 3)"
                return f"{element(depth)} for {name} in {source}{test}"
