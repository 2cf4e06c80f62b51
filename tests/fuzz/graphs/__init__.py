"""Random programs over objects of the user's own classes."""
