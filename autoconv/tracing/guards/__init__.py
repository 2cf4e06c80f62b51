"""What a trace read or wrote outside of its arguments, and the check that the trace still holds."""
