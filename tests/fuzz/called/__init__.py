"""Calls of TensorFlow's public functions: operands, accepted templates, variations, the process that runs them."""
