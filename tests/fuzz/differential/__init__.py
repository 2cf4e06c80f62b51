"""What became of a program: plain Python against converted code and against graphs, counted."""
