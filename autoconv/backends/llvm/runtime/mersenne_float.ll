; A float in [0, 1) of 53 bits, as random.Random draws it from two words.

define internal double @mersenne_float(ptr %place) {
  %first = call i32 @mersenne_word(ptr %place)
  %second = call i32 @mersenne_word(ptr %place)
  %high_bits = lshr i32 %first, 5
  %low_bits = lshr i32 %second, 6
  %high = uitofp i32 %high_bits to double
  %low = uitofp i32 %low_bits to double
  %scaled = fmul double %high, 67108864.0
  %sum = fadd double %scaled, %low
  %result = fmul double %sum, 0x3CA0000000000000
  ret double %result
}
