"""Ops of linear algebra: products, decompositions, solutions of systems, Fourier transforms."""
