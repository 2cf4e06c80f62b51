; `stack_floor` returns the address down to which a thread may use its stack before Python is called: 64 KB above the
; end, or an eighth of a small stack. It is found once a thread: for a main thread the system reads a file for it.

@stack_key = internal global i32 0
declare i32 @pthread_key_create(ptr, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)

define i64 @stack_floor() nounwind {
entry:
  %next = load i32, ptr @stack_key
  %key = sub i32 %next, 1
  %unmade = icmp eq i32 %next, 0
  br i1 %unmade, label %first, label %look
look:
  %kept = call ptr @pthread_getspecific(i32 %key)
  %unknown = icmp eq ptr %kept, null
  br i1 %unknown, label %first, label %known
known:
  %floor = ptrtoint ptr %kept to i64
  ret i64 %floor
first:
  %found = call i64 @find_floor()
  ret i64 %found
}

define internal i64 @find_floor() noinline nounwind {
entry:
  %attributes = alloca [16 x i64]
  %low_at = alloca i64
  %size_at = alloca i64
  %key_at = alloca i32
  %before = load i32, ptr @stack_key
  %unmade = icmp eq i32 %before, 0
  br i1 %unmade, label %make, label %ask
make:
  %refused = call i32 @pthread_key_create(ptr %key_at, ptr null)
  %none = icmp ne i32 %refused, 0
  br i1 %none, label %unknown, label %made
made:
  %fresh = load i32, ptr %key_at
  %plus = add i32 %fresh, 1
  store i32 %plus, ptr @stack_key
  br label %ask
ask:
  %self = call i64 @pthread_self()
  %failed = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %nothing = icmp ne i32 %failed, 0
  br i1 %nothing, label %unknown, label %read
read:
  %got = call i32 @pthread_attr_getstack(ptr %attributes, ptr %low_at, ptr %size_at)
  %gone = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load i64, ptr %low_at
  %size = load i64, ptr %size_at
  %eighth = lshr i64 %size, 3
  %small = icmp ult i64 %eighth, 65536
  %room = select i1 %small, i64 %eighth, i64 65536
  %floor = add i64 %low, %room
  %next = load i32, ptr @stack_key
  %key = sub i32 %next, 1
  %place = inttoptr i64 %floor to ptr
  %set = call i32 @pthread_setspecific(i32 %key, ptr %place)
  ret i64 %floor
unknown:
  ret i64 0
}
