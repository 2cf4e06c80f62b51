"""The ops: one record per op, one file per family. Importing this package fills `OPS`."""

from autoconv.ops.control import (  # noqa: F401 (registers its records)
    autodiff_support,
    checks,
    flow,
    resources,
)
from autoconv.ops.elementwise import (  # noqa: F401 (registers its records)
    activations,
    arithmetic,
    bessel,
    bitwise,
    casts,
    comparison,
    complexes,
    incomplete,
    logic,
    maths,
    python_complex,
    python_numbers,
    rounding,
    special,
)
from autoconv.ops.linalg import (  # noqa: F401 (registers its records)
    decompositions,
    diagonals,
    factors,
    fft,
    matrix_functions,
    products,
)
from autoconv.ops.lists import (  # noqa: F401 (registers its records)
    conversions,
    positions,
    queues,
    tensor_lists,
    typed_dicts,
    typed_lists,
)
from autoconv.ops.movement import (  # noqa: F401 (registers its records)
    constants,
    gather,
    indexing,
    joining,
    padding,
    permuting,
    repeating,
    selection,
    shaping,
    windows,
)
from autoconv.ops.numpy import (  # noqa: F401 (registers its records)
    arrays,
    calls,
    counts,
    generators,
    methods,
    shapes,
)
from autoconv.ops.python import (  # noqa: F401 (registers its records)
    callbacks,
    datasets,
    exceptions,
    iteration,
    objects,
    output,
    unassigned_names,
    written_lists,
)
from autoconv.ops.random import (  # noqa: F401 (registers its records)
    bits,
    distributions,
    index_shuffle,
    permutations,
)
from autoconv.ops.record import OPS
from autoconv.ops.reduction import (  # noqa: F401 (registers its records)
    axes,
    scans,
    sorting,
)
from autoconv.ops.text import (  # noqa: F401 (registers its records)
    printing,
    segments,
    strings,
    unicode,
)

__all__ = ["OPS"]
