"""Match statements with every kind of pattern."""

from __future__ import annotations

from grammar.functions import Functions


class Patterns(Functions):
    """A writer of match statements, whose patterns depend on the kind of the subject."""

    def match(self, depth: int) -> str:
        one, two = self.fresh("w"), self.fresh("w")
        subject, patterns = self.choose_subject(one, two)
        self.line(f"match {subject}:")
        with self.deeper():
            for pattern, bound in self.rng.sample(patterns, self.rng.randint(1, min(4, len(patterns)))):
                with self.reading("int", *bound):
                    guard = f" if {self.condition(1)}" if self.chance(0.25) else ""
                    self.line(f"case {pattern}{guard}:")
                    self.block(depth, 2)
            if self.chance(0.6):
                self.line(f"case {self.one('_', self.fresh('w'))}:")
                self.block(depth, 2)
        return ""

    def choose_subject(self, one: str, two: str):
        numbers = [("0", ()), ("1 | 2", ()), ("-1", ()), (f"(3 | 4) as {one}", (one,)), (f"int({one})", (one,)),
                   ("None", ()), ("True", ()), (f"int() as {two}", (two,)), ("2.5", ())]  # fmt: skip
        pairs = [(f"({one}, {two})", (one, two)), (f"[1, {one}]", (one,)), (f"[{one}, *_]", (one,)), ("[]", ()),
                 (f"({one}, 0 | 1)", (one,)), (f"[_, {two}] as whole", (two,)), ("[2, *more]", ())]  # fmt: skip
        texts = [("'p'", ()), ("'q' | 'up'", ()), ("str()", ())]
        tables = [
            (f"{{'p': {one}}}", (one,)),
            ("{'p': 1, **others}", ()),
            (f"{{'q': {two}, 'p': 0}}", (two,)),
            ("{}", ()),
        ]
        things = [(f"Box(n={one})", (one,)), (f"Box(n=0, m={two})", (two,)), (f"Box({one}, 1)", (one,)), ("Box()", ())]
        picked: list = []

        def pick(subject: str, patterns: list) -> str:
            picked.append(patterns)
            return subject

        subject = self.choose([
            (4, "", lambda: pick(self.integer(1), numbers)),
            (0.5, "", lambda: pick(f"{self.integer(1)} % 3", numbers)),
            (2, "tuples", lambda: pick(self.one(self.tuple_of(1), f"[{self.int_atom()}, {self.int_atom()}]"), pairs)),
            (0.7, "lists", lambda: pick(self.list_of(0), pairs)),
            (0.7, "strings", lambda: pick(self.text(1), texts)),
            (1, "dicts", lambda: pick("table", tables)),
            (1.5, "objects", lambda: pick(self.object_of(1), things)),
            (0.5, "none", lambda: pick("maybe", numbers)),
        ])  # fmt: skip
        return subject, picked[0]
