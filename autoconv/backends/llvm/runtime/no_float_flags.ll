; The flags of floating-point errors are not read on this processor.

define internal i64 @float_errors() alwaysinline nounwind {
  ret i64 0
}

define internal void @set_float_errors(i64 %errors) nounwind {
  ret void
}

define internal i64 @float_errors_of(i32 %actions) alwaysinline nounwind {
  ret i64 0
}
