; Substitutes for CPython and NumPy in a C library: arrays, bytearrays and failures, under the names of their C API.
;
; An array is a shell, whose address stands for the array, and the memory of its elements. The shell has the layout of
; NumPy's arrays, 80 bytes with 8 for an address on every machine, and is followed by the sizes and strides.
; A descriptor is immortal, and has the size of an element after its reference count. In other objects, the word after
; the reference count is 1 for bytearrays, else 0.
; Functions are only called to fail: their address is the code of an error, which `PyObject_Vectorcall` stores.

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
@$CATCHABLE = external constant i8
@recursion_error = internal constant i8 0
@none = constant { i64, i64 } { i64 -1, i64 0 }

; Return memory of at least that many bytes, aligned to 64; NULL after a failure.
define ptr @library_memory(i64 %bytes) nounwind {
  %padded_bytes = add i64 %bytes, 64
  %rounded_bytes = and i64 %padded_bytes, -64
  %is_too_large = icmp ugt i64 %rounded_bytes, $LARGEST
  br i1 %is_too_large, label %report_failure, label %allocate
allocate:
  %count = $NARROW i64 %rounded_bytes $TO
  %memory = call ptr @aligned_alloc($WORD 64, $WORD $COUNT)
  %has_failed = icmp eq ptr %memory, null
  br i1 %has_failed, label %report_failure, label %done
done:
  ret ptr %memory
report_failure:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define internal ptr @new_object(i64 %bytes) nounwind {
  %count = $NARROW i64 %bytes $TO
  %object = call ptr @malloc($WORD $COUNT)
  %has_failed = icmp eq ptr %object, null
  br i1 %has_failed, label %report_failure, label %done
done:
  call void @llvm.memset.p0.i64(ptr %object, i8 0, i64 %bytes, i1 false)
  store i64 1, ptr %object
  ret ptr %object
report_failure:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define internal ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 %flags) nounwind {
  %list_bytes = mul i64 %rank, 16
  %bytes = add i64 %list_bytes, 80
  %shell = call ptr @new_object(i64 %bytes)
  %has_failed = icmp eq ptr %shell, null
  br i1 %has_failed, label %done, label %fill
fill:
  %own_sizes = getelementptr i8, ptr %shell, i64 80
  %half_of_lists = mul i64 %rank, 8
  %own_strides = getelementptr i8, ptr %own_sizes, i64 %half_of_lists
  call void @llvm.memcpy.p0.p0.i64(ptr %own_sizes, ptr %sizes, i64 %half_of_lists, i1 false)
  %data_at = getelementptr i8, ptr %shell, i64 $DATA
  store ptr %data, ptr %data_at
  %rank_at = getelementptr i8, ptr %shell, i64 $RANK
  %narrow_rank = trunc i64 %rank to i32
  store i32 %narrow_rank, ptr %rank_at
  %sizes_at = getelementptr i8, ptr %shell, i64 $DIMENSIONS
  store ptr %own_sizes, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  store ptr %own_strides, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %shell, i64 $DESCRIPTOR
  store ptr %descriptor, ptr %descriptor_at
  %flags_at = getelementptr i8, ptr %shell, i64 $FLAGS
  store i32 %flags, ptr %flags_at
  br label %done
done:
  ret ptr %shell
}

define internal void @fill_strides(i64 %rank, ptr %sizes, ptr %strides, i64 %item_size) nounwind {
entry:
  br label %axes
axes:
  %remaining = phi i64 [ %rank, %entry ], [ %axis, %next_axis ]
  %stride = phi i64 [ %item_size, %entry ], [ %next, %next_axis ]
  %has_more = icmp sgt i64 %remaining, 0
  br i1 %has_more, label %next_axis, label %done
next_axis:
  %axis = sub i64 %remaining, 1
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  store i64 %stride, ptr %stride_at
  %size_at = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size_at
  %next = mul i64 %stride, %size
  br label %axes
done:
  ret void
}

define ptr @PyArray_Empty(i32 %narrow_rank, ptr %sizes, ptr %descriptor, i32 %order) nounwind {
entry:
  %rank = zext i32 %narrow_rank to i64
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item_size = load i64, ptr %item_at
  br label %axes
axes:
  %i = phi i64 [ 0, %entry ], [ %next, %grow ]
  %bytes = phi i64 [ %item_size, %entry ], [ %product, %grow ]
  %is_axis = icmp slt i64 %i, %rank
  br i1 %is_axis, label %axis, label %allocate
axis:
  %size_at = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_at
  %checked_product = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %bytes, i64 %size)
  %product = extractvalue { i64, i1 } %checked_product, 0
  %has_overflowed = extractvalue { i64, i1 } %checked_product, 1
  %is_negative = icmp slt i64 %product, 0
  %is_invalid = or i1 %has_overflowed, %is_negative
  br i1 %is_invalid, label %report_failure, label %grow
grow:
  %next = add i64 %i, 1
  br label %axes
report_failure:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
allocate:
  %data = call ptr @library_memory(i64 %bytes)
  %has_no_data = icmp eq ptr %data, null
  br i1 %has_no_data, label %return_null, label %make_shell
make_shell:
  %shell = call ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 $ALL_FLAGS)
  %has_no_shell = icmp eq ptr %shell, null
  br i1 %has_no_shell, label %free_data, label %fill
