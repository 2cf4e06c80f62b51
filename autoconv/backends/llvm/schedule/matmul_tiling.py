"""Choice of tiles or of BLAS for a matrix product, and of the shape of tiles."""

from __future__ import annotations

import math

from autoconv.backends.llvm.analysis.representation import sizes, uses_open_sizes
from autoconv.backends.llvm.ir.index_arith import Position, is_known
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.target.machine import Registers, current_target
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.lazy_dataclass import dataclass


def tiled_product(node: Node, patches: Patches | None = None) -> Product | None:
    """Return the product of a node if it is lowered to tiles, else None; `patches` is its left operand, if implicit.

    Products with transposed patches do not count: see `Product.suits_transposed_patches`.
    """
    if uses_open_sizes(node) or (patches is not None and node.attributes.get("transpose_a")):
        return None
    product = Product(node, patches)
    return product if product.suits_tiles() else None


def can_read_patches(node: Node, patches: Patches) -> bool:
    """Return whether tiles can read the patches of a product's left operand in place.

    The number of patches may be open.
    """
    if node.attributes.get("transpose_a"):
        return not uses_open_sizes(node) and Product(node, patches).suits_transposed_patches()
    if not uses_open_sizes(node):
        return tiled_product(node, patches) is not None
    product = Product(node, patches)
    _, patch_step = patches.rows[-1]
    sizes_of_tiles = (product.columns, product.inner, patch_step)
    if current_target().vector_registers is None or not is_known(sizes_of_tiles) or len(patches.rows) < 2:  # type: ignore[arg-type]
        return False
    if product.columns < MIN_TILED_COLUMNS:
        return False
    return product.inner * product.columns * product.dtype.size <= current_target().cache


class Product:
    """The matrix product of a node: x, `rows` by `inner`, times y, `inner` by `columns`.

    Both may be transposed in memory. If x is a stack of matrices, their rows count as rows of a single matrix; if
    `is_batched` is true, the fields describe the product of each pair of matrices. `work` is the number of
    multiplications, `line_height` the number of patches along the innermost dimension, a line. `rows`, `work` and
    `line_height` are 0 if a size in them is open. `width_x` and `width_y` are the elements of a row in memory.
    """

    def __init__(self, node: Node, patches: Patches | None = None, is_batched: bool = False) -> None:
        self.node = node
        self.patches = patches
        self.is_batched = is_batched
        x, y = node.inputs
        (result,) = node.results
        self.dtype = x.dtype
        *outer_sizes, self.columns = sizes(result.type)
        self.rows: int = outer_sizes[-1] if is_batched else math.prod(outer_sizes) if is_known(outer_sizes) else 0
        line_height = patches.rows[-1][0] if patches else self.rows
        self.line_height = line_height if isinstance(line_height, int) else 0
        self.is_x_transposed: bool = node.attributes.get("transpose_a", False)
        self.is_y_transposed: bool = node.attributes.get("transpose_b", False)
        self.inner = sizes(x.type)[-2 if self.is_x_transposed else -1]
        self.width_x, self.width_y = sizes(x.type)[-1], sizes(y.type)[-1]
        sides = self.rows, self.columns, self.inner
        self.work = math.prod(sides) if is_known(sides) else 0
        self.is_empty = 0 in (*sizes(x.type), *sizes(y.type))

    @property
    def x_step(self) -> int:
        """The distance in elements of two numbers of x that are adjacent along the inner dimension."""
        return self.width_x if self.is_x_transposed else 1

    @property
    def x_row_step(self) -> int:
        """The distance in elements of two adjacent rows of x."""
        return 1 if self.is_x_transposed else self.width_x

    def suits_tiles(self) -> bool:
        """Return whether tiles are fast: y fits in the cache, and a transposition of y costs little beside the product.

        An open number of rows is assumed to be large, an open inner dimension to be small. Strides have to be
        constants.
        """
        has_constant_strides = is_known((self.columns, self.width_x, self.width_y))
        if current_target().vector_registers is None or self.is_empty or not has_constant_strides:
            return False
        y_bytes = self.inner * self.columns * self.dtype.size if isinstance(self.inner, int) else 0
        fits_cache = y_bytes <= current_target().cache
        least_rows = _MIN_ROWS_OF_BATCHES if self.is_batched else _MIN_ROWS
        costs_transposition = self.is_y_transposed and 0 < self.rows < least_rows  # 0 rows stand for an open number
        return fits_cache and self.columns >= MIN_TILED_COLUMNS and not costs_transposition

    def suits_blocks(self) -> bool:
        """Return whether blocked tiles are faster than BLAS for a product whose y does not fit in the cache.

        They are with vectors of 512 bits, which not every BLAS uses, and enough rows to pay for the packing of y.
        Enough columns have to pay for the reading of x, more of them if its rows are not contiguous.
        """
        registers = current_target().vector_registers
        has_wide_registers = registers is not None and registers.size == 64
        if not has_wide_registers or self.work < _MIN_BLOCKED_WORK or self.rows < _MIN_BLOCKED_ROWS:
            return False
        return self.columns >= (MIN_TILED_COLUMNS if self.is_x_transposed else 2)

    def suits_transposed_patches(self) -> bool:
        """Return whether tiles can read the transposed patches of a large product in place, line by line."""
        assert self.patches is not None
        registers = current_target().vector_registers
        has_wide_registers = registers is not None and registers.size == 64
        is_large = self.work >= _MIN_BLOCKED_WORK and self.columns >= MIN_TILED_COLUMNS
        positions = [position for pair in (*self.patches.rows, *self.patches.stretches) for position in pair]
        if not is_large or self.line_height < _MIN_LINE_HEIGHT or not is_known(positions):  # type: ignore[arg-type]
            return False
        return has_wide_registers and not self.is_y_transposed


