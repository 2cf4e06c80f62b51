"""The plan of a graph: which nodes share a loop, what runs by blocks or concurrently, and how loops are split."""