free_data:
  call void @free(ptr %data)
  ret ptr null
fill:
  %own_sizes_at = getelementptr i8, ptr %shell, i64 $DIMENSIONS
  %own_sizes = load ptr, ptr %own_sizes_at
  %strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  call void @fill_strides(i64 %rank, ptr %own_sizes, ptr %strides, i64 %item_size)
  ret ptr %shell
return_null:
  ret ptr null
}

define ptr @PyArray_NewFromDescr(
    ptr %class, ptr %descriptor, i32 %narrow_rank, ptr %sizes, ptr %strides, ptr %data, i32 %flags, ptr %object) nounwind {
  %rank = zext i32 %narrow_rank to i64
  %shell = call ptr @new_shell(i64 %rank, ptr %sizes, ptr %descriptor, ptr %data, i32 %flags)
  %has_failed = icmp eq ptr %shell, null
  br i1 %has_failed, label %done, label %fill
fill:
  %own_strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  %own_strides = load ptr, ptr %own_strides_at
  %bytes = mul i64 %rank, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own_strides, ptr %strides, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr %shell
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
  %item_size = load i64, ptr %item_at
  %exact_bytes = mul i64 %size, %item_size
  %bytes = add i64 %exact_bytes, 64
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load ptr, ptr %data_at
  %count = $NARROW i64 %bytes $TO
  %new_data = call ptr @realloc(ptr %data, $WORD $COUNT)
  %has_failed = icmp eq ptr %new_data, null
  br i1 %has_failed, label %report_failure, label %done
done:
  store ptr %new_data, ptr %data_at
  %own_sizes_at = getelementptr i8, ptr %array, i64 $DIMENSIONS
  %own_sizes = load ptr, ptr %own_sizes_at
  store i64 %size, ptr %own_sizes
  ret ptr @none
report_failure:
  store i32 $NO_MEMORY, ptr @code
  ret ptr null
}

define ptr @PyArray_NewCopy(ptr %array, i32 %order) nounwind {
  %rank_at = getelementptr i8, ptr %array, i64 $RANK
  %narrow_rank = load i32, ptr %rank_at
  %sizes_at = getelementptr i8, ptr %array, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %array, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item_size = load i64, ptr %item_at
  %data_at = getelementptr i8, ptr %array, i64 $DATA
  %data = load ptr, ptr %data_at
  %copy = call ptr @PyArray_Empty(i32 %narrow_rank, ptr %sizes, ptr %descriptor, i32 0)
  %has_failed = icmp eq ptr %copy, null
  br i1 %has_failed, label %done, label %fill
fill:
  %copy_data_at = getelementptr i8, ptr %copy, i64 $DATA
  %copy_data = load ptr, ptr %copy_data_at
  %rank = zext i32 %narrow_rank to i64
  %end = call ptr @gather(ptr %copy_data, ptr %data, i64 %rank, ptr %sizes, ptr %strides, i64 %item_size)
  br label %done
done:
  ret ptr %copy
}

; Copy elements in row-major order; return the address after the last copied element.
define internal ptr @gather(
    ptr %to, ptr %from, i64 %rank, ptr %sizes, ptr %strides, i64 %item_size) nounwind {
entry:
  %is_scalar = icmp eq i64 %rank, 0
  br i1 %is_scalar, label %element, label %axis
element:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %item_size, i1 false)
  %end_of_element = getelementptr i8, ptr %to, i64 %item_size
  ret ptr %end_of_element
axis:
  %size = load i64, ptr %sizes
  %stride = load i64, ptr %strides
  %inner_rank = sub i64 %rank, 1
  %inner_sizes = getelementptr i64, ptr %sizes, i64 1
  %inner_strides = getelementptr i64, ptr %strides, i64 1
  br label %loop
loop:
  %i = phi i64 [ 0, %axis ], [ %next, %body ]
  %target = phi ptr [ %to, %axis ], [ %end, %body ]
  %has_more = icmp slt i64 %i, %size
  br i1 %has_more, label %body, label %done
