; What a library has in place of CPython and NumPy: arrays, bytearrays and failures, under the names of their C API.
;
; An array has the layout of NumPy's, with 8 bytes for an address on every machine, and its sizes and strides behind it.
; A descriptor is the size of an element, and is immortal. The word behind the reference count is 1 for bytearrays.
; A function that fails is a number: `PyObject_Vectorcall` keeps it as the code of the error.

declare ptr @aligned_alloc($WORD, $WORD)
declare ptr @malloc($WORD)
declare ptr @realloc(ptr, $WORD)
declare void @free(ptr)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @retain(ptr)
declare void @release(ptr)
@code = $LOCAL global i32 0
@$ERRORS = external constant i8
@$CAUGHT = external constant i8
@recursion_error = internal constant i8 0
@none = constant { i64, i64 } { i64 -1, i64 0 }

define ptr @library_memory(i64 %bytes) nounwind {
  %more = add i64 %bytes, 64
  %whole = and i64 %more, -64
  %large = icmp ugt i64 %whole, $LARGEST
  br i1 %large, label %missing, label %ask
ask:
  %count = $NARROW i64 %whole $TO
  %found = call ptr @aligned_alloc($WORD 64, $WORD $COUNT)
  %none = icmp eq ptr %found, null
  br i1 %none, label %missing, label %done
done:
  ret ptr %found
missing:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define internal ptr @new_object(i64 %bytes) nounwind {
  %count = $NARROW i64 %bytes $TO
  %made = call ptr @malloc($WORD $COUNT)
  %none = icmp eq ptr %made, null
  br i1 %none, label %missing, label %done
done:
  call void @llvm.memset.p0.i64(ptr %made, i8 0, i64 %bytes, i1 false)
  store i64 1, ptr %made
  ret ptr %made
missing:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define internal ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 %flags) nounwind {
  %lists = mul i64 %rank, 16
  %bytes = add i64 %lists, 80
  %made = call ptr @new_object(i64 %bytes)
  %none = icmp eq ptr %made, null
  br i1 %none, label %done, label %fill
fill:
  %own_sizes = getelementptr i8, ptr %made, i64 80
  %half = mul i64 %rank, 8
  %own_strides = getelementptr i8, ptr %own_sizes, i64 %half
  call void @llvm.memcpy.p0.p0.i64(ptr %own_sizes, ptr %sizes, i64 %half, i1 false)
  %data_at = getelementptr i8, ptr %made, i64 $DATA
  store ptr %data, ptr %data_at
  %rank_at = getelementptr i8, ptr %made, i64 $RANK
  %short = trunc i64 %rank to i32
  store i32 %short, ptr %rank_at
  %sizes_at = getelementptr i8, ptr %made, i64 $DIMENSIONS
  store ptr %own_sizes, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %made, i64 $STRIDES
  store ptr %own_strides, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %made, i64 $DESCRIPTOR
  store ptr %descriptor, ptr %descriptor_at
  %flags_at = getelementptr i8, ptr %made, i64 $FLAGS
  store i32 %flags, ptr %flags_at
  br label %done
done:
  ret ptr %made
}

define internal void @fill_strides(i64 %rank, ptr %sizes, ptr %strides, i64 %item) nounwind {
entry:
  br label %axes
axes:
  %left = phi i64 [ %rank, %entry ], [ %axis, %one ]
  %stride = phi i64 [ %item, %entry ], [ %next, %one ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %one, label %done
one:
  %axis = sub i64 %left, 1
  %place = getelementptr i64, ptr %strides, i64 %axis
  store i64 %stride, ptr %place
  %size_at = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size_at
  %next = mul i64 %stride, %size
  br label %axes
done:
  ret void
}

define ptr @PyArray_Empty(i32 %short, ptr %sizes, ptr %descriptor, i32 %order) nounwind {
entry:
  %rank = zext i32 %short to i64
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item = load i64, ptr %item_at
  br label %axes
axes:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %bytes = phi i64 [ %item, %entry ], [ %product, %more ]
  %is_axis = icmp slt i64 %i, %rank
  br i1 %is_axis, label %axis, label %allocate
axis:
  %size_at = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_at
  %both = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %bytes, i64 %size)
  %product = extractvalue { i64, i1 } %both, 0
  %over = extractvalue { i64, i1 } %both, 1
  %negative = icmp slt i64 %product, 0
  %wrong = or i1 %over, %negative
  br i1 %wrong, label %large, label %more
more:
  %next = add i64 %i, 1
  br label %axes
large:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
allocate:
  %data = call ptr @library_memory(i64 %bytes)
  %none = icmp eq ptr %data, null
  br i1 %none, label %missing, label %wrap
wrap:
  %made = call ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 $ALL_FLAGS)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %drop, label %fill
drop:
  call void @free(ptr %data)
  ret ptr null
fill:
  %own_at = getelementptr i8, ptr %made, i64 $DIMENSIONS
  %own = load ptr, ptr %own_at
  %strides_at = getelementptr i8, ptr %made, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  call void @fill_strides(i64 %rank, ptr %own, ptr %strides, i64 %item)
  ret ptr %made
missing:
  ret ptr null
}

