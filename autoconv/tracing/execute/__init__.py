"""How traces are compiled, and how calls reach them: bindings, native entries, rollback, plain reruns."""
