"""The pass that replaces complex numbers by their real and imaginary parts, and its rules for each op."""
