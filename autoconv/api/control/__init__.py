"""Control flow by functions, checks, and modules and graphs as objects."""
