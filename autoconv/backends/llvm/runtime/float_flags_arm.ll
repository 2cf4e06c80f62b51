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
