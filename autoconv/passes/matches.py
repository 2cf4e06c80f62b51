"""Turn match into a chain of ifs: each pattern becomes a condition on the subject, each capture an assignment.

def f(point):
    match point:
        case (0, y):
            return y
        case Point(x=x) if x > 0:
            return x
        case _:
            return None
# becomes
def f(point):
    subject_ = point
    if ag__.is_sequence(subject_, 2) and subject_[0] == 0:
        y = subject_[1]
        return y
    else:
        matched_ = False
        if ag__.is_instance(subject_, Point, ('x',)):
            x = subject_.x
            if x > 0:
                matched_ = True
                return x
        if not matched_:
            return None
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build
from autoconv.syntax.tree import copy_tree


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Matches(context).visit(tree)


class Matches(FunctionPass, statements_only=True):
    """Turn match statements into chains of ifs."""

    def visit_Match(self, node: Any) -> Any:
        self.visit_children(node)
        subject = self.namer.fresh("subject_")
        subject_assignment = build.place(build.assign(subject, node.subject), node)
        return [subject_assignment, *self._lower_cases(node.cases, subject, node)]

    def _lower_cases(self, cases: list[Any], subject: str, node: Any) -> list[Any]:
        """Return the if chain that compares the variable `subject` with the cases; `node` is the match statement."""
        if not cases:
            return []
        case, other_cases = cases[0], cases[1:]
        conditions = _PatternConditions()
        conditions.add_pattern(case.pattern, build.name(subject))
        captures = [build.place(build.assign(name, value), case.pattern) for name, value in conditions.captures]
        if case.guard is None:
            if not conditions.tests:
                return [*captures, *case.body]
            other_statements = self._lower_cases(other_cases, subject, node)
            return [self._make_if(conditions.conjunction(), [*captures, *case.body], other_statements, case)]
        if not captures:
            test = _conjunction([*conditions.tests, case.guard])
            return [self._make_if(test, case.body, self._lower_cases(other_cases, subject, node), case)]
        # captures of the pattern remain even if the guard is false
        flag_name = self.namer.fresh("matched_")
        assignment = build.place(build.assign(flag_name, build.constant(True)), case.guard)
        guarded_body = self._make_if(case.guard, [assignment, *case.body], [], case)
        matched_statements = [*captures, guarded_body]
        initialisation = build.place(build.assign(flag_name, build.constant(False)), node)
        if conditions.tests:
            matched_statements = [self._make_if(conditions.conjunction(), matched_statements, [], case)]
        statements = [initialisation, *matched_statements]
        other_statements = self._lower_cases(other_cases, subject, node)
        if other_statements:
            is_unmatched = gast.UnaryOp(gast.Not(), build.name(flag_name))
            statements.append(self._make_if(is_unmatched, other_statements, [], case))
        return statements

    def _make_if(self, test: Any, body: list[Any], orelse: list[Any], case: Any) -> Any:
        return self.context.mark_generated(build.place(gast.If(test, body, orelse), case.pattern))


class _PatternConditions:
    """The tests of one pattern on its subject, in order, and its captures as (name, value)."""

    def __init__(self) -> None:
        self.tests: list[Any] = []
        self.captures: list[tuple[str, Any]] = []

    def conjunction(self) -> Any:
        return _conjunction(self.tests)

    def add_pattern(self, pattern: Any, subject: Any) -> None:
        subject = copy_tree(subject)
        kind = type(pattern).__name__.removeprefix("Match").lower()
        getattr(self, f"_{kind}")(pattern, subject)

    def _value(self, pattern: Any, subject: Any) -> None:
        self.tests.append(gast.Compare(subject, [gast.Eq()], [pattern.value]))

    def _singleton(self, pattern: Any, subject: Any) -> None:
        self.tests.append(gast.Compare(subject, [gast.Is()], [build.constant(pattern.value)]))

    def _as(self, pattern: Any, subject: Any) -> None:
        if pattern.pattern is not None:
            self.add_pattern(pattern.pattern, subject)
        if pattern.name is not None:
            self.captures.append((_identifier(pattern.name), copy_tree(subject)))

    def _or(self, pattern: Any, subject: Any) -> None:
        """Add the test of an or-pattern; with captures, its tests are repeated to select the captured values."""
        branches = []
        for alternative_pattern in pattern.patterns:
            branch = _PatternConditions()
            branch.add_pattern(alternative_pattern, subject)
            branches.append(branch)
        tests = [branch.conjunction() if branch.tests else build.constant(True) for branch in branches]
        self.tests.append(tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests))
        for name in dict(branches[0].captures):
            value = dict(branches[-1].captures)[name]
            for branch in reversed(branches[:-1]):
                condition = branch.conjunction() if branch.tests else build.constant(True)
                value = gast.IfExp(copy_tree(condition), dict(branch.captures)[name], value)
            self.captures.append((name, value))

    def _sequence(self, pattern: Any, subject: Any) -> None:
        """Add the test of a sequence pattern, and its items' patterns and captures."""
        patterns = pattern.patterns
        star_position = next((i for i, item in enumerate(patterns) if isinstance(item, gast.MatchStar)), None)
        item_count = build.constant(len(patterns) if star_position is None else len(patterns) - 1)
        star_arguments = [] if star_position is None else [build.constant(True)]
        self.tests.append(build.operate("is_sequence", subject, item_count, *star_arguments))
        copy_subject = functools.partial(copy_tree, subject)
        for position, item in enumerate(patterns):
            if position == star_position:
                if item.name is not None:
                    end_offset = position - len(patterns) + 1
                    end = build.constant(end_offset) if end_offset else None
                    all_items = build.call(build.name("list"), copy_subject())  # not all sequences have slices
                    slice_ = gast.Slice(build.constant(position), end, None)
                    self.captures.append((_identifier(item.name), gast.Subscript(all_items, slice_, gast.Load())))
                continue
            is_after_star = star_position is not None and position > star_position
            index = position - len(patterns) if is_after_star else position
            self.add_pattern(item, gast.Subscript(subject, _index_literal(index), gast.Load()))

    def _mapping(self, pattern: Any, subject: Any) -> None:
        """Add the test of a mapping pattern, its values' patterns, and the capture of the remaining items."""
        keys = gast.Tuple(list(pattern.keys), gast.Load())
        self.tests.append(build.operate("is_mapping", subject, copy_tree(keys)))
        for key, value in zip(pattern.keys, pattern.patterns, strict=True):
            self.add_pattern(value, gast.Subscript(subject, key, gast.Load()))
        if pattern.rest is not None:
            other_items = build.operate("rest_of", copy_tree(subject), copy_tree(keys))
            self.captures.append((_identifier(pattern.rest), other_items))

    def _class(self, pattern: Any, subject: Any) -> None:
        """Add the test of a class pattern, and the patterns of its arguments."""
        pattern_arguments: list[Any] = []
        if pattern.patterns or pattern.kwd_attrs:
            pattern_arguments.append(build.strings(map(_identifier, pattern.kwd_attrs)))
        if pattern.patterns:
            pattern_arguments.append(build.constant(len(pattern.patterns)))
        self.tests.append(build.operate("is_instance", subject, pattern.cls, *pattern_arguments))
        for position, item in enumerate(pattern.patterns):
            cls = copy_tree(pattern.cls)
            self.add_pattern(item, build.operate("match_argument", subject, cls, build.constant(position)))
        for name, item in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.add_pattern(item, gast.Attribute(subject, _identifier(name), gast.Load()))


def _conjunction(tests: list[Any]) -> Any:
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)


def _index_literal(position: int) -> Any:
    constant = build.constant(abs(position))
    return constant if position >= 0 else gast.UnaryOp(gast.USub(), constant)


def _identifier(name: Any) -> str:
    return name if isinstance(name, str) else name.id
