"""Ops of strings: formatting, splitting, encodings, hashes, regular expressions."""
