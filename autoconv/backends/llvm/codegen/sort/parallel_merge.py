"""Sort one long row in two threads: each half by itself, then merge both from either end.

The merge from the front and the one from the back yield half of the elements each, so neither can reach the end of a
half: there is no search for a splitting point, and no bounds check in an iteration. Of equal keys, the first half's
comes first, so the order is stable.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, partitioned_routine
from autoconv.backends.llvm.codegen.sort.radix import Memory, Sorter
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.partition import split_counts
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bool_, int64, uint32
from autoconv.graph.types import TensorType

KeyAt = Callable[[Routine, str], Element]
Put = Callable[[Routine, str, Element, Element | None], None]


def is_worthwhile(size: int, dtype: DType, work: int) -> bool:
    """Return whether to sort a row of that size, whose sort takes `work` (in units of 0.05 ns), in halves."""
    return dtype.size >= 4 and current_target().threads > 1 and split_counts(2, work) is not None


class Halves:
    """One row of keys, and with `ordered` their positions."""

    def __init__(self, region: LoweringContext, size: int, dtype: DType, ordered: bool, work: int) -> None:
        self._region = region
        self._size = size
        self._half = (size + 1) // 2  # an odd row gets a maximal key at the end, so that both halves are equally long
        self._dtype = dtype
        self._ordered = ordered
        self._work = work

    def sort(self, x: str, result: str, key_at: KeyAt, put: Put) -> None:
        """Call the routines that sort the elements at `x` into `result`, named `%x` and `%result0` there.

        `key_at` reads the key at a place, `put` writes a key and its position to a place.
        """
        region, buffers = self._region, []
        names = ["ptr noalias readonly %x", "ptr noalias %result0"]
        pointers = [f"ptr {x}", f"ptr {result}"]
        kinds = {"keys": (self._dtype, 4 * self._half), "found": (int64, 2)}
        if self._ordered:
            kinds["positions"] = (uint32, 4 * self._half)
        for name, (dtype, count) in kinds.items():
            type_ = TensorType(dtype, (count,))
            array = region.new_array(type_)
            buffers.append((array.slot or "", type_))
            names.append(f"ptr noalias %{name}")
            pointers.append(f"ptr {region.address(array)}")
        for routine in (self._sort_halves(names, key_at), self._merge(names, put)):
            call(region, routine, *pointers)
        for slot, type_ in buffers:
            region.body.release_or_keep(slot, type_)

    def _sort_halves(self, names: list[str], key_at: KeyAt) -> str:
        """Sort each half in its share of the memory; `%found` records in which part of it each ends up."""
        routine = Routine(self._region, [*names, *PART], "i1", optimises_size=True)
        out, b = routine.out, routine.b
        with out.loop("%first", "%last") as half:
            start = out.mul(half, self._half)
            memory = [self._half_address(routine, name, dtype, half) for name, dtype in self._arrays()]
            sorter = Sorter(routine, self._half, self._dtype, self._ordered, Memory(memory[0], memory[-1]))

            def key_of(i: str) -> Element:
                place = out.add(start, i)
                if self._size == 2 * self._half:
                    return key_at(routine, place)
                last = b.wrap(bool_, out.icmp("eq", place, self._size))
                within = out.select(last.ir, self._size - 1, place)
                highest = b.constant((1 << 8 * self._dtype.size) - 1, self._dtype)
                return b.select(last, highest, key_at(routine, within))

            keys, _ = sorter.sort(key_of)
            is_second = b.wrap(bool_, out.differs(keys, memory[0]))
            store(b, b.cast(is_second, int64), "%found", half)
        return partitioned_routine(self._region, names, routine, 2, self._work)

    def _arrays(self) -> list[tuple[str, DType]]:
        return [("%keys", self._dtype), *([("%positions", uint32)] if self._ordered else [])]

    def _half_address(self, routine: Routine, array: str, dtype: DType, half: str, part: str = "0") -> str:
        """Return where in an array the memory of that half begins, or the second part of it."""
        out = routine.out
        share = out.op("shl", half, 1)
        place = out.mul(out.add(share, part), self._half)
        return out.gep(register(dtype), array, place)

    def _merge(self, names: list[str], put: Put) -> str:
        """Merge from the front in the first part, from the back in the second."""
        routine = Routine(self._region, [*names, *PART], "i1", optimises_size=True)
        out, b = routine.out, routine.b
        with out.loop("%first", "%last") as which:
            sorted_ = [
                [self._half_address(routine, name, dtype, str(i), load(b, int64, "%found", i).ir) for i in range(2)]
                for name, dtype in self._arrays()
            ]
            out.either(
                out.icmp("eq", which, 0),
                lambda: self._merge_from(routine, sorted_, put, from_back=False),
                lambda: self._merge_from(routine, sorted_, put, from_back=True),
            )
        return partitioned_routine(self._region, names, routine, 2, self._work)

    def _merge_from(self, routine: Routine, sorted_: list[list[str]], put: Put, from_back: bool) -> None:
        out, b = routine.out, routine.b
        odd = 2 * self._half - self._size
        # Elements taken from the second half; from the back, the maximal key counts as one.
        cursor = out.alloca("i64", str(odd if from_back else 0))
        with out.loop(str(odd if from_back else 0), str(self._half)) as turn:
            second = out.load("i64", cursor)
            first = out.sub(turn, second)
            if from_back:
                places = [out.sub(self._half - 1, count) for count in (first, second)]
                target = out.sub(2 * self._half - 1, turn)
            else:
                places, target = [first, second], turn
            x, y = (load(b, self._dtype, keys, place) for keys, place in zip(sorted_[0], places, strict=True))
            of_second = b.compare("ge" if from_back else "lt", y, x)
            position = None
            if self._ordered:
                one, other = (load(b, uint32, at, place) for at, place in zip(sorted_[1], places, strict=True))
                position = b.select(of_second, other + self._half, one)
            put(routine, target, b.select(of_second, y, x), position)
            out.store("i64", out.add(second, b.cast(of_second, int64).ir), cursor)
