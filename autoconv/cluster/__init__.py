"""Tasks of a cluster as Ray actors: they run eager ops and graphs, and keep the results until these are fetched."""
