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
; within 100 µs run in the caller where that has proved faster (see habits).
;
; The threads start with the first use, never touch Python, and block all signals. A forked process starts its own.
; After a job they spin for some microseconds before they sleep, as the caller does while it waits for the last of them:
; loops that start a job in each iteration would otherwise wait for the system most of the time.
;
; `here` counts the calls that still run in the caller alone, `penalty` how many will after the next late call.
; `next` counts parts taken from the first on in its lower half, and parts taken from the last in its upper half.
; The job begins with its state: its number in the upper half, an open bit, and the number of threads in a part. Parts
; may be taken while the bit is set: until the caller finds none left. The whole job is in the cache line of the state,
; so that a write to the state fetches all of it. A thread that goes to sleep increments `sleeping` before it rereads
; the state, and a caller that opens a job reads `sleeping` after that, so no wake-up is lost. The same holds for the
; waiting caller and the last thread to leave. Flags of floating-point errors that a thread raises are collected in
; `errors`, and the caller raises them, too. 128 bytes hold a mutex, a condition or a signal set on every supported
; system.

@workers = global i64 0
@owner = internal global i32 0
@process = internal global i32 0
@taken = internal global i32 0
@here = internal global i64 0
@penalty = internal global i64 2
@mutex = internal global [16 x i64] zeroinitializer, align 128
@work = internal global [16 x i64] zeroinitializer, align 128
@finished = internal global [16 x i64] zeroinitializer, align 128
@job = internal global { i64, ptr, ptr, i64, [12 x i64] } zeroinitializer, align 128
@next = internal global [16 x i64] zeroinitializer, align 128
@sleeping = internal global i64 0, align 128
@waiting = internal global i64 0
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
  %alone = icmp eq i64 %workers, 0
  %single = icmp slt i64 %count, 2
  %serial = or i1 %alone, %single
  br i1 %serial, label %here, label %ask
ask:
  %kept = load i64, ptr @here
  %wanted = icmp sle i64 %kept, 0
  br i1 %wanted, label %look, label %keep
keep:
  %fewer_kept = sub i64 %kept, 1
  store i64 %fewer_kept, ptr @here
  br label %here
look:
  %pid = call i32 @getpid()
  %owner = load i32, ptr @process
  %same = icmp eq i32 %pid, %owner
  br i1 %same, label %enter, label %start
start:
  %won = call i1 @start(i32 %pid, i64 %workers)
  br i1 %won, label %enter, label %here
enter:
  %pair = cmpxchg ptr @taken, i32 0, i32 1 acquire monotonic
  %ours = extractvalue { i32, i1 } %pair, 1
  br i1 %ours, label %share, label %here
share:
  %begun = call i64 @now()
  %keeps = call i1 @goes_faster_here(ptr %part, i64 %begun)
  br i1 %keeps, label %give_back, label %publish
give_back:
  store atomic i32 0, ptr @taken release, align 4
  br label %here
publish:
  %part_at = getelementptr i64, ptr @job, i64 1
  %frame_at = getelementptr i64, ptr @job, i64 2
  %count_at = getelementptr i64, ptr @job, i64 3
  store ptr %part, ptr %part_at
  store ptr %frame, ptr %frame_at
  store i64 %count, ptr %count_at
  store atomic i64 0, ptr @next monotonic, align 8
  %before = load atomic i64, ptr @job monotonic, align 8
  %number = and i64 %before, -4294967296
  %following_number = add i64 %number, 4294967296
  %opened = or i64 %following_number, $OPEN
  store atomic i64 %opened, ptr @job seq_cst, align 8
  %sleeping = load atomic i64, ptr @sleeping seq_cst, align 8
  %rest = sub i64 %count, 1
  %wake = call i64 @llvm.smin.i64(i64 %rest, i64 %sleeping)
  %asleep = icmp sgt i64 %wake, 0
  br i1 %asleep, label %rouse, label %join
rouse:
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %waking
waking:
  %woken = phi i64 [ 0, %rouse ], [ %another, %waking ]
  call i32 @pthread_cond_signal(ptr @work)
  %another = add i64 %woken, 1
  %more = icmp slt i64 %another, %wake
  br i1 %more, label %waking, label %roused
roused:
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %join
join:
  %did = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 1)
  %ready = call i64 @now()
  atomicrmw and ptr @job, i64 $CLOSED seq_cst
  br label %linger
