"""Facts about a graph and its nodes: how each is lowered, what a value is in native code, and what may overlap."""
