"""NumPy's arrays traced as memory."""
