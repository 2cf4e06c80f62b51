; The thread's flags of floating-point errors, in the control register of SSE: 1 invalid value, 4 division by zero,
; 8 overflow. They stay up until they are cleared.

declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i64 @float_errors() alwaysinline nounwind {
  %at = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %at)
  %all = load i32, ptr %at
  %errors = and i32 %all, 13
  %wide = zext i32 %errors to i64
  ret i64 %wide
}

define internal void @set_float_errors(i64 %errors) nounwind {
  %at = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %at)
  %all = load i32, ptr %at
  %others = and i32 %all, -14
  %narrow = trunc i64 %errors to i32
  %new = or i32 %others, %narrow
  store i32 %new, ptr %at
  call void @llvm.x86.sse.ldmxcsr(ptr %at)
  ret void
}

; Return the flags of the errors of which NumPy warns, by its actions: 1 division by zero, 8 overflow, 512 invalid value.
define internal i64 @float_errors_of(i32 %actions) alwaysinline nounwind {
  %invalids = lshr i32 %actions, 9
  %invalid = and i32 %invalids, 1
  %divides = and i32 %actions, 1
  %divide = shl i32 %divides, 2
  %both = or i32 %invalid, %divide
  %over = and i32 %actions, 8
  %all = or i32 %both, %over
  %wide = zext i32 %all to i64
  ret i64 %wide
}
