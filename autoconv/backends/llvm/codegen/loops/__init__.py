"""Lowerings of groups of nodes that share a loop over elements: elementwise ops, views, reductions, scatters."""
