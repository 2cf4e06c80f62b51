"""Random numbers with and without state, generators, dropout, sampled losses, Sobol sequences."""
