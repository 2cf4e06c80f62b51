"""From LLVM text to machine code in this process: the helper process, the compiler, the disk cache and the loader."""
