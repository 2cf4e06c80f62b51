"""Outputs of a trace: results, values that escape, aliases of arguments, suppressed text."""