body:
  %offset = mul i64 %i, %stride
  %source = getelementptr i8, ptr %from, i64 %offset
  %end = call ptr @gather(
      ptr %target, ptr %source, i64 %inner_rank, ptr %inner_sizes, ptr %inner_strides, i64 %item_size)
  %next = add i64 %i, 1
  br label %loop
done:
  ret ptr %target
}

define void @_Py_Dealloc(ptr %object) nounwind {
  %kind_at = getelementptr i8, ptr %object, i64 $TYPE
  %kind = load i64, ptr %kind_at
  %is_bytes = icmp eq i64 %kind, 1
  br i1 %is_bytes, label %free_bytes, label %check_owner
free_bytes:
  %memory_at = getelementptr i8, ptr %object, i64 $BYTE_MEMORY
  %memory = load ptr, ptr %memory_at
  call void @free(ptr %memory)
  br label %free_shell
check_owner:
  %flags_at = getelementptr i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %owner_flag = and i32 %flags, 4
  %owns_data = icmp ne i32 %owner_flag, 0
  br i1 %owns_data, label %free_data, label %release_base
free_data:
  %data_at = getelementptr i8, ptr %object, i64 $DATA
  %elements = load ptr, ptr %data_at
  call void @free(ptr %elements)
  br label %release_base
release_base:
  %base_at = getelementptr i8, ptr %object, i64 $BASE
  call void @release(ptr %base_at)
  br label %free_shell
free_shell:
  call void @free(ptr %object)
  ret void
}

define ptr @PyByteArray_FromStringAndSize(ptr %text, i64 %size) nounwind {
  %bytearray = call ptr @new_object(i64 48)
  %has_failed = icmp eq ptr %bytearray, null
  br i1 %has_failed, label %return_null, label %reserve
reserve:
  %kind_at = getelementptr i8, ptr %bytearray, i64 $TYPE
  store i64 1, ptr %kind_at
  %status = call i32 @PyByteArray_Resize(ptr %bytearray, i64 %size)
  %has_no_room = icmp slt i32 %status, 0
  br i1 %has_no_room, label %free_bytearray, label %done
free_bytearray:
  call void @free(ptr %bytearray)
  ret ptr null
done:
  ret ptr %bytearray
return_null:
  ret ptr null
}

define i32 @PyByteArray_Resize(ptr %object, i64 %size) nounwind {
  %memory_at = getelementptr i8, ptr %object, i64 $BYTE_MEMORY
  %memory = load ptr, ptr %memory_at
  %size_at = getelementptr i8, ptr %object, i64 $BYTE_COUNT
  %capacity_at = getelementptr i8, ptr %object, i64 $BYTE_CAPACITY
  %capacity = load i64, ptr %capacity_at
  %fits = icmp sle i64 %size, %capacity
  br i1 %fits, label %store_size, label %grow
grow:
  %bytes = add i64 %size, 16
  %count = $NARROW i64 %bytes $TO
  %new_memory = call ptr @realloc(ptr %memory, $WORD $COUNT)
  %has_failed = icmp eq ptr %new_memory, null
  br i1 %has_failed, label %report_failure, label %store_memory
store_memory:
  store ptr %new_memory, ptr %memory_at
  %start_at = getelementptr i8, ptr %object, i64 $BYTE_START
  store ptr %new_memory, ptr %start_at
  store i64 %bytes, ptr %capacity_at
  br label %store_size
store_size:
  store i64 %size, ptr %size_at
  ret i32 0
report_failure:
  store i32 $NO_MEMORY, ptr @code
  ret i32 -1
}

define ptr @PyObject_Vectorcall(ptr %function, ptr %arguments, i64 %count, ptr %names) nounwind {
  %number = ptrtoint ptr %function to i64
  %code = trunc i64 %number to i32
  store i32 %code, ptr @code
  ret ptr null
}

