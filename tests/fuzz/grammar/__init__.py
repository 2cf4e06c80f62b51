"""Random programs over the whole of Python's grammar, typed so that most of them run to the end."""
