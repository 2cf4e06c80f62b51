"""Random numbers: stateless functions and generators."""
