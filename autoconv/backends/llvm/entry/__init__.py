"""The entry of a graph: a function for Python that unpacks and checks the arguments, and builds the results."""
