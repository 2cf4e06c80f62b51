"""Matrices by what they do to vectors: a module a kind."""
