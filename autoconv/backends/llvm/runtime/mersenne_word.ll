; The next 32 bits of Python's random.Random, by the Mersenne Twister MT19937 of Matsumoto and Nishimura. The place in
; the object has the position of the next word of its state, of four bytes, and the 624 words behind it.

define internal i32 @mersenne_word(ptr %place) noinline {
entry:
  %state = getelementptr i8, ptr %place, i64 4
  %old_position = load i32, ptr %place
  %is_used_up = icmp sge i32 %old_position, 624
  br i1 %is_used_up, label %renew, label %take

renew:
  %i = phi i64 [ 0, %entry ], [ %i_next, %renew ]
  %i_next = add i64 %i, 1
  %is_last = icmp eq i64 %i, 623
  %i_following = select i1 %is_last, i64 0, i64 %i_next
  %i_sum = add i64 %i, 397
  %i_wrapped = sub i64 %i_sum, 624
  %wraps = icmp uge i64 %i_sum, 624
  %i_far = select i1 %wraps, i64 %i_wrapped, i64 %i_sum
  %own_place = getelementptr i32, ptr %state, i64 %i
  %following_place = getelementptr i32, ptr %state, i64 %i_following
  %far_place = getelementptr i32, ptr %state, i64 %i_far
  %own = load i32, ptr %own_place
  %following = load i32, ptr %following_place
  %far = load i32, ptr %far_place
  %upper = and i32 %own, -2147483648
  %lower = and i32 %following, 2147483647
  %joined = or i32 %upper, %lower
  %half = lshr i32 %joined, 1
  %parity = and i32 %joined, 1
  %mask = sub i32 0, %parity
  %twist = and i32 %mask, -1727483681
  %mixed = xor i32 %far, %half
  %renewed = xor i32 %mixed, %twist
  store i32 %renewed, ptr %own_place
  %is_done = icmp eq i64 %i_next, 624
  br i1 %is_done, label %take, label %renew

take:
  %position = phi i32 [ %old_position, %entry ], [ 0, %renew ]
  %next_position = add i32 %position, 1
  store i32 %next_position, ptr %place
  %index = zext i32 %position to i64
  %word_place = getelementptr i32, ptr %state, i64 %index
  %word = load i32, ptr %word_place
  %a = lshr i32 %word, 11
  %b = xor i32 %word, %a
  %c = shl i32 %b, 7
  %d = and i32 %c, -1658038656
  %e = xor i32 %b, %d
  %f = shl i32 %e, 15
  %g = and i32 %f, -272236544
  %h = xor i32 %e, %g
  %j = lshr i32 %h, 18
  %result = xor i32 %h, %j
  ret i32 %result
}
