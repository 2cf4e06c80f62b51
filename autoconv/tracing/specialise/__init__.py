"""The session of a trace, the two contracts, the cache, and the decisions which calls are traced and how."""
