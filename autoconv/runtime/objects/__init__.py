"""Objects and containers that are known only at run time, and variables."""
