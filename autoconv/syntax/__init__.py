"""Parsing, building and walking of syntax trees; fresh names; comments."""
