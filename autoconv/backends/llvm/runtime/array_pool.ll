; Memory handler of large arrays, as NumPy calls it: a pool of freed blocks, see array_pool.py.

%block = type { ptr, i64 }
@blocks = internal global [$BLOCKS x %block] zeroinitializer
@oldest = internal global i64 0
@held = internal global i64 0
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @autoconv_pool_calloc(ptr %context, i64 %count, i64 %size) nounwind {
  %made = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %made
}

define ptr @autoconv_pool_realloc(ptr %context, ptr %block, i64 %size) nounwind {
  %made = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %made
}

define ptr @autoconv_pool_malloc(ptr %context, i64 %size) nounwind {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %at = getelementptr [$BLOCKS x %block], ptr @blocks, i64 0, i64 %i
  %kept = load ptr, ptr %at
  %there = icmp ne ptr %kept, null
  %size_at = getelementptr %block, ptr %at, i64 0, i32 1
  %own = load i64, ptr %size_at
  %same = icmp eq i64 %own, %size
  %fits = and i1 %there, %same
  br i1 %fits, label %take, label %other
other:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, $BLOCKS
  br i1 %more, label %look, label %make
take:
  store ptr null, ptr %at
  store i64 0, ptr %size_at
  %held = load i64, ptr @held
  %left = sub i64 %held, %size
  store i64 %left, ptr @held
  ret ptr %kept
make:
  %more_than = add i64 %size, 63
  %whole = and i64 %more_than, -64
  %made = call ptr @aligned_alloc(i64 64, i64 %whole)
  ret ptr %made
}

define void @autoconv_pool_free(ptr %context, ptr %block, i64 %size) nounwind {
entry:
  %large = icmp uge i64 %size, $SMALLEST
  %fits = icmp ule i64 %size, $LARGEST
  %keeps = and i1 %large, %fits
  br i1 %keeps, label %evict, label %drop
evict:
  %i = load i64, ptr @oldest
  %at = getelementptr [$BLOCKS x %block], ptr @blocks, i64 0, i64 %i
  %size_at = getelementptr %block, ptr %at, i64 0, i32 1
  %old = load ptr, ptr %at
  %own = load i64, ptr %size_at
  call void @free(ptr %old)
  store ptr null, ptr %at
  store i64 0, ptr %size_at
  %held = load i64, ptr @held
  %left = sub i64 %held, %own
  store i64 %left, ptr @held
  %after = add i64 %i, 1
  %next = urem i64 %after, $BLOCKS
  store i64 %next, ptr @oldest
  %total = add i64 %left, %size
  %over = icmp ugt i64 %total, $MOST
  br i1 %over, label %evict, label %put
put:
  store ptr %block, ptr %at
  store i64 %size, ptr %size_at
  store i64 %total, ptr @held
  ret void
drop:
  call void @free(ptr %block)
  ret void
}
