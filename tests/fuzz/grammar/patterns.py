"""Match statements with every kind of pattern."""

from __future__ import annotations

from grammar.functions import Functions


class Patterns(Functions):
    """A writer of match statements, whose patterns depend on the kind of the subject."""

    def match(self, depth: int) -> str:
        first, second = self.fresh("w"), self.fresh("w")
        subject, patterns = self.choose_subject(first, second)
        self.line(f"match {subject}:")
        with self.deeper():
            for pattern, bound in self.rng.sample(patterns, self.rng.randint(1, min(4, len(patterns)))):
                with self.reading("int", *bound):
                    guard = f" if {self.condition(1)}" if self.chance(0.25) else ""
                    self.line(f"case {pattern}{guard}:")
                    self.block(depth, 2)
            if self.chance(0.6):
                self.line(f"case {self.pick('_', self.fresh('w'))}:")
                self.block(depth, 2)
        return ""

    def choose_subject(self, first: str, second: str):
        numbers = [("0", ()), ("1 | 2", ()), ("-1", ()), (f"(3 | 4) as {first}", (first,)), (f"int({first})", (first,)),
                   ("None", ()), ("True", ()), (f"int() as {second}", (second,)), ("2.5", ())]  # fmt: skip
        pairs = [
            (f"({first}, {second})", (first, second)), (f"[1, {first}]", (first,)), (f"[{first}, *_]", (first,)),
            ("[]", ()), (f"({first}, 0 | 1)", (first,)), (f"[_, {second}] as whole", (second,)), ("[2, *more]", ()),
        ]  # fmt: skip
        texts = [("'p'", ()), ("'q' | 'up'", ()), ("str()", ())]
        tables = [
            (f"{{'p': {first}}}", (first,)),
            ("{'p': 1, **others}", ()),
            (f"{{'q': {second}, 'p': 0}}", (second,)),
            ("{}", ()),
        ]
        boxes = [
            (f"Box(n={first})", (first,)), (f"Box(n=0, m={second})", (second,)), (f"Box({first}, 1)", (first,)),
            ("Box()", ()),
        ]  # fmt: skip
        chosen_patterns: list = []

        def pick(subject: str, patterns: list) -> str:
            chosen_patterns.append(patterns)
            return subject

        subject = self.choose([
            (4, "", lambda: pick(self.integer(1), numbers)),
            (0.5, "", lambda: pick(f"{self.integer(1)} % 3", numbers)),
            (2, "tuples", lambda: pick(self.pick(self.tuple_of(1), f"[{self.int_atom()}, {self.int_atom()}]"), pairs)),
            (0.7, "lists", lambda: pick(self.list_of(0), pairs)),
            (0.7, "strings", lambda: pick(self.text(1), texts)),
            (1, "dicts", lambda: pick("table", tables)),
            (1.5, "objects", lambda: pick(self.object_of(1), boxes)),
            (0.5, "none", lambda: pick("maybe", numbers)),
        ])  # fmt: skip
        return subject, chosen_patterns[0]
