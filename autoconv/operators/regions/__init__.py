"""Conversion of Python values to graph values and back at the border of a region: layouts, joins, shared identity."""
