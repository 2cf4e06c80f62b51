"""Calls in converted code: of any callable, comprehensions, displays, text, patterns, special methods."""
