"""Lowerings of sorts, searches in sorted rows, and selections of order statistics."""
