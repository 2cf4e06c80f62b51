"""Compound statements: branches, loops, try, with, match and functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

from grammar.simple import ERRORS, Simple

DEPTH = 4


class Blocks(Simple):
    """A writer of statements that are nested to DEPTH; each loop ends after a few iterations."""

    def block(self, depth: int, max_count: int = 3) -> None:
        calls, streams = self.scope.calls, self.scope.streams
        self.scope.calls, self.scope.streams = list(calls), list(streams)
        with self.deeper():
            for _ in range(self.rng.randint(1, max_count)):
                self.statement(depth)
        self.scope.calls, self.scope.streams = calls, streams

    def statement(self, depth: int) -> None:
        self.budget -= 1
        if depth > 0 and self.chance(0.14):
            self.add_exit()
        elif depth < DEPTH and self.budget > 0 and self.chance(0.5):
            self.compound(depth + 1)
        elif self.scope.kind == "generator" and self.chance(0.3):
            self.add_yield()
        else:
            self.simple()

    def compound(self, depth: int) -> None:
        may_define = self.nested < 2
        options: list[tuple[float, str, Callable[[], str]]] = [
            (5, "", lambda: self.if_(depth)),
            (2.5, "", lambda: self.for_(depth)),
            (2, "", lambda: self.while_(depth)),
            (2.2, "try", lambda: self.try_(depth)),
            (0.5, "try except_star", lambda: self.try_star(depth)),
            (1.2, "with", lambda: self.with_(depth)),
            (1.2, "match", lambda: self.match(depth)),
            (0.7, "undefined", self.possibly_undefined),
        ]
        if may_define:
            options += [
                (1.5, "functions", lambda: self.function(depth)),
                (0.6, "lambdas", lambda: self.named_lambda()),
                (1, "recursion", lambda: self.recursive(depth)),
                (1, "generators", lambda: self.generator(depth)),
                (0.5, "classes", lambda: self.local_class()),
            ]
        self.choose(options)

    def add_exit(self) -> None:
        """Write a return, raise, break or continue, usually under a condition."""
        texts: list[tuple[float, str, Callable[[], str]]] = [(0.5, "", self.put_pass)]
        if self.scope.loops:
            texts.append((4, "jumps", lambda: self.put(self.pick("break", "continue"))))
        texts.append((2, "early_return", lambda: self.put(self.return_text())))
        texts.append((3 if self.scope.in_try else 0.4, "exceptions", self.throw))
        if self.chance(0.8):
            self.line(f"if {self.condition(2)}:")
            with self.deeper():
                self.choose(texts)
        else:
            self.choose(texts)

    def put_pass(self) -> str:
        return self.put("pass")

    def return_text(self) -> str:
        if self.scope.kind == "generator":
            return "return"
        if self.scope.kind == "program":
            return f"return {self.result()}"
        return f"return {self.bounded(self.integer(1))}"

    def result(self) -> str:
        """An expression that the program returns."""
        return self.choose([
            (2, "", lambda: self.integer(1)),
            (1, "", lambda: self.floating(1)),
            (0.5, "", lambda: "None"),
            (0.5, "", lambda: f"({self.integer(1)}, {self.floating(1)})"),
            (0.3, "strings", lambda: self.text(1)),
            (0.3, "lists", lambda: self.list_of(1)),
        ])  # fmt: skip

    def if_(self, depth: int) -> str:
        self.line(f"if {self.condition(2)}:")
        self.block(depth)
        while self.chance(0.3):
            self.line(f"elif {self.condition(2)}:")
            self.block(depth, 2)
        if self.chance(0.5):
            self.line("else:")
            self.block(depth)
        return ""

    @contextmanager
    def loop(self):
        self.scope.loops += 1
        yield
        self.scope.loops -= 1

    def loop_body(self, depth: int) -> None:
        with self.loop():
            self.block(depth)
        if self.on("loop_else") and self.chance(0.3):
            self.line("else:")
            self.block(depth, 2)

    def for_(self, depth: int) -> str:
        name, other = self.fresh("k"), self.fresh("k")
        as_int = name

        def head(text: str) -> str:
            return self.put(text)

        def array() -> str:
            nonlocal as_int
            as_int = f"int({name})"
            return head(f"for {name} in {self.array(1)}:")

        names = [name]

        def pair(items: str) -> str:
            names.append(other)
            return head(f"for {name}, {other} in {items}:")

        self.choose([
            (4, "", lambda: head(f"for {name} in {self.source(2)}:")),
            (0.7, "tuples", lambda: pair(f"enumerate({self.source(1)})")),
            (0.5, "tuples lists", lambda: pair(f"zip({self.list_of(1)}, {self.source(1)})")),
            (0.5, "tuples dicts", lambda: pair("counts.items()")),
            (0.4, "tuples", lambda: pair(f"[(1, {self.integer(1)}), {self.tuple_of(1)}]")),
            (0.8, "arrays", array),
        ])  # fmt: skip
        names[0] = as_int
        with self.reading("int", *names):
            self.loop_body(depth)
        return ""

    def while_(self, depth: int) -> str:
        name = self.fresh("fuel")
        limit = self.rng.randint(2, 5 if self.scope.loops == 0 else 3)
        form = self.rng.randrange(4)
        if self.on("list_writes") and self.chance(0.2):
            return self.while_items(depth)
        if form == 0:
            self.line(f"{name} = 0")
            self.line(
                f"while {name} < {limit} and {self.condition(2)}:" if self.on("boolops") else f"while {name} < {limit}:"
            )
            step = f"{name} += 1"
        elif form == 1:
            self.line(f"{name} = {limit}")
            self.line(f"while {name}:")
            step = f"{name} -= 1"
        elif form == 2:
            self.line(f"{name} = abs({self.int_atom()}) % {limit + 1}")
            self.line(f"while {name} > 0:")
            step = f"{name} = {name} - 1"
        else:
            self.line(f"{name} = {self.int_atom()} % 7")
            self.line("while True:" if self.on("jumps") else f"while {name} > 1:")
            step = f"{name} = {name} // 2"
        with self.deeper():
            self.line(step)
            if form == 3 and self.on("jumps"):
                self.line(f"if {name} < 1:")
                with self.deeper():
                    self.line("break")
        with self.reading("int", name):
            self.loop_body(depth)
        return ""

    def while_items(self, depth: int) -> str:
        """Write a loop that pops the items of a new list until the list is empty."""
        name, item = self.fresh("queue"), self.fresh("k")
        self.line(f"{name} = [{self.integer(1)}, {self.int_atom()}, *range({self.int_atom()} % 3)]")
        self.line(self.pick(f"while {name}:", f"while len({name}) > 0:", f"while {name} and {self.condition(1)}:"))
        with self.deeper():
            self.line(f"{item} = {name}.pop({self.pick('', '0', '-1')})")
        with self.reading("int", item):
            self.loop_body(depth)
        return ""

    def try_(self, depth: int) -> str:
        self.line("try:")
        handled = self.chance(0.8)
        self.scope.in_try += handled
        if self.on("exceptions"):
            with self.deeper():
                if self.chance(0.5):
                    self.line(f"if {self.condition(2)}:")
                    with self.deeper():
                        self.throw()
                elif self.chance(0.4):
                    name = self.write("int") or "_"
                    self.line(self.pick(f"{name} = 7 // {self.int_atom()}", f"{name} = (1, 2)[{self.int_atom()}]"))
        self.block(depth)
        self.scope.in_try -= handled
        if handled:
            self.handlers(depth)
            if self.chance(0.3):
                self.line("else:")
                self.block(depth, 2)
        if not handled or self.chance(0.35):
            self.line("finally:")
            self.block(depth, 2)
        return ""

    def handlers(self, depth: int) -> None:
        for _ in range(self.rng.choice([1, 1, 2])):
            kind = self.pick(*ERRORS, "(ValueError, Stop)", "ArithmeticError", "Exception", "LookupError")
            bound = self.chance(0.4)
            self.line(f"except {kind} as error:" if bound else f"except {kind}:")
            if bound:
                with self.deeper():
                    name = self.write("int") or "_"
                    self.line(self.pick(
                        f"{name} = len(error.args)", f"{name} = 3 if isinstance(error, Stop) else 4",
                        f"{name} = error.args[0] if error.args and isinstance(error.args[0], int) else -1",
                    ))  # fmt: skip
                    if self.on("strings") and self.chance(0.3):
                        self.line(f"{self.write('str') or '_'} = str(error)")
            if self.chance(0.15):
                with self.deeper():
                    self.line(f"if {self.condition(1)}:")
                    self.line("    raise")
            self.block(depth, 2)
        if self.chance(0.5):
            self.line("except Exception:")
            self.block(depth, 1)

    def try_star(self, depth: int) -> str:
        self.line("try:")
        with self.deeper():
            self.line(f"if {self.condition(1)}:")
            self.line("    raise ExceptionGroup('several', [ValueError(1), KeyError(2)])")
        with self.without("jumps", "early_return"):
            self.line("except* ValueError:")
            self.block(depth, 1)
            self.line("except* KeyError as group:")
            self.line(f"    {self.write('int') or '_'} = len(group.exceptions)")
        return ""

    @contextmanager
    def without(self, *features: str):
        outer_features, self.features = self.features, self.features - set(features)
        yield
        self.features = outer_features

    def with_(self, depth: int) -> str:
        swallows = self.pick("False", "False", "True", self.condition(1))
        name = self.fresh("held")
        bound = self.pick("", f" as {name}")
        second = f", Manager({self.int_atom()}, False)" if self.chance(0.2) else ""
        self.line(f"with Manager({self.int_atom()}, {swallows}){bound}{second}:")
        self.scope.in_try += 1
        if bound:
            with self.reading("int", f"{name}.depth"):
                self.block(depth)
        else:
            self.block(depth)
        self.scope.in_try -= 1
        return ""

    def possibly_undefined(self) -> str:
        """Write a name that only one path defines, and a statement that often reads it on another path."""
        name = self.fresh("late")
        self.line(f"if {self.condition(1)}:")
        with self.deeper():
            self.line(f"{name} = {self.integer(1)}")
        target = self.write("int") or "_"
        return self.put(self.pick(f"{target} = {name} if {self.condition(1)} else 1", f"{target} = {name} % 5"))

    # The methods below are in functions.py and patterns.py.

    def add_yield(self) -> None:
        raise NotImplementedError

    def function(self, depth: int) -> str:
        raise NotImplementedError

    def named_lambda(self) -> str:
        raise NotImplementedError

    def recursive(self, depth: int) -> str:
        raise NotImplementedError

    def generator(self, depth: int) -> str:
        raise NotImplementedError

    def local_class(self) -> str:
        raise NotImplementedError

    def match(self, depth: int) -> str:
        raise NotImplementedError
