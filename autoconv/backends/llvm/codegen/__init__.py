"""The lowerings: each writes LLVM text for some nodes. Folders divide them by what the nodes compute."""
