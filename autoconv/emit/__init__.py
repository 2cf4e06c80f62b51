"""Printing of converted trees; conversion of modules, functions and generator functions; source maps."""
