"""What users see of functions: explanations, logs, function types, and the graph as TensorFlow shows it."""
