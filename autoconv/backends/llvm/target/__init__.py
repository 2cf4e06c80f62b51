"""The machine and the memory layouts of CPython's and NumPy's objects, on which native code depends."""