; Return the error of the code, and clear the code; NULL for an exceeded limit, which no handler catches.
define ptr @catch_error(ptr %limits, ptr %before) nounwind {
  %code = load i32, ptr @code
  %number = zext i32 %code to i64
  %flag_at = getelementptr i64, ptr @$CATCHABLE, i64 %number
  %flag = load i64, ptr %flag_at
  %is_limit = icmp eq i64 %flag, 0
  br i1 %is_limit, label %return_null, label %return_error
return_null:
  ret ptr null
return_error:
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

; Fill a shell for memory of the caller, which the shell never frees.
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

define internal i1 @is_contiguous(i64 %rank, ptr %sizes, ptr %strides, i64 %item_size) nounwind {
entry:
  br label %axes
axes:
  %remaining = phi i64 [ %rank, %entry ], [ %axis, %check_stride ]
  %expected = phi i64 [ %item_size, %entry ], [ %product, %check_stride ]
  %is_strided_before = phi i1 [ false, %entry ], [ %is_strided, %check_stride ]
  %has_more = icmp sgt i64 %remaining, 0
  br i1 %has_more, label %next_axis, label %return_result
next_axis:
  %axis = sub i64 %remaining, 1
  %size_at = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size_at
  %is_empty = icmp eq i64 %size, 0
  br i1 %is_empty, label %return_true, label %check_stride
check_stride:
  %stride_at = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %stride_at
  %differs = icmp ne i64 %stride, %expected
  %has_several = icmp ne i64 %size, 1
  %is_strided_here = and i1 %differs, %has_several
  %is_strided = or i1 %is_strided_before, %is_strided_here
  %product = mul i64 %expected, %size
  br label %axes
return_true:
  ret i1 true
return_result:
  %is_contiguous = xor i1 %is_strided_before, true
  ret i1 %is_contiguous
}

; Return a C-contiguous array: the array itself, or a copy.
define ptr @library_dense(ptr %shell) nounwind {
  %rank_at = getelementptr i8, ptr %shell, i64 $RANK
  %narrow_rank = load i32, ptr %rank_at
  %rank = zext i32 %narrow_rank to i64
  %sizes_at = getelementptr i8, ptr %shell, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %shell, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %shell, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item_size = load i64, ptr %item_at
  %is_contiguous = call i1 @is_contiguous(i64 %rank, ptr %sizes, ptr %strides, i64 %item_size)
  br i1 %is_contiguous, label %return_shell, label %copy
return_shell:
  ret ptr %shell
copy:
  %copied = call ptr @PyArray_NewCopy(ptr %shell, i32 0)
  ret ptr %copied
}

; Move the elements of the array in a slot to the caller: `%field` gets their address, the sizes and the strides. An array
; with other owners is copied. Return true after a failure.
define i1 @library_give(ptr %slot, ptr %field) nounwind {
  %object = load ptr, ptr %slot
  %rank_at = getelementptr i8, ptr %object, i64 $RANK
  %narrow_rank = load i32, ptr %rank_at
  %rank = zext i32 %narrow_rank to i64
  %sizes_at = getelementptr i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr i8, ptr %object, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %descriptor_at = getelementptr i8, ptr %object, i64 $DESCRIPTOR
  %descriptor = load ptr, ptr %descriptor_at
  %item_at = getelementptr i8, ptr %descriptor, i64 8
  %item_size = load i64, ptr %item_at
  %is_contiguous = call i1 @is_contiguous(i64 %rank, ptr %sizes, ptr %strides, i64 %item_size)
  %count = load i64, ptr %object
  %has_one_owner = icmp eq i64 %count, 1
  %flags_at = getelementptr i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %owner_flag = and i32 %flags, 4
  %owns_data = icmp ne i32 %owner_flag, 0
  %base_at = getelementptr i8, ptr %object, i64 $BASE
  %base = load ptr, ptr %base_at
  %has_no_base = icmp eq ptr %base, null
  %is_contiguous_and_unshared = and i1 %is_contiguous, %has_one_owner
  %is_own_memory = and i1 %owns_data, %has_no_base
  %is_movable = and i1 %is_contiguous_and_unshared, %is_own_memory
  br i1 %is_movable, label %move, label %copy
copy:
  %copied = call ptr @PyArray_NewCopy(ptr %object, i32 0)
  %has_failed = icmp eq ptr %copied, null
  br i1 %has_failed, label %return_failure, label %replace_by_copy
return_failure:
  ret i1 true
replace_by_copy:
  call void @release(ptr %slot)
  store ptr %copied, ptr %slot
  br label %move
move:
  %moved_array = load ptr, ptr %slot
  %data_at = getelementptr i8, ptr %moved_array, i64 $DATA
  %data = load ptr, ptr %data_at
  store ptr %data, ptr %field
  %field_sizes = getelementptr i8, ptr %field, i64 8
  %bytes = mul i64 %rank, 8
  %moved_sizes_at = getelementptr i8, ptr %moved_array, i64 $DIMENSIONS
  %moved_sizes = load ptr, ptr %moved_sizes_at
  call void @llvm.memcpy.p0.p0.i64(ptr %field_sizes, ptr %moved_sizes, i64 %bytes, i1 false)
  %field_strides = getelementptr i8, ptr %field_sizes, i64 %bytes
  call void @fill_strides(i64 %rank, ptr %field_sizes, ptr %field_strides, i64 %item_size)
  %moved_flags_at = getelementptr i8, ptr %moved_array, i64 $FLAGS
  %moved_flags = load i32, ptr %moved_flags_at
  %flags_without_ownership = and i32 %moved_flags, -5
  store i32 %flags_without_ownership, ptr %moved_flags_at
  call void @release(ptr %slot)
  ret i1 false
}
