"""Private paths of ragged tensors."""
