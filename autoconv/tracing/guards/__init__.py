"""Guards: the values that a trace read or wrote outside of its arguments, and checks that the trace still holds."""
