"""Views of functions for users: explanations, logs, function types, and the graph as TensorFlow shows it."""
