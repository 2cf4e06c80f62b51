"""Analyses of source trees: scopes, liveness, exits of statements, the state of regions."""
