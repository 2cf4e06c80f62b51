"""Recording of graphs: regions and the trace, the journal of mutations, tapes, tracebacks, checks of parameters."""
