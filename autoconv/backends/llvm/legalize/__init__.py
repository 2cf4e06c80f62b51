"""Passes that rewrite a graph into nodes that have lowerings."""
