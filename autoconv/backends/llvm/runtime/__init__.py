"""Native code that all graphs share: references, memory, threads, objects, and the dispatch of calls."""
