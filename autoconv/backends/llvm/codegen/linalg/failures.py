"""Results of matrices for which a LAPACK routine failed."""

from __future__ import annotations

from typing import NamedTuple

from autoconv.backends.llvm.codegen.linalg.lapack import Batch
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.graph.dimensions import times
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension


class ResultMemory(NamedTuple):
    """The memory where a routine stores a result: its address, and the number of its elements.

    If `has_lapack_dtype` is true, they have LAPACK's dtype, complex where the op is; otherwise they are real.
    """

    address: str
    element_count: Dimension
    has_lapack_dtype: bool


def write_failure(batch: Batch, node: Node, failure: str, *results: ResultMemory) -> None:
    """Write what happens if the i1 `failure` holds: the op's kernel replaces the results after the last matrix.

    If the node has the attribute `nan_on_failure`, the routine's results get NaN instead. With `requires_finite`, a
    number of the first result that is infinite or NaN is a failure.
    """
    if not node.attributes.get("nan_on_failure"):
        batch.record_failure_if(failure)
        if node.attributes.get("requires_finite"):
            with batch.out.loop("0", str(batch.size_operand(results[0].element_count))) as i:
                number = load(batch.b, float64, results[0].address, i)
                difference = Operand.of((number - number).ir, "double")  # NaN unless the number is finite
                batch.record_failure_if(batch.out.fcmp("uno", difference, difference))
        return
    nan = batch.b.constant(float("nan"), float64)
    with batch.out.if_(failure):
        for address, count, has_lapack_dtype in results:
            double_count = times(count, batch.lapack_dtype.size // 8 if has_lapack_dtype else 1)
            with batch.out.loop("0", str(batch.size_operand(double_count))) as i:
                store(batch.b, nan, address, i)
