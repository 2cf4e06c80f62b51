; Thread pool over which large loops and products are split.
;
; `parallel(part, frame, count)` calls `part(frame, i)` for each i below `count`, in the caller and in the pool's
; threads, and returns when all are done. A free thread takes the next i, so a thread that the system does not schedule
; blocks nothing. The caller takes parts from the first on and the pool from the last. Repeated jobs thus find most of
; their memory in the caches of the same processor. Inside of a part, or while another thread has the pool, all parts run
; one after the other. The result of a part must not depend on its thread: every machine has the same parts.
;
; Where other programs preempt a pool thread in the middle of a part, the caller waits for it. A call is late if it took
; about as long as all parts in the caller would have. The next calls then run in the caller, twice as many each time. A
; call of less than 50 µs does not count, as a sleeping thread cannot be expected to take part in it. Jobs that recur
; within 100 µs run in the caller where that has proved faster (see thread_heuristics.ll).
;
; The threads start with the first use, never touch Python, and block all signals. A forked process starts its own.
; After a job they spin for some microseconds before they sleep, as the caller does while it waits for the last of them:
; loops that start a job in each iteration would otherwise wait for the system most of the time.
;
; `serial_calls_left` counts the calls that still run in the caller alone, `penalty` those after the next late call.
; `next_parts` counts parts taken from the first on in its lower half, and parts taken from the last in its upper half.
; The job begins with its state: its number in the upper half, an open bit, and the number of threads in a part. Parts
; may be taken while the bit is set: until the caller finds none left. The whole job is in the cache line of the state,
; so that a write to the state fetches all of it. A thread that goes to sleep increments `sleeping` before it rereads
; the state, and a caller that opens a job reads `sleeping` after that, so no wake-up is lost. The same holds for the
; waiting caller and the last thread to leave. Flags of floating-point errors that a thread raises are collected in
; `errors`, and the caller raises them, too. 128 bytes hold a mutex, a condition or a signal set on every supported
; system.

@workers = global i64 0
@starting_process = internal global i32 0
@running_process = internal global i32 0
@is_taken = internal global i32 0
@serial_calls_left = internal global i64 0
@penalty = internal global i64 2
@mutex = internal global [16 x i64] zeroinitializer, align 128
@job_opened = internal global [16 x i64] zeroinitializer, align 128
@job_finished = internal global [16 x i64] zeroinitializer, align 128
@job = internal global { i64, ptr, ptr, i64, [12 x i64] } zeroinitializer, align 128
@next_parts = internal global [16 x i64] zeroinitializer, align 128
@sleeping = internal global i64 0, align 128
@caller_waits = internal global i64 0
@errors = internal global i64 0

declare i32 @getpid()
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i64 @llvm.smin.i64(i64, i64)

