"""Random permutations of positions, equal to those of `ops.random.permutations`: one swap a word, in order."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.codegen.random.philox import philox
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Signature

_WORDS = 4  # of a block


def blocks_of_swaps(out: Any, count: Position) -> Position:
    """Return how many blocks of words the swaps of so many positions use."""
    more = plus(out, count, 2)
    return more // _WORDS if isinstance(more, int) else out.op("lshr", more, 2)


def permutation(module: ModuleText) -> str:
    """Return the name of the function that writes the positions from 0 on, permuted by a key and counter."""
    names = ("%count", "%key", "%low", "%high")
    out = FunctionText(module, Signature("void", ["ptr noalias %result", *(f"i64 {name}" for name in names)]))
    with out.loop("0", "%count") as i:
        out.store("i64", i, out.gep("i64", "%result", i))
    words = out.alloca(f"[{_WORDS} x i32]")
    with out.loop("0", str(blocks_of_swaps(out, "%count"))) as block:
        out.call(philox(module), words, block, 1, *names[1:])
        first = out.op("shl", block, 2)
        waiting = out.op("sub", out.op("sub", "%count", 1), first)
        used = out.select(out.icmp("ult", waiting, _WORDS), waiting, _WORDS)
        with out.loop("0", str(used)) as lane:
            i = out.op("add", first, lane)
            word = out.cast("zext", out.load("i32", out.gep("i32", words, lane)), "i64")
            j = out.op("add", i, out.op("urem", word, out.op("sub", "%count", i)))
            places = [out.gep("i64", "%result", position) for position in (i, j)]
            held = [out.load("i64", place) for place in places]
            for place, value in zip(places, reversed(held), strict=True):
                out.store("i64", value, place)
    out.ret()
    return out.finish("permutation")