_MIN_LINE_HEIGHT = 8  # fewest patches of a line: for each line, tiles load and store their sums
_MIN_BLOCKED_WORK = 1 << 24  # least multiplications of a blocked product
_MIN_BLOCKED_ROWS = 256  # fewest rows of a blocked product
MIN_TILED_COLUMNS = 4  # fewest columns of a result that tiles compute
_MIN_ROWS, _MIN_ROWS_OF_BATCHES = 8, 4  # fewest rows that pay for a transposition of y; BLAS is slow in batches
PART_WORK = 500_000  # least multiplications in one part of a product
# Steps of a chunk, a partial sum that is then added to the total. So rounding errors grow with the number of chunks,
# not with that of steps.
CHUNK_STEPS = 256
GROUP_BYTES = 1 << 19  # bytes of the blocks of panels that stay in the second-level cache


@dataclass(frozen=True)
class Sum:
    """A sum over `count` steps along the inner dimension, from the offsets `x` and `y` in elements of the matrices.

    A step advances x by `x_step` and y by `y_step` elements; the columns of y are contiguous.
    """

    x: Position
    y: int
    count: Position
    x_step: int
    y_step: int


@dataclass(frozen=True)
class Tiling:
    """Tiles of a result of `rows` by `columns`: each has `height` rows by `width` vectors of `lanes` numbers."""

    rows: Position
    columns: int
    lanes: int
    height: int
    width: int

    @property
    def count(self) -> int:
        """The number of rows of tiles, for a known number of rows."""
        assert isinstance(self.rows, int)
        return -(-self.rows // self.height)


def choose_tiling(rows: Position, columns: int, dtype: DType, registers: Registers, block_height: int = 0) -> Tiling:
    """Choose tiles with few loads for each multiplication.

    With 32 registers, a tile has 12 rows by 2 vectors, or fewer rows by more vectors, so that there are enough
    independent sums. The height divides `block_height`, unless that is 0. If the number of rows is open, tiles are a
    little lower, so that fewer rows are computed twice.
    """
    lanes = registers.size // dtype.size
    accumulators = (3 * registers.count) // 4  # number of registers that hold sums
    if isinstance(rows, str):  # the register that holds an open size
        return Tiling(rows, columns, lanes, accumulators // 3, max(1, min(3, -(-columns // lanes))))
    max_height = accumulators // 2
    height = min(rows, max_height)
    if block_height:
        heights = range(min(max_height, block_height), 0, -1)
        height = next(height for height in heights if block_height % height == 0)
    elif max_height < rows < 10 * max_height:  # prefer a height that divides the rows
        heights = range(max_height, max_height // 2, -1)
        height = next((height for height in heights if rows % height == 0), max_height)
    vectors = -(-columns // lanes)  # vectors of a row of the result
    width = max(1, min(accumulators // height, 8, vectors))
    # A narrower width that divides the columns, with enough independent sums, saves the code of an edge tile.
    divisors = (divisor for divisor in range(width, 0, -1) if vectors % divisor == 0)
    width = next((divisor for divisor in divisors if 3 * divisor * height >= 2 * accumulators), width)
    return Tiling(rows, columns, lanes, height, width)