define void @parallel(ptr %part, ptr %frame, i64 %count) nounwind {
entry:
  %workers = load i64, ptr @workers
  %has_no_workers = icmp eq i64 %workers, 0
  %is_single = icmp slt i64 %count, 2
  %is_serial = or i1 %has_no_workers, %is_single
  br i1 %is_serial, label %run_serially, label %check_penalty
check_penalty:
  %penalized_calls = load i64, ptr @serial_calls_left
  %may_share = icmp sle i64 %penalized_calls, 0
  br i1 %may_share, label %check_process, label %count_penalty
count_penalty:
  %fewer_penalized_calls = sub i64 %penalized_calls, 1
  store i64 %fewer_penalized_calls, ptr @serial_calls_left
  br label %run_serially
check_process:
  %pid = call i32 @getpid()
  %owner = load i32, ptr @running_process
  %is_same_process = icmp eq i32 %pid, %owner
  br i1 %is_same_process, label %acquire_pool, label %start_threads
start_threads:
  %is_started = call i1 @start(i32 %pid, i64 %workers)
  br i1 %is_started, label %acquire_pool, label %run_serially
acquire_pool:
  %exchange = cmpxchg ptr @is_taken, i32 0, i32 1 acquire monotonic
  %is_acquired = extractvalue { i32, i1 } %exchange, 1
  br i1 %is_acquired, label %check_heuristics, label %run_serially
check_heuristics:
  %start_time = call i64 @now()
  %is_faster_serially = call i1 @is_faster_serially(ptr %part, i64 %start_time)
  br i1 %is_faster_serially, label %release_pool, label %publish_job
release_pool:
  store atomic i32 0, ptr @is_taken release, align 4
  br label %run_serially
publish_job:
  %part_at = getelementptr i64, ptr @job, i64 1
  %frame_at = getelementptr i64, ptr @job, i64 2
  %count_at = getelementptr i64, ptr @job, i64 3
  store ptr %part, ptr %part_at
  store ptr %frame, ptr %frame_at
  store i64 %count, ptr %count_at
  store atomic i64 0, ptr @next_parts monotonic, align 8
  %previous_state = load atomic i64, ptr @job monotonic, align 8
  %number = and i64 %previous_state, -4294967296
  %next_number = add i64 %number, 4294967296
  %open_state = or i64 %next_number, $OPEN
  store atomic i64 %open_state, ptr @job seq_cst, align 8
  %sleeping = load atomic i64, ptr @sleeping seq_cst, align 8
  %other_parts = sub i64 %count, 1
  %wake_count = call i64 @llvm.smin.i64(i64 %other_parts, i64 %sleeping)
  %has_sleepers = icmp sgt i64 %wake_count, 0
  br i1 %has_sleepers, label %lock_for_wake_up, label %run_parts
lock_for_wake_up:
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %wake_one
wake_one:
  %woken_count = phi i64 [ 0, %lock_for_wake_up ], [ %next_woken_count, %wake_one ]
  call i32 @pthread_cond_signal(ptr @job_opened)
  %next_woken_count = add i64 %woken_count, 1
  %has_more_to_wake = icmp slt i64 %next_woken_count, %wake_count
  br i1 %has_more_to_wake, label %wake_one, label %unlock_after_wake_up
unlock_after_wake_up:
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %run_parts
run_parts:
  %own_part_count = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 1)
  %own_end_time = call i64 @now()
  atomicrmw and ptr @job, i64 $NOT_OPEN seq_cst
  br label %poll_threads
poll_threads:
  %poll = phi i64 [ 0, %run_parts ], [ %next_poll, %pause_poll ]
  %state = load atomic i64, ptr @job acquire, align 8
  %active_threads = and i64 %state, $ACTIVE_COUNT_MASK
  %is_busy = icmp ne i64 %active_threads, 0
  br i1 %is_busy, label %check_polls, label %collect_errors
check_polls:
  %may_poll = icmp slt i64 %poll, $SPIN_ITERATIONS
  br i1 %may_poll, label %pause_poll, label %announce_wait
pause_poll:
  $PAUSE
  %next_poll = add i64 %poll, 1
  br label %poll_threads
announce_wait:
  call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i64 1, ptr @caller_waits seq_cst, align 8
  br label %check_active
check_active:
  %last_state = load atomic i64, ptr @job seq_cst, align 8
  %last_active = and i64 %last_state, $ACTIVE_COUNT_MASK
  %is_idle = icmp eq i64 %last_active, 0
  br i1 %is_idle, label %end_wait, label %wait_for_signal
wait_for_signal:
  call i32 @pthread_cond_wait(ptr @job_finished, ptr @mutex)
  br label %check_active
end_wait:
  store atomic i64 0, ptr @caller_waits seq_cst, align 8
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %collect_errors
collect_errors:
  %errors = load atomic i64, ptr @errors monotonic, align 8
  %has_no_errors = icmp eq i64 %errors, 0
  br i1 %has_no_errors, label %judge_lateness, label %raise_errors
raise_errors:
  store atomic i64 0, ptr @errors monotonic, align 8
  %own_errors = call i64 @float_errors()
  %all_errors = or i64 %own_errors, %errors
  call void @set_float_errors(i64 %all_errors)
  br label %judge_lateness
