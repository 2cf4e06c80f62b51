; Memory handler of large arrays, as NumPy calls it: a pool of freed blocks, see array_pool.py.

%block = type { ptr, i64 }
@blocks = internal global [$BLOCKS x %block] zeroinitializer
@oldest = internal global i64 0
@pooled_bytes = internal global i64 0
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @autoconv_pool_calloc(ptr %context, i64 %count, i64 %size) nounwind {
  %memory = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %memory
}

define ptr @autoconv_pool_realloc(ptr %context, ptr %block, i64 %size) nounwind {
  %memory = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %memory
}

define ptr @autoconv_pool_malloc(ptr %context, i64 %size) nounwind {
entry:
  br label %next_block
next_block:
  %i = phi i64 [ 0, %entry ], [ %next, %skip_block ]
  %block_at = getelementptr [$BLOCKS x %block], ptr @blocks, i64 0, i64 %i
  %free_block = load ptr, ptr %block_at
  %is_present = icmp ne ptr %free_block, null
  %size_at = getelementptr %block, ptr %block_at, i64 0, i32 1
  %block_size = load i64, ptr %size_at
  %has_size = icmp eq i64 %block_size, %size
  %is_usable = and i1 %is_present, %has_size
  br i1 %is_usable, label %take, label %skip_block
skip_block:
  %next = add i64 %i, 1
  %has_more = icmp ult i64 %next, $BLOCKS
  br i1 %has_more, label %next_block, label %allocate
take:
  store ptr null, ptr %block_at
  store i64 0, ptr %size_at
  %held = load i64, ptr @pooled_bytes
  %remaining = sub i64 %held, %size
  store i64 %remaining, ptr @pooled_bytes
  ret ptr %free_block
allocate:
  %padded_size = add i64 %size, 63
  %rounded_size = and i64 %padded_size, -64
  %memory = call ptr @aligned_alloc(i64 64, i64 %rounded_size)
  ret ptr %memory
}

define void @autoconv_pool_free(ptr %context, ptr %block, i64 %size) nounwind {
entry:
  %is_large = icmp uge i64 %size, $SMALLEST
  %is_within_limit = icmp ule i64 %size, $LARGEST
  %may_pool = and i1 %is_large, %is_within_limit
  br i1 %may_pool, label %evict, label %free_block
evict:
  %i = load i64, ptr @oldest
  %block_at = getelementptr [$BLOCKS x %block], ptr @blocks, i64 0, i64 %i
  %size_at = getelementptr %block, ptr %block_at, i64 0, i32 1
  %evicted_block = load ptr, ptr %block_at
  %evicted_size = load i64, ptr %size_at
  call void @free(ptr %evicted_block)
  store ptr null, ptr %block_at
  store i64 0, ptr %size_at
  %held = load i64, ptr @pooled_bytes
  %remaining = sub i64 %held, %evicted_size
  store i64 %remaining, ptr @pooled_bytes
  %following = add i64 %i, 1
  %next = urem i64 %following, $BLOCKS
  store i64 %next, ptr @oldest
  %total = add i64 %remaining, %size
  %is_over_limit = icmp ugt i64 %total, $KEPT_BYTES
  br i1 %is_over_limit, label %evict, label %store_block
store_block:
  store ptr %block, ptr %block_at
  store i64 %size, ptr %size_at
  store i64 %total, ptr @pooled_bytes
  ret void
free_block:
  call void @free(ptr %block)
  ret void
}