define ptr @PyArray_NewFromDescr(
    ptr %class, ptr %descriptor, i32 %short, ptr %sizes, ptr %strides, ptr %data, i32 %flags, ptr %object) nounwind {
  %rank = zext i32 %short to i64
  %made = call ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 %flags)
  %none = icmp eq ptr %made, null
  br i1 %none, label %done, label %fill
fill:
  %own_at = getelementptr i8, ptr %made, i64 $STRIDES
  %own = load ptr, ptr %own_at
  %bytes = mul i64 %rank, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %strides, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr %made
}

define i32 @PyArray_SetBaseObject(ptr %array, ptr %base) nounwind {
  %place = getelementptr i8, ptr %array, i64 $BASE
  store ptr %base, ptr %place
  ret i32 0
}

define ptr @PyArray_Resize(ptr %array, ptr %shape, i32 %check, i32 %order) nounwind {
  %sizes = load ptr, ptr %shape
  %size = load i64, ptr %sizes
  %descriptor_at = getelementptr i8, ptr %array, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item = load i64, ptr %item_at
  %exact = mul i64 %size, %item
  %bytes = add i64 %exact, 64
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load ptr, ptr %data_at
  %count = $NARROW i64 %bytes $TO
  %moved = call ptr @realloc(ptr %data, $WORD $COUNT)
  %none = icmp eq ptr %moved, null
  br i1 %none, label %missing, label %done
done:
  store ptr %moved, ptr %data_at
  %own_at = getelementptr i8, ptr %array, i64 $DIMENSIONS
  %own = load ptr, ptr %own_at
  store i64 %size, ptr %own
  ret ptr @none
missing:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define ptr @PyArray_NewCopy(ptr %array, i32 %order) nounwind {
  %rank_at = getelementptr i8, ptr %array, i64 $RANK
  %short = load i32, ptr %rank_at
  %sizes_at = getelementptr i8, ptr %array, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %array, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item = load i64, ptr %item_at
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load ptr, ptr %data_at
  %made = call ptr @PyArray_Empty(i32 %short, ptr %sizes, ptr %descriptor, i32 0)
  %none = icmp eq ptr %made, null
  br i1 %none, label %done, label %fill
fill:
  %to_at = getelementptr i8, ptr %made, i64 $DATA
  %to = load ptr, ptr %to_at
  %rank = zext i32 %short to i64
  %end = call ptr @gather(ptr %to, ptr %data, i64 %rank, ptr %sizes, ptr %strides, i64 %item)
  br label %done
done:
  ret ptr %made
}

define internal ptr @gather(
    ptr %to, ptr %from, i64 %rank, ptr %sizes, ptr %strides, i64 %item) nounwind {
entry:
  %single = icmp eq i64 %rank, 0
  br i1 %single, label %element, label %axis
element:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %item, i1 false)
  %behind = getelementptr i8, ptr %to, i64 %item
  ret ptr %behind
axis:
  %size = load i64, ptr %sizes
  %stride = load i64, ptr %strides
  %inner_rank = sub i64 %rank, 1
  %inner_sizes = getelementptr i64, ptr %sizes, i64 1
  %inner_strides = getelementptr i64, ptr %strides, i64 1
  br label %loop
loop:
  %i = phi i64 [ 0, %axis ], [ %next, %body ]
  %place = phi ptr [ %to, %axis ], [ %end, %body ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %body, label %done
body:
  %offset = mul i64 %i, %stride
  %source = getelementptr i8, ptr %from, i64 %offset
  %end = call ptr @gather(
      ptr %place, ptr %source, i64 %inner_rank, ptr %inner_sizes, ptr %inner_strides, i64 %item)
  %next = add i64 %i, 1
  br label %loop
done:
  ret ptr %place
}

define void @_Py_Dealloc(ptr %object) nounwind {
  %kind_at = getelementptr i8, ptr %object, i64 $TYPE
  %kind = load i64, ptr %kind_at
  %is_bytes = icmp eq i64 %kind, 1
  br i1 %is_bytes, label %bytes, label %array
bytes:
  %memory_at = getelementptr i8, ptr %object, i64 $BYTE_MEMORY
  %memory = load ptr, ptr %memory_at
  call void @free(ptr %memory)
  br label %shell
array:
  %flags_at = getelementptr i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %own = and i32 %flags, 4
  %owned = icmp ne i32 %own, 0
  br i1 %owned, label %data, label %base
data:
  %data_at = getelementptr i8, ptr %object, i64 $DATA
  %elements = load ptr, ptr %data_at
  call void @free(ptr %elements)
  br label %base
base:
  %base_at = getelementptr i8, ptr %object, i64 $BASE
  call void @release(ptr %base_at)
  br label %shell
shell:
  call void @free(ptr %object)
  ret void
}

define ptr @PyByteArray_FromStringAndSize(ptr %text, i64 %size) nounwind {
  %made = call ptr @new_object(i64 48)
  %none = icmp eq ptr %made, null
  br i1 %none, label %missing, label %room
room:
  %kind_at = getelementptr i8, ptr %made, i64 $TYPE
  store i64 1, ptr %kind_at
  %answer = call i32 @PyByteArray_Resize(ptr %made, i64 %size)
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %drop, label %done
drop:
  call void @free(ptr %made)
  ret ptr null
done:
  ret ptr %made
missing:
  ret ptr null
}

define i32 @PyByteArray_Resize(ptr %object, i64 %size) nounwind {
  %memory_at = getelementptr i8, ptr %object, i64 $BYTE_MEMORY
  %memory = load ptr, ptr %memory_at
  %size_at = getelementptr i8, ptr %object, i64 $BYTE_COUNT
  %room_at = getelementptr i8, ptr %object, i64 $BYTE_ROOM
  %room = load i64, ptr %room_at
  %fits = icmp sle i64 %size, %room
  br i1 %fits, label %set, label %grow
grow:
  %bytes = add i64 %size, 16
  %count = $NARROW i64 %bytes $TO
  %moved = call ptr @realloc(ptr %memory, $WORD $COUNT)
  %none = icmp eq ptr %moved, null
  br i1 %none, label %missing, label %keep
keep:
  store ptr %moved, ptr %memory_at
  %start_at = getelementptr i8, ptr %object, i64 $BYTE_START
  store ptr %moved, ptr %start_at
  store i64 %bytes, ptr %room_at
  br label %set
set:
  store i64 %size, ptr %size_at
  ret i32 0
missing:
  store i32 $NO_MEMORY, ptr @code
  ret i32 -1
}

define ptr @PyObject_Vectorcall(ptr %function, ptr %arguments, i64 %count, ptr %names) nounwind {
  %number = ptrtoint ptr %function to i64
  %code = trunc i64 %number to i32
  store i32 %code, ptr @code
  ret ptr null
}

; The error of the code, which is kept no longer; NULL where handlers do not see it.
define ptr @catch_error(ptr %limits, ptr %before) nounwind {
  %code = load i32, ptr @code
  %number = zext i32 %code to i64
  %flag_at = getelementptr i64, ptr @$CAUGHT, i64 %number
  %flag = load i64, ptr %flag_at
  %hidden = icmp eq i64 %flag, 0
  br i1 %hidden, label %limit, label %caught
limit:
  ret ptr null
caught:
  store i32 0, ptr @code
  %error = getelementptr { i64, i64 }, ptr @$ERRORS, i64 %number
  ret ptr %error
}

define void @end_handling(ptr %before) nounwind {
  ret void
}

define ptr @PyTuple_GetItem(ptr %tuple, i64 %position) nounwind {
  ret ptr null
}

define ptr @PyDataMem_SetHandler(ptr %handler) nounwind {
  ret ptr @none
}

define ptr @PyEval_SaveThread() nounwind {
  ret ptr null
}

define void @PyEval_RestoreThread(ptr %state) nounwind {
  ret void
}

define i32 @PyErr_CheckSignals() nounwind {
  ret i32 0
}

define i8 @PyArray_EquivTypes(ptr %one, ptr %other) nounwind {
  ret i8 0
}

define void @PyErr_Fetch(ptr %kind, ptr %error, ptr %trace) nounwind {
  store ptr null, ptr %kind
  store ptr null, ptr %error
  store ptr null, ptr %trace
  ret void
}

define void @PyErr_Restore(ptr %kind, ptr %error, ptr %trace) nounwind {
  ret void
}

define void @PyErr_SetString(ptr %kind, ptr %text) nounwind {
  store i32 $NO_MEMORY, ptr @code
  ret void
}

define i32 @blas_get_threads() nounwind {
  ret i32 1
}

define void @blas_set_threads(i32 %count) nounwind {
  ret void
}

define void @library_shell(ptr %shell, ptr %data, ptr %sizes, ptr %strides, i32 %rank, ptr %descriptor) nounwind {
  call void @llvm.memset.p0.i64(ptr %shell, i8 0, i64 80, i1 false)
  store i64 -1, ptr %shell
  %data_at = getelementptr i8, ptr %shell, i64 $DATA
  store ptr %data, ptr %data_at
  %rank_at = getelementptr i8, ptr %shell, i64 $RANK
  store i32 %rank, ptr %rank_at
  %sizes_at = getelementptr i8, ptr %shell, i64 $DIMENSIONS
  store ptr %sizes, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  store ptr %strides, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %shell, i64 $DESCRIPTOR
  store ptr %descriptor, ptr %descriptor_at
  %flags_at = getelementptr i8, ptr %shell, i64 $FLAGS
  store i32 $SHELL_FLAGS, ptr %flags_at
  ret void
}

define internal i1 @lies_plain(i64 %rank, ptr %sizes, ptr %strides, i64 %item) nounwind {
entry:
  br label %axes
axes:
  %left = phi i64 [ %rank, %entry ], [ %axis, %next ]
  %expected = phi i64 [ %item, %entry ], [ %product, %next ]
  %wrong = phi i1 [ false, %entry ], [ %so_far, %next ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %one, label %done
one:
  %axis = sub i64 %left, 1
  %size_at = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size_at
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %plain, label %next
next:
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride_at
  %differs = icmp ne i64 %stride, %expected
  %several = icmp ne i64 %size, 1
  %misfit = and i1 %differs, %several
  %so_far = or i1 %wrong, %misfit
  %product = mul i64 %expected, %size
  br label %axes
plain:
  ret i1 true
done:
  %found = xor i1 %wrong, true
  ret i1 %found
}

define ptr @library_dense(ptr %shell) nounwind {
  %rank_at = getelementptr i8, ptr %shell, i64 $RANK
  %short = load i32, ptr %rank_at
  %rank = zext i32 %short to i64
  %sizes_at = getelementptr i8, ptr %shell, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %shell, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item = load i64, ptr %item_at
  %plain = call i1 @lies_plain(i64 %rank, ptr %sizes, ptr %strides, i64 %item)
  br i1 %plain, label %same, label %copy
same:
  ret ptr %shell
copy:
  %made = call ptr @PyArray_NewCopy(ptr %shell, i32 0)
  ret ptr %made
}

define i1 @library_give(ptr %slot, ptr %field) nounwind {
  %object = load ptr, ptr %slot
  %rank_at = getelementptr i8, ptr %object, i64 $RANK
  %short = load i32, ptr %rank_at
  %rank = zext i32 %short to i64
  %sizes_at = getelementptr i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %object, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %object, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item = load i64, ptr %item_at
  %plain = call i1 @lies_plain(i64 %rank, ptr %sizes, ptr %strides, i64 %item)
  %count = load i64, ptr %object
  %single = icmp eq i64 %count, 1
  %flags_at = getelementptr i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %own = and i32 %flags, 4
  %owned = icmp ne i32 %own, 0
  %base_at = getelementptr i8, ptr %object, i64 $BASE
  %base = load ptr, ptr %base_at
  %free = icmp eq ptr %base, null
  %one = and i1 %plain, %single
  %two = and i1 %owned, %free
  %movable = and i1 %one, %two
  br i1 %movable, label %move, label %copy
copy:
  %made = call ptr @PyArray_NewCopy(ptr %object, i32 0)
  %none = icmp eq ptr %made, null
  br i1 %none, label %missing, label %swap
missing:
  ret i1 true
swap:
  call void @release(ptr %slot)
  store ptr %made, ptr %slot
  br label %move
move:
  %whole = load ptr, ptr %slot
  %data_at = getelementptr i8, ptr %whole, i64 $DATA
  %data = load ptr, ptr %data_at
  store ptr %data, ptr %field
  %field_sizes = getelementptr i8, ptr %field, i64 8
  %bytes = mul i64 %rank, 8
  %whole_sizes_at = getelementptr i8, ptr %whole, i64 $DIMENSIONS
  %whole_sizes = load ptr, ptr %whole_sizes_at
  call void @llvm.memcpy.p0.p0.i64(ptr %field_sizes, ptr %whole_sizes, i64 %bytes, i1 false)
  %field_strides = getelementptr i8, ptr %field_sizes, i64 %bytes
  call void @fill_strides(i64 %rank, ptr %field_sizes, ptr %field_strides, i64 %item)
  %whole_flags_at = getelementptr i8, ptr %whole, i64 $FLAGS
  %whole_flags = load i32, ptr %whole_flags_at
  %given = and i32 %whole_flags, -5
  store i32 %given, ptr %whole_flags_at
  call void @release(ptr %slot)
  ret i1 false
}
