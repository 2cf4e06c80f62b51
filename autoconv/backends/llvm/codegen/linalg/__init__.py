"""Lowerings of linear algebra to LAPACK's routines, which a loop over a batch of matrices calls."""
