"""Private paths of TensorFlow."""
