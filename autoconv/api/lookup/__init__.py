"""Tables that map keys to values."""
