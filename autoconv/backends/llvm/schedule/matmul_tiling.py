"""Choose how a matrix product runs: its tile shape, or whether a BLAS is as fast."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autoconv.backends.llvm.analysis.representation import sizes, uses_open_sizes
from autoconv.backends.llvm.ir.index_arith import Position, is_known
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.target.machine import Registers, current_target
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node


def tiles_of(node: Node, patches: Patches | None = None) -> Product | None:
    """Return the product of a node if it is lowered to tiles."""
    if uses_open_sizes(node):
        return None
    product = Product(node, patches)
    return product if product.suits_tiles() else None


def takes_patches(node: Node, patches: Patches) -> bool:
    """Return whether tiles compute the product without materialising its left-hand side.

    The number of patches may be open.
    """
    if not uses_open_sizes(node):
        return tiles_of(node, patches) is not None
    product = Product(node, patches)
    counts = (product.columns, product.inner, patches.rows[-1][1])
    if current_target().vectors is None or not is_known(counts) or len(patches.rows) < 2:  # type: ignore[arg-type]
        return False
    if product.columns < FEWEST_COLUMNS:
        return False
    return product.inner * product.columns * product.dtype.size <= current_target().cache


class Product:
    """The matrix product of a node: x, `rows` by `inner`, times y, `inner` by `columns`.

    Each may be transposed in memory. Rows of stacked matrices count as those of one, except with `batched`, where each
    is multiplied by its own matrix.
    """

    def __init__(self, node: Node, patches: Patches | None = None, batched: bool = False) -> None:
        self.node = node
        self.patches = patches
        x, y = node.inputs
        (result,) = node.results
        self.dtype = x.dtype
        *several, self.columns = sizes(result.type)
        self.rows: int = several[-1] if batched else math.prod(several) if is_known(several) else 0
        unit = patches.rows[-1][0] if patches else self.rows
        self.unit = unit if isinstance(unit, int) else 0  # 0 if open, like `rows`
        self.flip_x: bool = node.attributes.get("transpose_a", False)
        self.flip_y: bool = node.attributes.get("transpose_b", False)
        self.inner = sizes(x.type)[-2 if self.flip_x else -1]
        self.width_x, self.width_y = sizes(x.type)[-1], sizes(y.type)[-1]
        sides = self.rows, self.columns, self.inner
        self.work = math.prod(sides) if is_known(sides) else 0  # 0 also for open sizes
        self.is_empty = 0 in (*sizes(x.type), *sizes(y.type))

    def suits_tiles(self) -> bool:
        """Return whether tiles are fast: y stays in caches, and transposing it is cheap compared with the product.

        A symbolic number of rows is assumed large, a symbolic inner dimension small. Strides have to be constants.
        """
        strides = is_known((self.columns, self.width_x, self.width_y))
        if current_target().vectors is None or self.is_empty or not strides:
            return False
        large = isinstance(self.inner, int) and self.inner * self.columns * self.dtype.size > current_target().cache
        few = self.columns < FEWEST_COLUMNS or (self.flip_y and 0 < self.rows < 8)
        return not large and not few


FEWEST_COLUMNS = 4  # of a result that tiles compute
PART_WORK = 500_000  # multiplications in one part of a product
# Steps whose sum is accumulated before it is added to the total: rounding errors grow with the number of chunks.
CHUNK = 256


@dataclass(frozen=True)
class Sum:
    """One run of `count` steps along the inner dimension, from offsets `x` and `y` (in elements) in the matrices.

    A step advances x by `x_step` and y by `y_step` elements; the columns of y are contiguous.
    """

    x: Position
    y: int
    count: Position
    x_step: int
    y_step: int


@dataclass(frozen=True)
class Tiling:
    """The tiling of a result of `rows` by `columns`: tiles of `height` rows by `width` vectors of `lanes` numbers."""

    rows: Position
    columns: int
    lanes: int
    height: int
    width: int

    @property
    def count(self) -> int:
        """The number of tiles from top to bottom, of known rows."""
        assert isinstance(self.rows, int)
        return -(-self.rows // self.height)


def tiling(rows: Position, columns: int, dtype: DType, machine: Registers, whole: int = 0) -> Tiling:
    """Choose tiles with few loads for many products.

    With 32 registers that is 12 rows by 2 vectors, and for few rows more vectors, so that enough sums are in flight.
    With `whole`, the tile height divides that number of rows. For symbolic rows, tiles are a little lower, so that less
    is computed twice.
    """
    lanes = machine.size // dtype.size
    most = (3 * machine.count) // 4  # accumulator registers
    if isinstance(rows, str):
        return Tiling(rows, columns, lanes, most // 3, max(1, min(3, -(-columns // lanes))))
    tallest = most // 2
    height = min(rows, tallest)
    if whole:
        height = next(h for h in range(min(tallest, whole), 0, -1) if whole % h == 0)
    elif tallest < rows < 10 * tallest:  # prefer a height that divides the rows
        height = next((h for h in range(tallest, tallest // 2, -1) if rows % h == 0), tallest)
    vectors = -(-columns // lanes)
    width = max(1, min(most // height, 8, vectors))
    # Prefer a narrower width that divides the columns, with enough sums in flight: it saves the code of an edge tile.
    width = next((w for w in range(width, 0, -1) if vectors % w == 0 and 3 * w * height >= 2 * most), width)
    return Tiling(rows, columns, lanes, height, width)
