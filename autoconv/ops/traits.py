"""Facts about ops for analyses, passes and backends; each fact is stated once, in the op's record."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import DType
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Reduction:
    """The way in which a reduction folds elements.

    kind            its name in native code
    combine         the op that folds two elements, commutative and associative up to rounding
    start           its neutral element; None if that is the lowest or highest number of the dtype
    """

    kind: str
    combine: str
    start: int | bool | None

    def neutral(self, dtype: DType) -> Any:
        """Return the neutral element for a dtype, which is the result for no elements."""
        if self.start is not None:
            return self.start
        is_minimum = self.combine == "minimum"
        if dtype.is_floating:
            return float("inf") if is_minimum else -float("inf")
        return dtype.max if is_minimum else dtype.min


@dataclass(frozen=True, slots=True)
class SizeOperand:
    """The operand whose elements are sizes of the result.

    attribute       the attribute that has the sizes if the operand is absent
    position        the index of the operand, which is the last one
    form            "vector" of dimensions, a single "number", or "pairs" of the numbers of elements that are added
                    before and after each dimension
    """

    attribute: str
    position: int
    form: str = "vector"


@dataclass(frozen=True, slots=True)
class Indexing:
    """The way in which operands with positions select elements of an array.

    form            "rows": each position selects a slice along an axis (`gather`); "vectors": the last axis of the
                    positions is an index (`gather_nd`); "along": one position along an axis for each element of the
                    result (`take_along_axis`); "items": the entries of a subscript
    first_operand   the index of the first operand with positions
    """

    form: str
    first_operand: int = 1


@dataclass(frozen=True, slots=True)
class Scatter:
    """The way in which an op writes to indexed elements.

    updates         the index of the operand with the elements that are written
    combine         the op that combines these with the current elements; None if they replace them
    base            the index of the operand with the initial elements; None for zeros
    """

    updates: int
    combine: str | None = "add"
    base: int | None = None


SUM, MEAN = Reduction("sum", "add", start=0), Reduction("mean", "add", start=0)
PROD = Reduction("prod", "multiply", start=1)
MAX, MIN = Reduction("max", "maximum", start=None), Reduction("min", "minimum", start=None)
ANY, ALL = Reduction("any", "logical_or", start=False), Reduction("all", "logical_and", start=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Facts about an op; tests check them against its kernel. A fact that a record does not state is false or absent.

    elementwise     every element of the result depends on the same element of the (broadcast) inputs alone
    commutative     f(x, y) == f(y, x)
    identity        the second operand e for which f(x, e) == x
    shape_only      the indices of inputs that are read for their shape only (of a list, for its length too)
    sizes           the operand whose elements are sizes of the result
    element_count_inputs
                    the indices of other inputs that decide how many elements the result has
    selects_rows    the result has a row for each element of the first operand that passes a test
    view            results share the memory of the first input, as NumPy's views do, or are that input itself
    may_alias       results may share the memory of an input, as in trivial cases of the kernel or in unknown functions
    same_order      the result has the elements of the first input in the same order, under another shape
    generates       elements are computed from their index and scalars: no array is read
    allocates       the result is a new array in memory, container or instance, to which nothing else refers
    stores_into     the index of the input whose elements the op writes
    control         the regions are entered and left along the edges of `graph/region_flow.py` alone
    selects         the first operand selects the region that runs; the others are operands of that region
    repeats         the regions run until a test fails; the first operands are state (`region_flow.state_size`)
    prints          the op prints for Python's `print`: it counts characters, so that a rerun does not print them again
    irreversible    the op has an effect that is neither logged nor counted, so that it cannot be undone: calls of
                    Python, TensorFlow's print
    costly          an element takes longer to compute than to load: divisions and elementary functions
    compiles_eager_calls
                    the kernel takes many times as long as native code: eager calls on large arrays are compiled
    reduction       how elements along axes are folded
    indexing        how operands with positions select the elements that are read or written
    scatter         how indexed elements are written; None for ops that read them
    op_on_tensors   of an op on arrays in memory: the op with the same attributes on tensors
    overflow_error  an int beyond 64 bits raises: "only" if nothing else does, "also" if other errors are possible
    """

    elementwise: bool = False
    commutative: bool = False
    identity: int | float | bool | None = None
    shape_only: tuple[int, ...] = ()
    sizes: SizeOperand | None = None
    element_count_inputs: tuple[int, ...] = ()
    selects_rows: bool = False
    view: bool = False
    may_alias: bool = False
    same_order: bool = False
    generates: bool = False
    allocates: bool = False
    stores_into: int | None = None
    control: bool = False
    selects: bool = False
    repeats: bool = False
    prints: bool = False
    irreversible: bool = False
    costly: bool = False
    compiles_eager_calls: bool = False
    reduction: Reduction | None = None
    indexing: Indexing | None = None
    scatter: Scatter | None = None
    op_on_tensors: str = ""
    overflow_error: str = ""
