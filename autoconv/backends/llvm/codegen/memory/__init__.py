"""Lowerings of mutable arrays in memory: views, loads, stores, and statements that compute into them."""
