"""Sort one long row in two threads, which sort a half each and then merge the halves from both ends.

The merges from the front and from the back yield half of the elements each, so neither reaches the end of a half. No
search for a splitting point is needed, and no bounds check in an iteration. Of equal keys, the key of the first half
comes first, so the order is stable.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, split_routine
from autoconv.backends.llvm.codegen.sort.radix import SortBuffers, Sorter
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.partition import choose_loop_split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bool_, int64, uint32
from autoconv.graph.types import TensorType

KeyLoader = Callable[[Routine, str], Element]  # (routine, position) -> key
ResultWriter = Callable[[Routine, str, Element, Element | None], None]  # (routine, position, key, original position)


def is_worthwhile(size: int, dtype: DType, work: int) -> bool:
    """Return whether to sort a row in halves, if its sort in one thread takes `work`, in units of 0.05 ns."""
    return dtype.size >= 4 and current_target().threads > 1 and choose_loop_split(2, work) is not None


class HalvesSorter:
    """A writer of the routines that sort one row of keys; if `has_positions`, original positions move with them."""

    def __init__(self, region: LoweringContext, size: int, dtype: DType, has_positions: bool, work: int) -> None:
        self._region = region
        self._size = size
        self._half_size = (size + 1) // 2  # an odd row is padded by a maximal key, so that both halves have this size
        self._dtype = dtype
        self._has_positions = has_positions
        self._work = work

    def sort(self, x: str, result: str, load_key: KeyLoader, store_result: ResultWriter) -> None:
        """Write and call the routines that sort the elements at the address `x` into `result`.

        `load_key` loads the key at a position, and `store_result` stores a key and its original position.
        """
        region, buffers = self._region, []
        parameters = ["ptr noalias readonly %x", "ptr noalias %result0"]
        pointers = [f"ptr {x}", f"ptr {result}"]
        buffer_types = {"keys": (self._dtype, 4 * self._half_size), "sorted_buffers": (int64, 2)}
        if self._has_positions:
            buffer_types["positions"] = (uint32, 4 * self._half_size)
        for name, (dtype, count) in buffer_types.items():
            type_ = TensorType(dtype, (count,))
            array = region.new_array(type_)
            buffers.append((array.slot or "", type_))
            parameters.append(f"ptr noalias %{name}")
            pointers.append(f"ptr {region.address(array)}")
        for routine in (self._sort_routine(parameters, load_key), self._merge_routine(parameters, store_result)):
            call(region, routine, *pointers)
        for slot, type_ in buffers:
            region.body.release_or_keep(slot, type_)

    def _sort_routine(self, parameters: list[str], load_key: KeyLoader) -> str:
        """Write the routine that sorts each half in its two buffers.

        It stores the number of the buffer with the sorted keys, 0 or 1, in `%sorted_buffers`.
        """
        routine = PartRoutine(self._region, parameters, optimises_size=True)
        out, b = routine.out, routine.b
        with out.loop("%first", "%last") as half:
            start = out.mul(half, self._half_size)
            addresses = [self._half_address(routine, name, dtype, half) for name, dtype in self._buffer_names()]
            buffers = SortBuffers(addresses[0], addresses[-1])  # without positions, the second address is not used
            sorter = Sorter(routine, self._half_size, self._dtype, self._has_positions, buffers)

            def load_key_or_maximum(i: str) -> Element:
                """Return the key at a position of the half; after the end of an odd row, the highest key."""
                position = out.add(start, i)
                if self._size == 2 * self._half_size:
                    return load_key(routine, position)
                is_beyond = b.wrap(bool_, out.icmp("eq", position, self._size))
                bounded_position = out.select(is_beyond.ir, self._size - 1, position)
                highest = b.constant((1 << 8 * self._dtype.size) - 1, self._dtype)
                return b.select(is_beyond, highest, load_key(routine, bounded_position))

            keys, _ = sorter.sort(load_key_or_maximum)
            is_second = b.wrap(bool_, out.differs(keys, buffers.keys))
            store(b, b.cast(is_second, int64), "%sorted_buffers", half)
        return split_routine(self._region, parameters, routine, 2, self._work)

    def _buffer_names(self) -> list[tuple[str, DType]]:
        """Return the name and the dtype of the array of keys and, if there is one, of positions."""
        return [("%keys", self._dtype), *([("%positions", uint32)] if self._has_positions else [])]

    def _half_address(self, routine: Routine, array: str, dtype: DType, half: str, buffer_number: str = "0") -> str:
        """Return the address of one of the two buffers of a half; `buffer_number` is "0" or "1"."""
        out = routine.out
        first_buffer = out.op("shl", half, 1)
        offset = out.mul(out.add(first_buffer, buffer_number), self._half_size)
        return out.gep(register(dtype), array, offset)

    def _merge_routine(self, parameters: list[str], store_result: ResultWriter) -> str:
        """Write the routine that merges the halves from the front in the first part, from the back in the second."""
        routine = PartRoutine(self._region, parameters, optimises_size=True)
        out, b = routine.out, routine.b
        with out.loop("%first", "%last") as direction:
            buffer_numbers = [load(b, int64, "%sorted_buffers", half).ir for half in range(2)]
            sorted_buffers = [
                [self._half_address(routine, name, dtype, str(half), buffer_numbers[half]) for half in range(2)]
                for name, dtype in self._buffer_names()
            ]
            out.either(
                out.icmp("eq", direction, 0),
                lambda: self._write_merge(routine, sorted_buffers, store_result, from_back=False),
                lambda: self._write_merge(routine, sorted_buffers, store_result, from_back=True),
            )
        return split_routine(self._region, parameters, routine, 2, self._work)

    def _write_merge(
        self, routine: Routine, sorted_buffers: list[list[str]], store_result: ResultWriter, from_back: bool
    ) -> None:
        """Write one of the merges; `sorted_buffers` are the addresses of keys, and of positions, of both halves."""
        out, b = routine.out, routine.b
        padding = 2 * self._half_size - self._size
        # The number of elements that were taken from the second half, padding included.
        second_count_cell = out.alloca("i64", str(padding if from_back else 0))
        with out.loop(str(padding if from_back else 0), str(self._half_size)) as count:
            second_count = out.load("i64", second_count_cell)
            first_count = out.sub(count, second_count)
            if from_back:
                positions = [out.sub(self._half_size - 1, count) for count in (first_count, second_count)]
                target = out.sub(2 * self._half_size - 1, count)
            else:
                positions, target = [first_count, second_count], count
            sorted_keys = zip(sorted_buffers[0], positions, strict=True)
            x, y = (load(b, self._dtype, keys, position) for keys, position in sorted_keys)
            takes_second = b.compare("ge" if from_back else "lt", y, x)
            result_position = None
            if self._has_positions:
                sorted_positions = zip(sorted_buffers[1], positions, strict=True)
                first_position, second_position = (load(b, uint32, *location) for location in sorted_positions)
                result_position = b.select(takes_second, second_position + self._half_size, first_position)
            store_result(routine, target, b.select(takes_second, y, x), result_position)
            out.store("i64", out.add(second_count, b.cast(takes_second, int64).ir), second_count_cell)
