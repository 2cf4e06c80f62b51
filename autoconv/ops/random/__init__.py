"""Ops that draw random numbers, and the generators of the words that the numbers are made of."""
