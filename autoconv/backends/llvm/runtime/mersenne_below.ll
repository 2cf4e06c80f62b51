; An integer of random.Random from 0 up to a limit of at least 1: of as many bits as the limit has, drawn until it is
; below the limit.

define internal i64 @mersenne_below(ptr %place, i64 %limit) {
entry:
  %zeros = call i64 @llvm.ctlz.i64(i64 %limit, i1 false)
  %has_one_word = icmp uge i64 %zeros, 32
  %more_zeros = sub i64 %zeros, 32
  br label %draw

draw:
  %first_word = call i32 @mersenne_word(ptr %place)
  %first = zext i32 %first_word to i64
  br i1 %has_one_word, label %short, label %long

short:
  %short_number = lshr i64 %first, %more_zeros
  br label %compare

long:
  %second_word = call i32 @mersenne_word(ptr %place)
  %second = zext i32 %second_word to i64
  %shifted = lshr i64 %second, %zeros
  %high = shl i64 %shifted, 32
  %long_number = or i64 %high, %first
  br label %compare

compare:
  %number = phi i64 [ %short_number, %short ], [ %long_number, %long ]
  %is_below = icmp ult i64 %number, %limit
  br i1 %is_below, label %done, label %draw

done:
  ret i64 %number
}
