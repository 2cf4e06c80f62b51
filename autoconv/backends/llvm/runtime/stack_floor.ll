; `stack_floor` returns the address down to which a thread may use its stack before Python is called: 64 KB above the
; end, or an eighth of a small stack. It is computed once for each thread, since the system may have to read a file.

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
  %key_plus_one = load i32, ptr @stack_key
  %key = sub i32 %key_plus_one, 1
  %has_no_key = icmp eq i32 %key_plus_one, 0
  br i1 %has_no_key, label %find, label %read_floor
read_floor:
  %stored_floor = call ptr @pthread_getspecific(i32 %key)
  %has_no_floor = icmp eq ptr %stored_floor, null
  br i1 %has_no_floor, label %find, label %return_floor
return_floor:
  %floor = ptrtoint ptr %stored_floor to i64
  ret i64 %floor
find:
  %new_floor = call i64 @find_floor()
  ret i64 %new_floor
}

define internal i64 @find_floor() noinline nounwind {
entry:
  %attributes = alloca [16 x i64]
  %low_at = alloca i64
  %size_at = alloca i64
  %key_at = alloca i32
  %previous_key = load i32, ptr @stack_key
  %has_no_key = icmp eq i32 %previous_key, 0
  br i1 %has_no_key, label %create_key, label %read_attributes
create_key:
  %key_status = call i32 @pthread_key_create(ptr %key_at, ptr null)
  %has_failed = icmp ne i32 %key_status, 0
  br i1 %has_failed, label %unknown, label %store_key
store_key:
  %new_key = load i32, ptr %key_at
  %new_key_plus_one = add i32 %new_key, 1
  store i32 %new_key_plus_one, ptr @stack_key
  br label %read_attributes
read_attributes:
  %self = call i64 @pthread_self()
  %attributes_status = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %has_no_attributes = icmp ne i32 %attributes_status, 0
  br i1 %has_no_attributes, label %unknown, label %compute_floor
compute_floor:
  %stack_status = call i32 @pthread_attr_getstack(ptr %attributes, ptr %low_at, ptr %size_at)
  %destroy_status = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load i64, ptr %low_at
  %size = load i64, ptr %size_at
  %eighth = lshr i64 %size, 3
  %is_small = icmp ult i64 %eighth, 65536
  %reserve = select i1 %is_small, i64 %eighth, i64 65536
  %floor = add i64 %low, %reserve
  %key_plus_one = load i32, ptr @stack_key
  %key = sub i32 %key_plus_one, 1
  %floor_pointer = inttoptr i64 %floor to ptr
  %store_status = call i32 @pthread_setspecific(i32 %key, ptr %floor_pointer)
  ret i64 %floor
unknown:
  ret i64 0
}
