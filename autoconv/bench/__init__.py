"""Benchmarks of workloads against NumPy and other compilers: `measure` runs them, each peer in a process of its own.

A workload is a file with

    SUITE                   the group it belongs to
    inputs(random, tiny)    its arguments, new ones from a numpy.random.Generator; small ones for a test
    with_numpy(*arguments)  the reference result
    with_graph(tf)          returns the function to be timed; `tf` is autoconv or TensorFlow. The optional
                            with_jax(jax), with_numba(numba) and with_torch(torch) return compiled functions
    RELATIVE_TOLERANCE      of the comparison with NumPy's result; by default 1e-5
    OUTLIER_FRACTION        the fraction of elements that may differ by more; by default 0
    KERNELS                 the ops of the function that autoconv runs by their kernels; by default none

A workload that trains a Keras model has `data(random, tiny)`, `model(keras, tiny)`, BATCH and LOSSES instead; see
`autoconv/bench/training.py`.
"""

from autoconv.bench.peers import PEERS, Peer
from autoconv.bench.rounds import Measurement, Settings, measure, workloads

__all__ = ["PEERS", "Measurement", "Peer", "Settings", "measure", "workloads"]
