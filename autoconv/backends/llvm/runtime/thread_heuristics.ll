; Measure whether small recurring jobs are faster with threads or in the caller alone.
;
; The cost of moving data between processors cannot be predicted: their distance depends on where the system, or the host
; of a virtual machine, puts them, and changes. A job that recurs within 100 µs is therefore run both ways, 20 times each.
; The period from one job to the next decides, as it includes the cost to the code around. The other way is tried again
; 4, then 8, up to 64 judgements later. A disturbance raises the known time of a way by a quarter at most. Results are
; the same either way.
;
; The fields of a habit: the function; the time of its last job; the number of jobs since the last judgement; whether
; it runs in the caller; the sum of periods; judgements left until the other way is tried; the sums with threads and
; without; the best way; judgements between two trials.

%habit = type { ptr, i64, i64, i64, i64, i64, [2 x i64], i64, i64 }
@habits = internal global [64 x %habit] zeroinitializer

define internal i1 @goes_faster_here(ptr %part, i64 %now) nounwind {
entry:
  %bits = ptrtoint ptr %part to i64
  %shifted = lshr i64 %bits, 4
  %slot = and i64 %shifted, 63
  %place = getelementptr %habit, ptr @habits, i64 %slot
  %last_at = getelementptr %habit, ptr %place, i64 0, i32 1
  %calls_at = getelementptr %habit, ptr %place, i64 0, i32 2
  %here_at = getelementptr %habit, ptr %place, i64 0, i32 3
  %sum_at = getelementptr %habit, ptr %place, i64 0, i32 4
  %left_at = getelementptr %habit, ptr %place, i64 0, i32 5
  %means_at = getelementptr %habit, ptr %place, i64 0, i32 6
  %best_at = getelementptr %habit, ptr %place, i64 0, i32 7
  %span_at = getelementptr %habit, ptr %place, i64 0, i32 8
  %whose = load ptr, ptr %place
  %last = load i64, ptr %last_at
  %here = load i64, ptr %here_at
  store i64 %now, ptr %last_at
  %known = icmp eq ptr %whose, %part
  br i1 %known, label %again, label %forget
forget:
  store %habit zeroinitializer, ptr %place
  store ptr %part, ptr %place
  store i64 4, ptr %span_at
  store i64 %now, ptr %last_at
  ret i1 false
again:
  %period = sub i64 %now, %last
  %seldom = icmp sgt i64 %period, 100000
  br i1 %seldom, label %rarely, label %often
rarely:
  store i64 0, ptr %calls_at
  store i64 0, ptr %here_at
  store i64 0, ptr %sum_at
  ret i1 false
often:
  %calls_before = load i64, ptr %calls_at
  %calls = add i64 %calls_before, 1
  store i64 %calls, ptr %calls_at
  %settled = icmp sgt i64 %calls, 4
  %counted = select i1 %settled, i64 %period, i64 0
  %sum_before = load i64, ptr %sum_at
  %sum = add i64 %sum_before, %counted
  store i64 %sum, ptr %sum_at
  %enough = icmp eq i64 %calls, 20
  br i1 %enough, label %judge, label %stay
stay:
  %stays = icmp ne i64 %here, 0
  ret i1 %stays
judge:
  store i64 0, ptr %calls_at
  store i64 0, ptr %sum_at
  %mean_at = getelementptr i64, ptr %means_at, i64 %here
  %mean_before = load i64, ptr %mean_at
  %quarter = lshr i64 %mean_before, 2
  %raised = add i64 %mean_before, %quarter
  %first = icmp eq i64 %mean_before, 0
  %most = select i1 %first, i64 %sum, i64 %raised
  %mean = call i64 @llvm.smin.i64(i64 %sum, i64 %most)
  store i64 %mean, ptr %mean_at
  %other = sub i64 1, %here
  %other_at = getelementptr i64, ptr %means_at, i64 %other
  %other_mean = load i64, ptr %other_at
  %unknown = icmp eq i64 %other_mean, 0
  %worse = icmp sgt i64 %mean, %other_mean
  %best = select i1 %worse, i64 %other, i64 %here
  %best_before = load i64, ptr %best_at
  store i64 %best, ptr %best_at
  %switched = icmp ne i64 %best, %best_before
  %span_before = load i64, ptr %span_at
  %twice = shl i64 %span_before, 1
  %bounded = call i64 @llvm.smin.i64(i64 %twice, i64 64)
  %left = load i64, ptr %left_at
  %due = icmp sle i64 %left, 0
  %longer = select i1 %due, i64 %bounded, i64 %span_before
  %span = select i1 %switched, i64 4, i64 %longer
  store i64 %span, ptr %span_at
  %fewer = sub i64 %left, 1
  %anew = or i1 %due, %switched
  %left_now = select i1 %anew, i64 %span, i64 %fewer
  store i64 %left_now, ptr %left_at
  %opposite = sub i64 1, %best
  %kept = xor i1 %switched, true
  %tries = and i1 %due, %kept
  %usual = select i1 %tries, i64 %opposite, i64 %best
  %chosen = select i1 %unknown, i64 %other, i64 %usual
  store i64 %chosen, ptr %here_at
  %answer = icmp ne i64 %chosen, 0
  ret i1 %answer
}
