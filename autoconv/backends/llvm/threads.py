"""The threads that large loops and products are split over.

`parallel(part, frame, count)` calls `part(frame, i)` for each i below `count`, here and in threads of our own, and
comes back when all are done. Who is free takes the next i, so a thread that the system does not let run holds nothing
up: the caller from the first on, threads of ours from the last, so that what is done time and again finds most of its
memory in the caches of the same processor. Inside of a part, or while another thread has the pool, all parts run one
after the other. What a part computes must not depend on who runs it: the parts are as many on every machine.

Where other programs keep a thread of ours from running in the middle of its part, the caller waits for it. After a
call that took about as long as all parts here would have, the next calls are kept here, twice as many each time. (Not
after one of less than 50 µs, in which a thread that slept cannot be expected to take part.)

The threads start with the first use, never touch Python, and take no signals. A forked process starts its own. After
a job they look for the next one for some microseconds before they sleep, as the caller does for the last of them:
loops that hand out a job in each turn would else wait for the system most of the time.
"""

from __future__ import annotations

import os
import platform
import signal
import time

from autoconv.config import SETTINGS

MOST_PARTS = 32
MOST_THREADS = 64


def available() -> bool:
    """Whether this system has the threads that the pool is written for."""
    return os.name == "posix"


def thread_count() -> int:
    """How many threads run parts, the caller's included: AUTOCONV_NUM_THREADS, or as many as this process may use."""
    may_use = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(SETTINGS.threads or may_use, MOST_THREADS)


