"""Ops that combine elements along axes: reductions, scans, sorts."""
