"""Graphs: nodes, values, regions, types and dimensions, their text, and helpers of passes over them."""
