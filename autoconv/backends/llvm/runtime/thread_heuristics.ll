; Measure whether small recurring jobs are faster with threads or in the caller alone.
;
; The cost of moving data between processors cannot be predicted: their distance depends on where the system, or the
; host of a virtual machine, puts them, and changes. A job that recurs within 100 µs is therefore run both ways, 20
; times each; the first four periods are not counted. The period from one job to the next decides, as it includes the
; cost to the code around. The other way is tried again 4, then 8, up to 64 judgements later. A disturbance raises the
; known time of a way by a quarter at most. Results are the same either way.
;
; The fields of a record: the function; the time of its last job; the number of jobs since the last judgement; whether
; it runs in the caller; the sum of periods; judgements left until the other way is tried; the sums with threads and
; without; the best way; judgements between two trials. Way 0 is with threads, way 1 in the caller.

%job_record = type { ptr, i64, i64, i64, i64, i64, [2 x i64], i64, i64 }
@job_records = internal global [64 x %job_record] zeroinitializer

define internal i1 @is_faster_serially(ptr %part, i64 %now) nounwind {
entry:
  %bits = ptrtoint ptr %part to i64
  %shifted = lshr i64 %bits, 4
  %slot = and i64 %shifted, 63
  %record = getelementptr %job_record, ptr @job_records, i64 %slot
  %last_at = getelementptr %job_record, ptr %record, i64 0, i32 1
  %calls_at = getelementptr %job_record, ptr %record, i64 0, i32 2
  %is_serial_at = getelementptr %job_record, ptr %record, i64 0, i32 3
  %period_sum_at = getelementptr %job_record, ptr %record, i64 0, i32 4
  %judgements_left_at = getelementptr %job_record, ptr %record, i64 0, i32 5
  %times_at = getelementptr %job_record, ptr %record, i64 0, i32 6
  %best_at = getelementptr %job_record, ptr %record, i64 0, i32 7
  %trial_distance_at = getelementptr %job_record, ptr %record, i64 0, i32 8
  %recorded_part = load ptr, ptr %record
  %last_time = load i64, ptr %last_at
  %is_serial = load i64, ptr %is_serial_at
  store i64 %now, ptr %last_at
  %is_known = icmp eq ptr %recorded_part, %part
  br i1 %is_known, label %compare_period, label %reset_record
reset_record:
  store %job_record zeroinitializer, ptr %record
  store ptr %part, ptr %record
  store i64 4, ptr %trial_distance_at
  store i64 %now, ptr %last_at
  ret i1 false
compare_period:
  %period = sub i64 %now, %last_time
  %is_rare = icmp sgt i64 %period, 100000
  br i1 %is_rare, label %reset_sums, label %count_job
reset_sums:
  store i64 0, ptr %calls_at
  store i64 0, ptr %is_serial_at
  store i64 0, ptr %period_sum_at
  ret i1 false
count_job:
  %previous_calls = load i64, ptr %calls_at
  %calls = add i64 %previous_calls, 1
  store i64 %calls, ptr %calls_at
  %counts = icmp sgt i64 %calls, 4
  %counted_period = select i1 %counts, i64 %period, i64 0
  %previous_sum = load i64, ptr %period_sum_at
  %sum = add i64 %previous_sum, %counted_period
  store i64 %sum, ptr %period_sum_at
  %is_complete = icmp eq i64 %calls, 20
  br i1 %is_complete, label %judge_ways, label %answer_unchanged
answer_unchanged:
  %unchanged = icmp ne i64 %is_serial, 0
  ret i1 %unchanged
judge_ways:
  store i64 0, ptr %calls_at
  store i64 0, ptr %period_sum_at
  %time_at = getelementptr i64, ptr %times_at, i64 %is_serial
  %previous_time = load i64, ptr %time_at
  %quarter = lshr i64 %previous_time, 2
  %raised_time = add i64 %previous_time, %quarter
  %is_first = icmp eq i64 %previous_time, 0
  %time_limit = select i1 %is_first, i64 %sum, i64 %raised_time
  %new_time = call i64 @llvm.smin.i64(i64 %sum, i64 %time_limit)
  store i64 %new_time, ptr %time_at
  %other_way = sub i64 1, %is_serial
  %other_time_at = getelementptr i64, ptr %times_at, i64 %other_way
  %other_time = load i64, ptr %other_time_at
  %is_untried = icmp eq i64 %other_time, 0
  %is_worse = icmp sgt i64 %new_time, %other_time
  %best_way = select i1 %is_worse, i64 %other_way, i64 %is_serial
  %previous_best = load i64, ptr %best_at
  store i64 %best_way, ptr %best_at
  %has_switched = icmp ne i64 %best_way, %previous_best
  %previous_distance = load i64, ptr %trial_distance_at
  %doubled_distance = shl i64 %previous_distance, 1
  %bounded_distance = call i64 @llvm.smin.i64(i64 %doubled_distance, i64 64)
  %judgements_left = load i64, ptr %judgements_left_at
  %is_due = icmp sle i64 %judgements_left, 0
  %longer_distance = select i1 %is_due, i64 %bounded_distance, i64 %previous_distance
  %trial_distance = select i1 %has_switched, i64 4, i64 %longer_distance
  store i64 %trial_distance, ptr %trial_distance_at
  %fewer_judgements = sub i64 %judgements_left, 1
  %restarts = or i1 %is_due, %has_switched
  %next_judgements_left = select i1 %restarts, i64 %trial_distance, i64 %fewer_judgements
  store i64 %next_judgements_left, ptr %judgements_left_at
  %opposite_way = sub i64 1, %best_way
  %has_not_switched = xor i1 %has_switched, true
  %is_trial = and i1 %is_due, %has_not_switched
  %usual_way = select i1 %is_trial, i64 %opposite_way, i64 %best_way
  %chosen_way = select i1 %is_untried, i64 %other_way, i64 %usual_way
  store i64 %chosen_way, ptr %is_serial_at
  %answer = icmp ne i64 %chosen_way, 0
  ret i1 %answer
}
