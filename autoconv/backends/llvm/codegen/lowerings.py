"""The modules whose import registers lowerings. A new file with a lowering gets its line here."""

# ruff: noqa: F401
import autoconv.backends.llvm.codegen.assertions
import autoconv.backends.llvm.codegen.computed_sizes
import autoconv.backends.llvm.codegen.control.exceptions
import autoconv.backends.llvm.codegen.control.handler_cells
import autoconv.backends.llvm.codegen.control.structured
import autoconv.backends.llvm.codegen.extents
import autoconv.backends.llvm.codegen.fft.ops
import autoconv.backends.llvm.codegen.linalg.ops
import autoconv.backends.llvm.codegen.lists.stack
import autoconv.backends.llvm.codegen.lists.typed
import autoconv.backends.llvm.codegen.lists.typed_bulk
import autoconv.backends.llvm.codegen.loops.arg_extreme
import autoconv.backends.llvm.codegen.loops.bincount
import autoconv.backends.llvm.codegen.loops.index_patterns
import autoconv.backends.llvm.codegen.loops.nonzero
import autoconv.backends.llvm.codegen.loops.relayout
import autoconv.backends.llvm.codegen.loops.scan
import autoconv.backends.llvm.codegen.loops.slice_update
import autoconv.backends.llvm.codegen.matmul.batched
import autoconv.backends.llvm.codegen.matmul.ops
import autoconv.backends.llvm.codegen.memory.ops
import autoconv.backends.llvm.codegen.memory.reduction
import autoconv.backends.llvm.codegen.memory.statement
import autoconv.backends.llvm.codegen.memory.strided_views
import autoconv.backends.llvm.codegen.objects.construct
import autoconv.backends.llvm.codegen.objects.iteration
import autoconv.backends.llvm.codegen.objects.ops
import autoconv.backends.llvm.codegen.random.numpy_generator
import autoconv.backends.llvm.codegen.random.ops
import autoconv.backends.llvm.codegen.scalars
import autoconv.backends.llvm.codegen.sort.numpy_routines
import autoconv.backends.llvm.codegen.sort.ops
import autoconv.backends.llvm.codegen.sort.order_statistics
import autoconv.backends.llvm.codegen.sort.searchsorted
import autoconv.backends.llvm.codegen.sort.unique
