"""Expressions whose value is an int, a float or a bool."""

from __future__ import annotations

from grammar.writer import Options, Writer

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Numbers(Writer):
    """A writer of such expressions. They rarely raise: denominators are not zero, and indexes are in range."""

    def integer(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.2):
            return self.int_atom()
        d = depth - 1
        return self.choose(self._arithmetic(d) + self._int_calls(d) + self._int_reads(d) + self._int_control(d))

    def _arithmetic(self, d: int) -> Options:
        return [
            (6, "", lambda: f"({self.integer(d)} {self.pick('+', '-', '+', '-', '*')} {self.integer(d)})"),
            (1.5, "", lambda: f"({self.integer(d)} {self.pick('//', '%')} {self.denominator(d)})"),
            (0.6, "", lambda: f"({self.integer(d)} {self.pick('&', '|', '^')} {self.integer(d)})"),
            (0.2, "", lambda: f"({self.integer(d)} {self.pick('<<', '>>')} {self.pick('1', '2')})"),
            (0.25, "", lambda: f"(({self.integer(d)}) % 6) ** {self.pick('2', '2', '3')}"),
            (0.7, "", lambda: f"{self.pick('-', '-', '~', '+')}{self.int_atom()}"),
        ]

    def _int_calls(self, d: int) -> Options:
        return [
            (0.7, "", lambda: f"abs({self.integer(d)})"),
            (0.7, "", lambda: f"{self.pick('min', 'max')}({self.integer(d)}, {self.integer(d)})"),
            (0.4, "", lambda: f"int({self.floating(d)})"),
            (0.2, "", lambda: f"int({self.condition(d)})"),
            (0.15, "", lambda: f"round({self.floating(d)})"),
            (0.15, "", lambda: f"divmod({self.integer(d)}, 3)[{self.pick('0', '1')}]"),
            (0.15, "", lambda: f"pow({self.int_atom()}, 2)"),
            (0.9, "", lambda: self.call(d)),
            (0.7, "generators", lambda: self.stream_result(d)),
            (0.5, "helpers", lambda: f"helper({self.integer(d)}, {self.integer(d)})"),
            (0.3, "helpers starred", lambda: f"helper(*({self.integer(d)}, {self.int_atom()}))"),
            (0.3, "helpers defaults", lambda: f"helper(q={self.integer(d)}, p={self.int_atom()})"),
            (0.2, "helpers defaults starred", lambda: f"helper(**{{'p': {self.int_atom()}, 'q': {self.integer(d)}}})"),
            (0.4, "lambdas", lambda: self.called_lambda(d)),
            (1.2, "log_argument", lambda: self.logged_value(self.integer(d))),
            (1.2, "log_global", lambda: self.logged_value(self.integer(d))),
            (1.2, "log_local", lambda: self.logged_value(self.integer(d))),
        ]

    def _int_reads(self, d: int) -> Options:
        return [
            (0.8, "lists", lambda: f"{self.list_of(0)}[{self.integer(d)} % 3]"),
            (0.3, "lists", lambda: f"{self.pick('len', 'sum', 'max')}({self.list_of(d)})"),
            (0.2, "lists", lambda: f"{self.list_of(0)}.count({self.integer(d)})"),
            (0.2, "lists slices", lambda: f"sum({self.list_of(0)}[{self.pick('1:', ':2', '::2', '-2:')}])"),
            (0.5, "dicts", lambda: f"table['{self.pick('p', 'q')}']"),
            (0.4, "dicts", lambda: f"counts.get({self.integer(d)} % 4, {self.int_atom()})"),
            (0.2, "dicts", lambda: f"{self.pick('len', 'sum')}({self.pick('counts', 'table.values()', 'counts')})"),
            (0.2, "dicts strings", lambda: f"table['p' if {self.condition(d)} else 'q']"),
            (0.2, "dicts exceptions", lambda: f"counts[{self.integer(d)} % 3]"),
            (0.3, "nested", lambda: f"grid[{self.integer(d)} % 3][{self.pick('0', '1', '-1')}]"),
            (
                0.2,
                "nested",
                lambda: f"{self.pick('len', 'sum')}(rows[{self.pick(repr('p'), repr('q'))}])",
            ),
            (0.2, "nested objects", lambda: "box.parts[-1]"),
            (0.4, "tuples", lambda: f"{self.tuple_of(d)}[{self.pick('0', '1', '-1')}]"),
            (0.2, "sets", lambda: f"{self.pick('len', 'sum')}({self.set_of(d)})"),
            (0.2, "strings", lambda: f"len({self.text(d)})"),
            (0.1, "strings", lambda: f"int('0' + str(abs({self.integer(d)})))"),
            (0.1, "strings", lambda: f"{self.text(d)}.count('p')"),
            (0.1, "strings", lambda: f"ord({self.text(0)}[0])"),
            (0.5, "arrays", lambda: f"int({self.array(d)}[{self.pick('0', '1', '2', '-1')}])"),
            (0.3, "arrays", lambda: f"int({self.array(0)}[{self.integer(d)} % 3])"),
            (0.15, "arrays", lambda: f"int({self.array(0)} @ {self.array(0)})"),
            (0.2, "arrays", lambda: f"int({self.array(0)}.{self.pick('sum', 'max', 'min')}())"),
            (0.7, "objects", lambda: f"box.{self.pick('n', 'm', 'n', 'scale')}"),
            (0.5, "objects", lambda: f"box.peek({self.integer(d)})"),
            (0.4, "objects object_writes", lambda: f"box.add({self.integer(d)})"),
            (0.3, "objects defaults", lambda: f"box.peek(sign={self.pick('-1', '2')}, k={self.int_atom()})"),
            (0.4, "objects properties", lambda: "box.double"),
            (0.2, "objects dunders", lambda: f"len({self.object_of(d)})"),
            (0.3, "objects dunders", lambda: f"({self.object_of(d)} + {self.integer(d)}).n"),
            (0.2, "objects dunders", lambda: f"box({self.integer(d)})"),
            (0.2, "objects dunders", lambda: f"box[{self.integer(d)}]"),
            (0.2, "objects", lambda: f"Box({self.integer(d)}).peek()"),
            (0.2, "none", lambda: f"(0 if maybe is None else maybe + {self.int_atom()})"),
            (0.3, "globals", lambda: "total"),
        ]

    def _int_control(self, d: int) -> Options:
        return [
            (1.2, "conditionals", lambda: f"({self.integer(d)} if {self.condition(d)} else {self.integer(d)})"),
            (0.5, "boolops", lambda: f"({self.integer(d)} {self.pick('and', 'or')} {self.integer(d)})"),
            (0.4, "walrus", lambda: self.walrus(d)),
            (0.4, "comprehensions lists", lambda: f"sum({self.comprehension(d, '[', ']')})"),
            (0.4, "generator_expressions", lambda: f"{self.pick('sum', 'sum', 'max')}({self.int_clauses(d)})"),
            (0.1, "generator_expressions", lambda: f"next(({self.int_clauses(d)}), {self.int_atom()})"),
        ]

    def int_atom(self) -> str:
        name = self.read("int")
        return str(self.rng.randint(-3, 7)) if name is None or self.chance(0.25) else name

    def denominator(self, d: int) -> str:
        if self.on("exceptions") and self.chance(0.15):
            return self.int_atom()
        return self.pick("2", "3", "5", f"({self.integer(d)} % 4 + 1)", "-3")

    def call(self, d: int) -> str:
        """A call of a function that is already defined, if there is one."""
        return self.rng.choice(self.scope.calls)(d) if self.scope.calls else f"({self.integer(d)} - 1)"

    def stream_result(self, d: int) -> str:
        if not self.scope.streams:
            return self.int_atom()
        stream = self.rng.choice(self.scope.streams)(d)
        return self.pick(f"sum({stream})", f"len(list({stream}))", f"next({stream}, 0)", f"max({stream}, default=1)")

    def called_lambda(self, d: int) -> str:
        name = self.fresh("t")
        with self.reading("int", name), self.only_expressions():
            body = self.integer(d)
        return f"(lambda {name}: {body})({self.int_atom()})"

    def logged_value(self, text: str) -> str:
        """An expression with that value, which also writes to the log."""
        return f"note({self.rng.randint(1, 99)}, {text})" if not self.expression_only else text

    def walrus(self, d: int) -> str:
        name = self.write("int")
        if name is None or self.expression_only:
            return self.integer(d)
        return f"({name} := {self.bounded(self.integer(d))})"

    def floating(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.25):
            return self.float_atom()
        d = depth - 1
        return self.choose([
            (3, "", lambda: f"({self.floating(d)} {self.pick('+', '-')} {self.floating(d)})"),
            (1.5, "", lambda: f"({self.floating(d)} * {self.pick('0.5', '2', '-1.5')})"),
            (1, "", lambda: f"{self.floating(d)} / {self.pick('2', '4', '-8')}"),
            (1, "", lambda: f"({self.floating(d)} {self.pick('+', '-', '*')} {self.integer(d)})"),
            (0.6, "", lambda: f"float({self.integer(d)})"),
            (0.5, "", lambda: f"{self.integer(d)} / {self.pick('2', '4', '3', '(1 + abs(' + self.int_atom() + '))')}"),
            (0.6, "", lambda: f"{self.pick('abs', 'abs', '-')}({self.floating(d)})"),
            (0.4, "", lambda: f"{self.pick('min', 'max')}({self.floating(d)}, {self.floating(d)})"),
            (0.2, "", lambda: f"({self.floating(d)} {self.pick('//', '%')} {self.pick('2', '1.5')})"),
            (0.1, "", lambda: f"abs({self.floating(d)}) ** 0.5"),
            (0.2, "arrays", lambda: f"float({self.array(d)}[0])"),
            (0.2, "arrays", lambda: f"float({self.array(0)}.mean())"),
            (1, "conditionals", lambda: f"({self.floating(d)} if {self.condition(d)} else {self.floating(d)})"),
        ])  # fmt: skip

    def float_atom(self) -> str:
        name = self.read("float")
        return self.pick("0.5", "2.0", "-1.25", "3.75") if name is None or self.chance(0.2) else name

    def condition(self, depth: int) -> str:
        """The condition of a branch, usually a bool that depends on the arguments."""
        if depth <= 0:
            return self.comparison(0)
        d = depth - 1
        return self.choose([
            (6, "", lambda: self.comparison(d)),
            (0.8, "", lambda: self.read("bool") or self.comparison(d)),
            (0.6, "", lambda: f"{self.floating(d)} {self.pick('<', '>', '<=', '>=')} {self.floating(d)}"),
            (0.5, "", lambda: f"{self.integer(d)} % {self.pick('2', '3')}"),
            (0.2, "", lambda: f"bool({self.integer(d)})"),
            (0.4, "", lambda: f"{self.integer(d)} {self.pick('in', 'not in')} (1, 2, {self.int_atom()})"),
            (0.1, "", lambda: f"isinstance({self.integer(d)}, {self.pick('int', 'float', '(str, int)')})"),
            (1, "chains", lambda: f"{self.int_atom()} {self.pick('<', '<=')} {self.integer(d)} < {self.integer(d)}"),
            (1.5, "boolops", lambda: f"({self.condition(d)} {self.pick('and', 'or')} {self.condition(d)})"),
            (0.7, "boolops", lambda: f"not {self.condition(d)}"),
            (0.3, "conditionals", lambda: f"({self.condition(d)} if {self.condition(d)} else {self.comparison(d)})"),
            (0.3, "lists", lambda: f"{self.integer(d)} in {self.list_of(d)}"),
            (0.2, "lists", lambda: f"{self.list_of(d)} {self.pick('==', '<')} {self.list_of(0)}"),
            (0.2, "lists", lambda: f"{self.pick('', 'not ')}{self.list_of(0)}"),
            (0.3, "dicts", lambda: f"{self.integer(d)} % 4 {self.pick('in', 'not in')} counts"),
            (0.1, "dicts strings", lambda: f"{self.text(0)} in table"),
            (0.4, "aliases lists", lambda: f"{self.list_of(0)} {self.pick('is', 'is not')} {self.list_of(0)}"),
            (0.2, "nested", lambda: f"grid[0] {self.pick('is', '==', '!=')} grid[{self.integer(d)} % 3]"),
            (0.3, "sets", lambda: f"{self.integer(d)} in {self.set_of(d)}"),
            (0.1, "sets", lambda: f"{self.set_of(d)} {self.pick('<=', '==')} {self.set_of(0)}"),
            (0.2, "tuples", lambda: f"{self.tuple_of(d)} {self.pick('==', '<', '!=')} {self.tuple_of(d)}"),
            (0.2, "strings", lambda: f"{self.text(d)} {self.pick('==', '!=', '<', 'in')} {self.text(0)}"),
            (0.2, "strings", lambda: f"{self.text(0)}.startswith({self.text(0)})"),
            (0.4, "none", lambda: f"maybe {self.pick('is', 'is not', '==')} None"),
            (0.2, "objects", lambda: f"box {self.pick('is', 'is not')} {self.object_of(0)}"),
            (0.3, "objects", lambda: f"box.n {self.pick(*COMPARISONS)} {self.integer(d)}"),
            (0.2, "objects dunders", lambda: f"{self.object_of(d)} {self.pick('==', '<', '!=')} {self.object_of(0)}"),
            (0.1, "objects dunders", lambda: f"{self.int_atom()} in box"),
            (0.2, "arrays", lambda: f"{self.array(d)}[0] {self.pick(*COMPARISONS)} {self.integer(d)}"),
            (0.1, "arrays", lambda: f"({self.array(d)} > {self.int_atom()}).{self.pick('any', 'all')}()"),
            (0.3, "generator_expressions", lambda: f"{self.pick('any', 'all')}({self.bool_clauses(d)})"),
            (0.4, "walrus", lambda: f"{self.walrus(d)} {self.pick(*COMPARISONS)} {self.int_atom()}"),
            (0.3, "log_argument", lambda: f"{self.logged_value(self.condition(d))}"),
            (0.3, "log_local", lambda: f"{self.logged_value(self.condition(d))}"),
        ])  # fmt: skip

    def comparison(self, d: int) -> str:
        return f"{self.integer(d)} {self.pick(*COMPARISONS)} {self.integer(d)}"

    # The methods below are in containers.py.

    def list_of(self, depth: int) -> str:
        raise NotImplementedError

    def tuple_of(self, depth: int) -> str:
        raise NotImplementedError

    def set_of(self, depth: int) -> str:
        raise NotImplementedError

    def text(self, depth: int) -> str:
        raise NotImplementedError

    def array(self, depth: int) -> str:
        raise NotImplementedError

    def object_of(self, depth: int) -> str:
        raise NotImplementedError

    def comprehension(self, depth: int, opening: str, closing: str) -> str:
        raise NotImplementedError

    def int_clauses(self, depth: int) -> str:
        raise NotImplementedError

    def bool_clauses(self, depth: int) -> str:
        raise NotImplementedError
