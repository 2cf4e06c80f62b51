"""Lowerings of control flow: branches, loops of the program, tries, and calls of functions, recursive ones included."""
