"""Points-to analysis: which objects and numbers the lists and objects of a graph may hold."""
