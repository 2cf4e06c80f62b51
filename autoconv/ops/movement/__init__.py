"""Ops that make, move and select elements: shapes, indices, joins, paddings."""