# `here` is for how many calls threads are not asked, `penalty` for how many the next time that they come late.
# `next` counts the parts that are taken from the first on in its lower half, those from the last in its upper one.
# A job is open from when its parts may be taken until the caller sees that none is left; `active` threads are in one.
# 128 bytes hold a mutex, a condition or a set of signals on every system that has them.
TEXT = """
@workers = global i64 0
@owner = internal global i32 0
@process = internal global i32 0
@taken = internal global i32 0
@mutex = internal global [16 x i64] zeroinitializer
@work = internal global [16 x i64] zeroinitializer
@finished = internal global [16 x i64] zeroinitializer
@part = internal global ptr null
@frame = internal global ptr null
@count = internal global i64 0
@next = internal global i64 0
@active = internal global i64 0
@generation = internal global i64 0
@open = internal global i32 0
@here = internal global i64 0
@penalty = internal global i64 2

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
  call i32 @pthread_mutex_lock(ptr @mutex)
  store ptr %part, ptr @part
  store ptr %frame, ptr @frame
  store i64 %count, ptr @count
  store atomic i64 0, ptr @next seq_cst, align 8
  store i32 1, ptr @open
  %before = load i64, ptr @generation
  %now = add i64 %before, 1
  store i64 %now, ptr @generation
  call i32 @pthread_mutex_unlock(ptr @mutex)
  %rest = sub i64 %count, 1
  %fewer = icmp slt i64 %rest, %workers
  %wake = select i1 %fewer, i64 %rest, i64 %workers
  br label %waking
waking:
  %woken = phi i64 [ 0, %share ], [ %another, %waking ]
  call i32 @pthread_cond_signal(ptr @work)
  %another = add i64 %woken, 1
  %more = icmp slt i64 %another, %wake
  br i1 %more, label %waking, label %join
join:
  %did = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 1)
  %ready = call i64 @now()
  call i32 @pthread_mutex_lock(ptr @mutex)
  store i32 0, ptr @open
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %linger
linger:
  %turn = phi i64 [ 0, %join ], [ %next_turn, %pause ]
  %still = load atomic i64, ptr @active monotonic, align 8
  %busy = icmp ne i64 %still, 0
  %patient = icmp slt i64 %turn, TURNS
  %linger_on = and i1 %busy, %patient
  br i1 %linger_on, label %pause, label %close
pause:
  PAUSE
  %next_turn = add i64 %turn, 1
  br label %linger
close:
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %waiting
waiting:
  %active = load i64, ptr @active
  %idle = icmp eq i64 %active, 0
  br i1 %idle, label %leave, label %wait
wait:
  call i32 @pthread_cond_wait(ptr @finished, ptr @mutex)
  br label %waiting
leave:
  call i32 @pthread_mutex_unlock(ptr @mutex)
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
  %i = phi i64 [ 0, %entry ], [ 0, %keep ], [ 0, %start ], [ 0, %enter ], [ %following, %body ]
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
  call i32 @clock_gettime(i32 CLOCK_MONOTONIC, ptr %time)
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

define internal ptr @worker(ptr %generation) nounwind {
entry:
  %first = ptrtoint ptr %generation to i64
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %look
look:
  %seen = phi i64 [ %first, %entry ], [ %seen, %sleep ], [ %now, %watched ]
  %roused = phi i1 [ true, %entry ], [ true, %sleep ], [ false, %watched ]
  %now = load i64, ptr @generation
  %open = load i32, ptr @open
  %news = icmp ne i64 %now, %seen
  %going = icmp eq i32 %open, 1
  %go = and i1 %news, %going
  br i1 %go, label %help, label %idle
idle:
  br i1 %roused, label %back, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr @work, ptr @mutex)
  br label %look
help:
  %before = load i64, ptr @active
  %active = add i64 %before, 1
  store i64 %active, ptr @active
  %part = load ptr, ptr @part
  %frame = load ptr, ptr @frame
  %count = load i64, ptr @count
  call i32 @pthread_mutex_unlock(ptr @mutex)
  %done = call i64 @take_parts(ptr %part, ptr %frame, i64 %count, i64 4294967296)
  call i32 @pthread_mutex_lock(ptr @mutex)
  %others = load i64, ptr @active
  %left = sub i64 %others, 1
  store i64 %left, ptr @active
  %last = icmp eq i64 %left, 0
  br i1 %last, label %tell, label %back
tell:
  call i32 @pthread_cond_signal(ptr @finished)
  br label %back
back:
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %watch
watch:
  %turn = phi i64 [ 0, %back ], [ %next_turn, %pause ]
  %latest = load atomic i64, ptr @generation monotonic, align 8
  %none = icmp eq i64 %latest, %now
  %patient = icmp slt i64 %turn, TURNS
  %watch_on = and i1 %none, %patient
  br i1 %watch_on, label %pause, label %watched
pause:
  PAUSE
  %next_turn = add i64 %turn, 1
  br label %watch
watched:
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %look
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
  store i32 0, ptr @open
  store i64 0, ptr @active
  call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  call i32 @pthread_cond_init(ptr @work, ptr null)
  call i32 @pthread_cond_init(ptr @finished, ptr null)
  call i32 @sigfillset(ptr %signals)
  call i32 @pthread_sigmask(i32 SIG_SETMASK, ptr %signals, ptr %before)
  %generation = load i64, ptr @generation
  %argument = inttoptr i64 %generation to ptr
  br label %making
making:
  %i = phi i64 [ 0, %fresh ], [ %another, %made ]
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %argument)
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
  call i32 @pthread_sigmask(i32 SIG_SETMASK, ptr %before, ptr null)
  store atomic i32 %pid, ptr @process seq_cst, align 4
  ret i1 true
busy:
  ret i1 false
}
"""
# Looking once takes some 20 to 50 ns.
TEXT = TEXT.replace("TURNS", "1500")
if platform.machine().lower() in ("x86_64", "amd64"):
    TEXT = TEXT.replace("PAUSE", "call void @llvm.x86.sse2.pause()") + "declare void @llvm.x86.sse2.pause()\n"
else:
    TEXT = TEXT.replace("  PAUSE\n", "")
for _name in ("SIG_SETMASK", "CLOCK_MONOTONIC"):
    TEXT = TEXT.replace(_name, str(int(getattr(signal, _name, getattr(time, _name, 0)))))