linger:
  %turn = phi i64 [ 0, %join ], [ %next_turn, %pause ]
  %state = load atomic i64, ptr @job acquire, align 8
  %inside_now = and i64 %state, $ACTIVE
  %busy = icmp ne i64 %inside_now, 0
  br i1 %busy, label %stay, label %leave
stay:
  %patient = icmp slt i64 %turn, $TURNS
  br i1 %patient, label %pause, label %settle
pause:
  $PAUSE
  %next_turn = add i64 %turn, 1
  br label %linger
settle:
  call i32 @pthread_mutex_lock(ptr @mutex)
  store atomic i64 1, ptr @waiting seq_cst, align 8
  br label %waiting
waiting:
  %last_state = load atomic i64, ptr @job seq_cst, align 8
  %last_active = and i64 %last_state, $ACTIVE
  %idle = icmp eq i64 %last_active, 0
  br i1 %idle, label %settled, label %wait
wait:
  call i32 @pthread_cond_wait(ptr @finished, ptr @mutex)
  br label %waiting
settled:
  store atomic i64 0, ptr @waiting seq_cst, align 8
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %leave
leave:
  %errors = load atomic i64, ptr @errors monotonic, align 8
  %clean = icmp eq i64 %errors, 0
  br i1 %clean, label %judge, label %raise_errors
raise_errors:
  store atomic i64 0, ptr @errors monotonic, align 8
  %own_errors = call i64 @float_errors()
  %all_errors = or i64 %own_errors, %errors
  call void @set_float_errors(i64 %all_errors)
  br label %judge
judge:
  %ended = call i64 @now()
  %own = sub i64 %ready, %begun
  %waited = sub i64 %ended, %ready
  %all = add i64 %own, %waited
  %spent = mul i64 %all, %did
  %tenfold = mul i64 %spent, 10
  %here_only = mul i64 %own, %count
  %bound = mul i64 %here_only, 9
  %slow = icmp sgt i64 %tenfold, %bound
  %long = icmp sgt i64 %all, 50000
  %late = and i1 %slow, %long
  %penalty = load i64, ptr @penalty
  %twice = shl i64 %penalty, 1
  %bounded = call i64 @llvm.smin.i64(i64 %twice, i64 16)
  %after = select i1 %late, i64 %bounded, i64 2
  store i64 %after, ptr @penalty
  %rest_here = select i1 %late, i64 %penalty, i64 0
  store i64 %rest_here, ptr @here
  store atomic i32 0, ptr @taken release, align 4
  ret void
here:
  %i = phi i64 [ 0, %entry ], [ 0, %keep ], [ 0, %start ], [ 0, %enter ], [ 0, %give_back ], [ %following, %body ]
  %inside = icmp slt i64 %i, %count
  br i1 %inside, label %body, label %done
body:
  call void %part(ptr %frame, i64 %i)
  %following = add i64 %i, 1
  br label %here
done:
  ret void
}

define internal i64 @now() nounwind {
  %time = alloca [2 x i64]
  call i32 @clock_gettime(i32 $CLOCK_MONOTONIC, ptr %time)
  %seconds = load i64, ptr %time
  %place = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %place
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %nanoseconds
  ret i64 %sum
}

define internal i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 %end) nounwind {
entry:
  %from_first = icmp eq i64 %end, 1
  br label %loop
loop:
  %did = phi i64 [ 0, %entry ], [ %more, %body ]
  %taken = atomicrmw add ptr @next, i64 %end seq_cst
  %of_first = and i64 %taken, 4294967295
  %of_last = lshr i64 %taken, 32
  %all = add i64 %of_first, %of_last
  %inside = icmp slt i64 %all, %count
  br i1 %inside, label %body, label %done
body:
  %behind = sub i64 %count, %of_last
  %last = sub i64 %behind, 1
  %i = select i1 %from_first, i64 %of_first, i64 %last
  call void %part(ptr %frame, i64 %i)
  %more = add i64 %did, 1
  br label %loop
done:
  ret i64 %did
}

