; The thread's flags of floating-point errors, in the status register: 1 invalid value, 2 division by zero, 4 overflow.
; They stay up until they are cleared.

define internal i64 @float_errors() alwaysinline nounwind {
  %all = call i64 asm sideeffect "mrs $$0, fpsr", "=r"()
  %errors = and i64 %all, 7
  ret i64 %errors
}

define internal void @set_float_errors(i64 %errors) nounwind {
  %all = call i64 asm sideeffect "mrs $$0, fpsr", "=r"()
  %others = and i64 %all, -8
  %new = or i64 %others, %errors
  call void asm sideeffect "msr fpsr, $$0", "r"(i64 %new)
  ret void
}

; Return the flags of the errors of which NumPy warns, by its actions: 1 division by zero, 8 overflow, 512 invalid value.
define internal i64 @float_errors_of(i32 %actions) alwaysinline nounwind {
  %invalids = lshr i32 %actions, 9
  %invalid = and i32 %invalids, 1
  %divides = and i32 %actions, 1
  %divide = shl i32 %divides, 1
  %both = or i32 %invalid, %divide
  %overs = lshr i32 %actions, 1
  %over = and i32 %overs, 4
  %all = or i32 %both, %over
  %wide = zext i32 %all to i64
  ret i64 %wide
}
