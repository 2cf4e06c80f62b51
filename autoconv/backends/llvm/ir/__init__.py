"""LLVM text as objects: modules, functions, instructions, and the arithmetic on indices and elements built of them."""
