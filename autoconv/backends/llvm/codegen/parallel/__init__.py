"""Native code that runs on several threads: parts of a loop or product, and items of a plan that run concurrently."""
