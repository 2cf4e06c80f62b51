"""Attributes and metadata: compile effort, branch weights, alias scopes, access groups and loop hints."""

from __future__ import annotations

QUICK = "noinline optnone"  # Attributes of functions to compile quickly: they do little, or run rarely.
# Attributes of functions that LLVM may call before a branch or a loop instead.
SPECULATABLE = "nofree nosync nounwind speculatable willreturn memory(none)"
# !0: weights of an unlikely branch; !1: the empty node of invariant loads; !5, !6: alias classes (TBAA) of lists and of
# their items, as a write to one never changes the other; !7: the domain of the alias scopes of arrays.
METADATA = """
!0 = !{!"branch_weights", i32 1, i32 1000000}
!1 = !{}
!2 = !{!"lists"}
!3 = !{!"list", !2, i64 0}
!4 = !{!"items", !2, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!4, !4, i64 0}
!7 = distinct !{!7}
"""
# A loop begins at a cache line: short loops with many branches took up to twice as long at other addresses.
ALIGNED = '!{!"llvm.loop.align", i32 64}'
LONG_LOOP = "!LONG"  # hints of a loop that is not unrolled
FULLY_UNROLLED = "!WHOLE"  # hints of a loop to vectorise and unroll fully, so that stored values stay in registers
FIRST_LOOP = 10  # number of a module's first loop metadata node
FIRST_SCOPE = 1_000_000  # number of a module's first alias scope
FIRST_GROUP = 2_000_000  # number of a module's first access group
NODES_BY_HINTS = {
    LONG_LOOP: f'!{{!"llvm.loop.unroll.disable"}}, {ALIGNED}',
    FULLY_UNROLLED: '!{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_vectorized", '
    '!{!"llvm.loop.unroll.full"}}',
}


def scope_definitions(count: int) -> str:
    """Return the definitions of the first `count` alias scopes of a module."""
    numbers = range(FIRST_SCOPE, FIRST_SCOPE + count)
    return "".join(f"!{number} = distinct !{{!{number}, !7}}\n" for number in numbers)


def group_definitions(count: int) -> str:
    """Return the definitions of the first `count` access groups of a module."""
    return "".join(f"!{number} = distinct !{{}}\n" for number in range(FIRST_GROUP, FIRST_GROUP + count))


def independent_loop(group: str) -> str:
    """Return the hints of a loop whose iterations are independent as far as the accesses of a group go."""
    return f'{ALIGNED}, !{{!"llvm.loop.parallel_accesses", {group}}}'


class LoopBranch(str):
    """The line that branches back to the head of a loop with hints, which are numbered when the line is printed.

    `hints` is a key of `NODES_BY_HINTS`, or the text of metadata nodes.
    """

    __slots__ = ("branch", "hints")

    branch: str
    hints: str

    @classmethod
    def of(cls, branch: str, hints: str) -> LoopBranch:
        line = cls(f"{branch}, !llvm.loop {hints}")
        line.branch, line.hints = branch, hints
        return line

    def with_number(self, number: int) -> str:
        """Return the line with metadata of that number."""
        return f"{self.branch}, !llvm.loop !{number}"
