"""Values of graphs at run time that are no arrays: lists, and the states of generators."""
