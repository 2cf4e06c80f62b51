"""Tools of TensorFlow that libraries import."""
