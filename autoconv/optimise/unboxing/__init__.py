"""The analysis and the rewrite rules of the pass `unbox`: kinds of objects, and ops on numbers and on lists of them."""
