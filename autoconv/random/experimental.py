"""Older names, and functions on seeds."""

from autoconv.api.random.generators import Generator, create_rng_state, get_global_generator, set_global_generator
from autoconv.api.random.stateless import Algorithm, index_shuffle, stateless_shuffle
from autoconv.api.random.stateless import fold_in as stateless_fold_in
from autoconv.api.random.stateless import split as stateless_split
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip

_wrap_public_functions(globals())
