"""Control flow of converted code, in Python or as regions: conditions, loops, `try`, recursion, generators."""
