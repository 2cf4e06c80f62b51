"""The cache key of a call: signatures, types of arguments, structures."""
