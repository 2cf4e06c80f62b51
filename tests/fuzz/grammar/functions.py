"""Functions inside the function: plain, recursive, generators, lambdas and classes."""

from __future__ import annotations

from contextlib import contextmanager

from grammar.blocks import Blocks
from grammar.writer import Scope

# Features whose statements name local values of `program`, which a function of the module cannot see.
LOCAL_VALUES = ("objects", "dicts", "none", "arrays", "array_writes", "object_writes", "list_writes", "mixed",
                "nested", "aliases", "globals", "log_argument", "log_local", "classes", "with", "undefined",
                "helpers")  # fmt: skip


class Functions(Blocks):
    """A writer of functions; the statements after a function may call it."""

    @contextmanager
    def own_scope(self, kind: str, parameters: tuple[str, ...], shared: tuple[str, ...] = ()):
        outer = self.scope
        readable = dict(outer.readable)
        readable["int"] = [*readable.get("int", []), *parameters, *parameters]
        self.scope = Scope(readable, {"int": [*parameters, *shared]}, kind)
        self.scope.calls = list(outer.calls)
        self.scope.streams = list(outer.streams)
        self.nested += 1
        yield
        self.nested -= 1
        self.scope = outer

    def function(self, depth: int) -> str:
        name, default = self.fresh("fun"), self.integer(1)
        form = self.pick("p, q", f"p, q={default}", "p, /, q=2", "p, *, q=1", "p, *rest", "p, **named")
        form = form if self.on("defaults" if "=" in form or "/" in form or "*," in form else "starred") else "p, q"
        nonlocal_names = self.nonlocal_names()
        self.line(f"def {name}({form}):")
        parameters = ("p", "q") if "q" in form else ("p",)
        parameters = tuple(f"{parameter}{self.serial}" for parameter in parameters)
        form = form.replace("p,", f"{parameters[0]},").replace("q", parameters[-1])
        self.lines[-1] = f"{'    ' * self.indent}def {name}({form}):"
        with self.own_scope("function", parameters, tuple(nonlocal_names)):
            with self.deeper():
                if nonlocal_names:
                    self.line(f"nonlocal {', '.join(nonlocal_names)}")
                if "rest" in form:
                    self.line(f"{parameters[0]} += len(rest)")
                if "named" in form:
                    self.line(f"{parameters[0]} -= sum(named.values())")
                if self.on("globals") and self.chance(0.3):
                    self.line("global total")
                    self.line(f"total += {self.int_atom()}")
            self.block(depth, 3)
            with self.deeper():
                self.line(f"return {self.bounded(self.integer(2))}")
        self.scope.calls.append(lambda d: f"{name}({self.arguments(form, parameters, d)})")
        target = self.write("int")
        if target and self.chance(0.6):
            self.line(f"{target} = {self.scope.calls[-1](1)}")
        return ""

    def nonlocal_names(self) -> list[str]:
        names = sorted({name for name in self.scope.writable.get("int", []) if name.isidentifier()})
        if not self.on("closures") or not names or not self.chance(0.7):
            return []
        return self.rng.sample(names, min(len(names), self.rng.choice((1, 1, 2))))

    def arguments(self, form: str, parameters: tuple[str, ...], d: int) -> str:
        first, second = self.integer(d), self.integer(d)
        if "rest" in form:
            return self.pick(first, f"{first}, {second}", f"{first}, *({second}, 1)")
        if "named" in form:
            return self.pick(first, f"{first}, z={second}", f"{first}, **{{'y': {second}}}")
        if "*," in form:
            return self.pick(first, f"{first}, {parameters[1]}={second}")
        if "=" in form:
            return self.pick(first, f"{first}, {second}", f"{first}, {parameters[1]}={second}")
        by_name = f"{parameters[1]}={first}, {parameters[0]}={second}"
        return self.pick(f"{first}, {second}", by_name if self.on("defaults") else f"{first}, 2")

    def named_lambda(self) -> str:
        name, parameter = self.fresh("act"), self.fresh("t")
        with self.reading("int", parameter), self.only_expressions():
            body = self.integer(2)
        if self.on("defaults") and self.chance(0.3):
            self.line(f"{name} = lambda {parameter}, w={self.int_atom()}: {body} + w")
        else:
            self.line(f"{name} = lambda {parameter}: {body}")
        self.scope.calls.append(lambda d: f"{name}({self.integer(d)})")
        return ""

    def recursive(self, depth: int) -> str:
        name, level, kept = self.fresh("rec"), self.fresh("n"), self.fresh("kept")
        self.line(f"def {name}({level}, {kept}):")
        with self.own_scope("function", (kept,)), self.reading("int", level), self.deeper():
            self.line(f"if {level} <= 0:")
            self.line(f"    return {self.pick(kept, self.bounded(self.integer(1)))}")
            if self.chance(0.5):
                self.line(f"if {self.condition(1)}:")
                self.line(f"    return {name}({level} - {self.pick('1', '2')}, {self.bounded(self.integer(1))})")
            if self.chance(0.3):
                self.simple()
            again = f"{name}({level} - 1, {self.bounded(self.integer(1))})"
            self.line("return " + self.pick(again, f"({again} + {self.int_atom()}) % 50", f"{level} + {again}"))
        limit = self.pick("4", "5", "3")
        self.scope.calls.append(lambda d: f"{name}({self.integer(d)} % {limit}, {self.int_atom()})")
        if target := self.write("int"):
            self.line(f"{target} = {self.scope.calls[-1](1)}")
        return ""

    def generator(self, depth: int) -> str:
        name, parameter = self.fresh("gen"), self.fresh("p")
        self.line(f"def {name}({parameter}=2):" if self.on("defaults") else f"def {name}({parameter}):")
        with self.own_scope("generator", (parameter,)):
            with self.deeper():
                if self.chance(0.5):
                    self.line(f"for {parameter}_ in range({self.pick('3', parameter + ' % 4')}):")
                    self.line(f"    yield {self.bounded(self.integer(1))} + {parameter}_")
            self.block(depth, 2)
            with self.deeper():
                self.add_yield()
        self.scope.streams.append(lambda d: f"{name}({self.integer(d)})")
        if target := self.write("int"):
            self.line(f"{target} = {self.stream_result(1)}")
        return ""

    def add_yield(self) -> None:
        target = self.write("int") or "_"
        self.line(self.pick(
            f"yield {self.integer(1)}", f"yield {self.integer(1)}",
            f"yield from ({self.integer(1)}, {self.int_atom()})",
            f"{target} = (yield {self.int_atom()}) or 1",
        ))  # fmt: skip

    def local_class(self) -> str:
        name, base = self.fresh("Local"), self.pick("", "(Box)") if self.on("objects") else ""
        self.line(f"class {name}{base}:")
        with self.deeper():
            self.line(f"level = {self.rng.randint(1, 5)}")
            self.line("def get(self, k):")
            with self.deeper():
                self.line("if k > self.level:")
                self.line(f"    return k - {self.rng.randint(0, 4)}")
                self.line("return " + (self.pick("super().peek(k)", "k + self.level") if base else "k + self.level"))
        instance = f"{name}({self.int_atom()})" if base else f"{name}()"
        self.scope.calls.append(lambda d: f"{instance}.get({self.integer(d)})")
        if target := self.write("int"):
            self.line(f"{target} = {self.scope.calls[-1](1)}")
        return ""
