"""Ops of control flow, checks and variables, and those that differentiation inserts."""
