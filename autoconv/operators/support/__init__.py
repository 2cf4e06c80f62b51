"""Helpers that all operators share: signatures of builtins, tracebacks, speculation, side effects of methods."""
