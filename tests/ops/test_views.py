"""Results that share memory with inputs of their kernels."""

import numpy as np

import autoconv  # noqa: F401
from autoconv.ops import OPS


def test_results_share_memory_with_inputs_only_by_trait():
    samples = [(name, op, sample) for name, op in OPS.items() if op.kernel is not None for sample in op.samples]
    for name, op, sample in samples:
        try:
            with np.errstate(all="ignore"):
                found = op.kernel(*sample.inputs, **sample.attributes)
        except Exception:  # a sample of an error
            continue
        for result in found if isinstance(found, tuple) else (found,):
            for position, argument in enumerate(sample.inputs):
                if isinstance(argument, np.ndarray) and isinstance(result, np.ndarray) and name != "assign_variable":
                    known = op.traits.may_alias or (op.traits.view and position == 0)
                    assert known or not np.shares_memory(result, argument), name
