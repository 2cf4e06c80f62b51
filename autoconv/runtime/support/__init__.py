"""Helpers of the runtime: spans, shapes, structures, identity, logs."""