judge_lateness:
  %end_time = call i64 @now()
  %own_duration = sub i64 %own_end_time, %start_time
  %waiting_duration = sub i64 %end_time, %own_end_time
  %duration = add i64 %own_duration, %waiting_duration
  %thread_time = mul i64 %duration, %own_part_count
  %tenfold_thread_time = mul i64 %thread_time, 10
  %serial_estimate = mul i64 %own_duration, %count
  %ninefold_estimate = mul i64 %serial_estimate, 9
  %is_slow = icmp sgt i64 %tenfold_thread_time, %ninefold_estimate
  %is_long = icmp sgt i64 %duration, 50000
  %is_late = and i1 %is_slow, %is_long
  %penalty = load i64, ptr @penalty
  %doubled_penalty = shl i64 %penalty, 1
  %bounded_penalty = call i64 @llvm.smin.i64(i64 %doubled_penalty, i64 16)
  %next_penalty = select i1 %is_late, i64 %bounded_penalty, i64 2
  store i64 %next_penalty, ptr @penalty
  %serial_calls = select i1 %is_late, i64 %penalty, i64 0
  store i64 %serial_calls, ptr @serial_calls_left
  store atomic i32 0, ptr @is_taken release, align 4
  ret void
run_serially:
  %i = phi i64 [ 0, %entry ], [ 0, %count_penalty ], [ 0, %start_threads ], [ 0, %acquire_pool ], [ 0, %release_pool ], [ %next_i, %body ]
  %has_part = icmp slt i64 %i, %count
  br i1 %has_part, label %body, label %done
body:
  call void %part(ptr %frame, i64 %i)
  %next_i = add i64 %i, 1
  br label %run_serially
done:
  ret void
}

define internal i64 @now() nounwind {
  %time = alloca [2 x i64]
  call i32 @clock_gettime(i32 $CLOCK_MONOTONIC, ptr %time)
  %seconds = load i64, ptr %time
  %nanoseconds_at = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %nanoseconds_at
  %whole_seconds = mul i64 %seconds, 1000000000
  %sum = add i64 %whole_seconds, %nanoseconds
  ret i64 %sum
}

; Run parts until none is left; return how many. `%end` is what a part adds to `next_parts`: 1 to take parts from the first
; on, and 1 << 32 to take them from the last.
define internal i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 %end) nounwind {
entry:
  %from_first = icmp eq i64 %end, 1
  br label %loop
loop:
  %part_count = phi i64 [ 0, %entry ], [ %next_part_count, %body ]
  %taken_before = atomicrmw add ptr @next_parts, i64 %end seq_cst
  %taken_from_first = and i64 %taken_before, 4294967295
  %taken_from_last = lshr i64 %taken_before, 32
  %taken_count = add i64 %taken_from_first, %taken_from_last
  %has_part = icmp slt i64 %taken_count, %count
  br i1 %has_part, label %body, label %done
body:
  %end_of_rest = sub i64 %count, %taken_from_last
  %last_part = sub i64 %end_of_rest, 1
  %i = select i1 %from_first, i64 %taken_from_first, i64 %last_part
  call void %part(ptr %frame, i64 %i)
  %next_part_count = add i64 %part_count, 1
  br label %loop
done:
  ret i64 %part_count
}

