"""Compilation of traces, and the way from calls to them: bindings, native entries, rollback, plain reruns."""
