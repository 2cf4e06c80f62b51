"""Operators on values: builtins, comparisons, items, numbers, instances of classes, lists of the graph."""
