"""Random numbers: from one global state, from generators, and without state from a seed."""

from autoconv.api.generators import Generator, create_rng_state, get_global_generator, set_global_generator
from autoconv.api.random import categorical, gamma, normal, poisson, set_seed, shuffle, truncated_normal, uniform
from autoconv.api.stateless_random import (
    Algorithm,
    fold_in,
    split,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_normal,
    stateless_poisson,
    stateless_shuffle,
    stateless_truncated_normal,
    stateless_uniform,
)
from autoconv.runtime.tracebacks import present_functions as _present_functions


class experimental:
    """Older names, and functions on seeds."""

    Algorithm = Algorithm
    Generator = Generator
    create_rng_state = staticmethod(create_rng_state)
    get_global_generator = staticmethod(get_global_generator)
    set_global_generator = staticmethod(set_global_generator)
    stateless_fold_in = staticmethod(fold_in)
    stateless_shuffle = staticmethod(stateless_shuffle)
    stateless_split = staticmethod(split)


__all__ = [
    "Algorithm", "Generator", "categorical", "create_rng_state", "experimental", "fold_in", "gamma",
    "get_global_generator", "normal", "poisson", "set_global_generator", "set_seed", "shuffle", "split",
    "stateless_binomial", "stateless_categorical", "stateless_gamma", "stateless_normal", "stateless_poisson",
    "stateless_shuffle", "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform",
]  # fmt: skip

_present_functions(globals())
