; No limit: the system does not report the end of a thread's stack.

define i64 @stack_floor() nounwind {
  ret i64 0
}