define internal ptr @worker(ptr %nothing) nounwind {
entry:
  br label %watch
watch:
  %seen = phi i64 [ 0, %entry ], [ %seen, %pause ], [ %seen, %news ], [ %seen, %risen ], [ %number, %left ]
  %turn = phi i64 [ 0, %entry ], [ %next_turn, %pause ], [ %turn, %news ], [ 0, %risen ], [ 0, %left ]
  %state = load atomic i64, ptr @job monotonic, align 8
  %number = and i64 %state, -4294967296
  %new = icmp ne i64 %number, %seen
  %bit = and i64 %state, $OPEN
  %open = icmp ne i64 %bit, 0
  %go = and i1 %new, %open
  br i1 %go, label %news, label %none
none:
  %patient = icmp slt i64 %turn, $TURNS
  br i1 %patient, label %pause, label %lie_down
pause:
  $PAUSE
  %next_turn = add i64 %turn, 1
  br label %watch
news:
  %one_more = add i64 %state, 1
  %pair = cmpxchg ptr @job, i64 %state, i64 %one_more seq_cst monotonic
  %entered = extractvalue { i64, i1 } %pair, 1
  br i1 %entered, label %help, label %watch
lie_down:
  call i32 @pthread_mutex_lock(ptr @mutex)
  atomicrmw add ptr @sleeping, i64 1 seq_cst
  %latest = load atomic i64, ptr @job seq_cst, align 8
  %latest_number = and i64 %latest, -4294967296
  %changed = icmp ne i64 %latest_number, %seen
  %latest_bit = and i64 %latest, $OPEN
  %opened = icmp ne i64 %latest_bit, 0
  %up = and i1 %changed, %opened
  br i1 %up, label %risen, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %risen
risen:
  atomicrmw sub ptr @sleeping, i64 1 seq_cst
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %watch
help:
  %part_at = getelementptr i64, ptr @job, i64 1
  %frame_at = getelementptr i64, ptr @job, i64 2
  %count_at = getelementptr i64, ptr @job, i64 3
  %part = load ptr, ptr %part_at
  %frame = load ptr, ptr %frame_at
  %count = load i64, ptr %count_at
  %done = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 4294967296)
  %errors = call i64 @float_errors()
  %clean = icmp eq i64 %errors, 0
  br i1 %clean, label %stop, label %report
report:
  call void @set_float_errors(i64 0)
  atomicrmw or ptr @errors, i64 %errors seq_cst
  br label %stop
stop:
  %with = atomicrmw sub ptr @job, i64 1 seq_cst
  %without = sub i64 %with, 1
  %others = and i64 %without, $WITHIN
  %last = icmp eq i64 %others, 0
  br i1 %last, label %look, label %left
look:
  %waiting = load atomic i64, ptr @waiting seq_cst, align 8
  %waits = icmp ne i64 %waiting, 0
  br i1 %waits, label %tell, label %left
tell:
  call i32 @pthread_mutex_lock(ptr @mutex)
  call i32 @pthread_cond_signal(ptr @finished)
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %left
left:
  br label %watch
}

define internal i1 @start(i32 %pid, i64 %workers) nounwind {
entry:
  %thread = alloca i64
  %signals = alloca [16 x i64]
  %before = alloca [16 x i64]
  %owner = load i32, ptr @process
  %pair = cmpxchg ptr @owner, i32 %owner, i32 %pid seq_cst seq_cst
  %ours = extractvalue { i32, i1 } %pair, 1
  br i1 %ours, label %fresh, label %busy
fresh:
  store i32 0, ptr @taken
  store i64 0, ptr @job
  store i64 0, ptr @sleeping
  store i64 0, ptr @waiting
  call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  call i32 @pthread_cond_init(ptr @work, ptr null)
  call i32 @pthread_cond_init(ptr @finished, ptr null)
  call i32 @sigfillset(ptr %signals)
  call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %signals, ptr %before)
  br label %making
making:
  %i = phi i64 [ 0, %fresh ], [ %another, %made ]
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr null)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %detach, label %made
detach:
  %id = load i64, ptr %thread
  call i32 @pthread_detach(i64 %id)
  br label %made
made:
  %another = add i64 %i, 1
  %more = icmp slt i64 %another, %workers
  br i1 %more, label %making, label %started
started:
  call i32 @pthread_sigmask(i32 $SIG_SETMASK, ptr %before, ptr null)
  store atomic i32 %pid, ptr @process seq_cst, align 4
  ret i1 true
busy:
  ret i1 false
}
