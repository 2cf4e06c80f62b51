"""Random permutations of positions, equal to those of `ops.random.permutations`: one swap for each random word."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.codegen.random.philox import STATE_NAMES, write_philox
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.ops.random.philox import BLOCK_WORDS


def swap_block_count(out: Any, count: Position) -> Position:
    """Return how many blocks of words the `count - 1` swaps of a permutation use."""
    rounded_count = plus(out, count, 2)  # the swaps, and 3 more to round the quotient up
    return rounded_count // BLOCK_WORDS if isinstance(rounded_count, int) else out.op("lshr", rounded_count, 2)


def write_permutation_function(module: ModuleText) -> str:
    """Write a function that stores the positions from 0 on, permuted by a key and a counter; return its name."""
    names = ("%count", *STATE_NAMES)
    out = FunctionText(module, Signature("void", ["ptr noalias %result", *(f"i64 {name}" for name in names)]))
    with out.loop("0", "%count") as i:
        out.store("i64", i, out.gep("i64", "%result", i))
    words = out.alloca(f"[{BLOCK_WORDS} x i32]")
    with out.loop("0", str(swap_block_count(out, "%count"))) as block:
        out.call(write_philox(module), words, block, 1, *STATE_NAMES)
        first = out.op("shl", block, 2)
        swaps_left = out.op("sub", out.op("sub", "%count", 1), first)
        word_count = out.select(out.icmp("ult", swaps_left, BLOCK_WORDS), swaps_left, BLOCK_WORDS)
        with out.loop("0", str(word_count)) as lane:
            i = out.op("add", first, lane)
            word = out.cast("zext", out.load("i32", out.gep("i32", words, lane)), "i64")
            j = out.op("add", i, out.op("urem", word, out.op("sub", "%count", i)))
            addresses = [out.gep("i64", "%result", position) for position in (i, j)]
            values = [out.load("i64", address) for address in addresses]
            for address, value in zip(addresses, reversed(values), strict=True):
                out.store("i64", value, address)
    out.ret()
    return out.finish("permutation")
