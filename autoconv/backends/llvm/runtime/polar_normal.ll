; A normal number as NumPy's RandomState draws it, by Marsaglia's polar method. Numbers come in pairs, and the state keeps
; the second one: the address of the generator's interface, a flag of four bytes at 8, and the number at 16.

define internal double @polar_normal(ptr %state) noinline {
  %flag = getelementptr i8, ptr %state, i64 8
  %kept = getelementptr i8, ptr %state, i64 16
  %has_kept = load i32, ptr %flag
  %is_kept = icmp ne i32 %has_kept, 0
  br i1 %is_kept, label %second, label %first

second:
  %number = load double, ptr %kept
  store i32 0, ptr %flag
  store double 0.0, ptr %kept
  ret double %number

first:
  %interface = load ptr, ptr %state
  %bits = load ptr, ptr %interface
  %function = getelementptr i8, ptr %interface, i64 $NEXT_DOUBLE
  %next = load ptr, ptr %function
  br label %pair

pair:
  %u = call double %next(ptr %bits)
  %u2 = fmul double %u, 2.0
  %x = fsub double %u2, 1.0
  %v = call double %next(ptr %bits)
  %v2 = fmul double %v, 2.0
  %y = fsub double %v2, 1.0
  %xx = fmul double %x, %x
  %yy = fmul double %y, %y
  %square = fadd double %xx, %yy
  %outside = fcmp oge double %square, 1.0
  %zero = fcmp oeq double %square, 0.0
  %again = or i1 %outside, %zero
  br i1 %again, label %pair, label %inside

inside:
  %logarithm = call double @log(double %square)
  %scaled = fmul double %logarithm, -2.0
  %quotient = fdiv double %scaled, %square
  %factor = call double @llvm.sqrt.f64(double %quotient)
  %other = fmul double %factor, %x
  store double %other, ptr %kept
  store i32 1, ptr %flag
  %result = fmul double %factor, %y
  ret double %result
}