define internal ptr @worker(ptr %unused) nounwind {
entry:
  br label %poll_job
poll_job:
  %seen_number = phi i64 [ 0, %entry ], [ %seen_number, %pause_poll ], [ %seen_number, %enter_job ], [ %seen_number, %end_sleep ], [ %number, %job_left ]
  %poll = phi i64 [ 0, %entry ], [ %next_poll, %pause_poll ], [ %poll, %enter_job ], [ 0, %end_sleep ], [ 0, %job_left ]
  %state = load atomic i64, ptr @job monotonic, align 8
  %number = and i64 %state, -4294967296
  %is_new = icmp ne i64 %number, %seen_number
  %open_bit = and i64 %state, $OPEN
  %is_open = icmp ne i64 %open_bit, 0
  %may_enter = and i1 %is_new, %is_open
  br i1 %may_enter, label %enter_job, label %check_polls
check_polls:
  %may_poll = icmp slt i64 %poll, $SPIN_ITERATIONS
  br i1 %may_poll, label %pause_poll, label %prepare_sleep
pause_poll:
  $PAUSE
  %next_poll = add i64 %poll, 1
  br label %poll_job
enter_job:
  %entered_state = add i64 %state, 1
  %exchange = cmpxchg ptr @job, i64 %state, i64 %entered_state seq_cst monotonic
  %has_entered = extractvalue { i64, i1 } %exchange, 1
  br i1 %has_entered, label %run_parts, label %poll_job
prepare_sleep:
  call i32 @pthread_mutex_lock(ptr @mutex)
  atomicrmw add ptr @sleeping, i64 1 seq_cst
  %latest_state = load atomic i64, ptr @job seq_cst, align 8
  %latest_number = and i64 %latest_state, -4294967296
  %is_newer = icmp ne i64 %latest_number, %seen_number
  %latest_open_bit = and i64 %latest_state, $OPEN
  %is_opened = icmp ne i64 %latest_open_bit, 0
  %must_wake = and i1 %is_newer, %is_opened
  br i1 %must_wake, label %end_sleep, label %wait_for_job
wait_for_job:
  call i32 @pthread_cond_wait(ptr @job_opened, ptr @mutex)
  br label %end_sleep
end_sleep:
  atomicrmw sub ptr @sleeping, i64 1 seq_cst
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %poll_job
run_parts:
  %part_at = getelementptr i64, ptr @job, i64 1
  %frame_at = getelementptr i64, ptr @job, i64 2
  %count_at = getelementptr i64, ptr @job, i64 3
  %part = load ptr, ptr %part_at
  %frame = load ptr, ptr %frame_at
  %count = load i64, ptr %count_at
  %part_count = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 4294967296)
  %errors = call i64 @float_errors()
  %has_no_errors = icmp eq i64 %errors, 0
  br i1 %has_no_errors, label %leave_job, label %report_errors
report_errors:
  call void @set_float_errors(i64 0)
  atomicrmw or ptr @errors, i64 %errors seq_cst
  br label %leave_job
leave_job:
  %state_with_this = atomicrmw sub ptr @job, i64 1 seq_cst
  %state_without_this = sub i64 %state_with_this, 1
  %other_threads = and i64 %state_without_this, $LOW_HALF
  %is_last = icmp eq i64 %other_threads, 0
  br i1 %is_last, label %check_caller, label %job_left
check_caller:
  %waiting = load atomic i64, ptr @caller_waits seq_cst, align 8
  %caller_waits = icmp ne i64 %waiting, 0
  br i1 %caller_waits, label %signal_caller, label %job_left
signal_caller:
  call i32 @pthread_mutex_lock(ptr @mutex)
  call i32 @pthread_cond_signal(ptr @job_finished)
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %job_left
job_left:
  br label %poll_job
}

define internal i1 @start(i32 %pid, i64 %workers) nounwind {
entry:
  %thread = alloca i64
  %signals = alloca [16 x i64]
  %previous_signals = alloca [16 x i64]
  %owner = load i32, ptr @running_process
  %exchange = cmpxchg ptr @starting_process, i32 %owner, i32 %pid seq_cst seq_cst
  %is_starter = extractvalue { i32, i1 } %exchange, 1
  br i1 %is_starter, label %initialize, label %other_starts
initialize:
  store i32 0, ptr @is_taken
  store i64 0, ptr @job
  store i64 0, ptr @sleeping
  store i64 0, ptr @caller_waits
  call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  call i32 @pthread_cond_init(ptr @job_opened, ptr null)
  call i32 @pthread_cond_init(ptr @job_finished, ptr null)
  call i32 @sigfillset(ptr %signals)
  call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %signals, ptr %previous_signals)
  br label %create_thread
create_thread:
  %i = phi i64 [ 0, %initialize ], [ %next_i, %next_thread ]
  %status = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr null)
  %is_created = icmp eq i32 %status, 0
  br i1 %is_created, label %detach, label %next_thread
detach:
  %id = load i64, ptr %thread
  call i32 @pthread_detach(i64 %id)
  br label %next_thread
next_thread:
  %next_i = add i64 %i, 1
  %has_more = icmp slt i64 %next_i, %workers
  br i1 %has_more, label %create_thread, label %publish_process
publish_process:
  call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %previous_signals, ptr null)
  store atomic i32 %pid, ptr @running_process seq_cst, align 4
  ret i1 true
other_starts:
  ret i1 false
}
