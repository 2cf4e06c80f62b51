"""Values of running and traced programs: tensors, variables, graph objects, recording, dispatch."""
