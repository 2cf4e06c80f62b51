; References, new arrays, calls into Python: shared by all native code, compiled once in a process.
;
; is_array_of           Test class, element type and rank. An unpickled array has a dtype object of its own, which is only
;                       equal.
; is_contiguous_array   Test the shape and C-contiguity as well.
; is_open_array         Test an array against a shape with -1 for open dimensions, which are replaced by the array's.
; contiguous_copy       Copy an array of the class, element type and rank that is not C-contiguous. NULL for one that is,
;                       for another object, and where memory is missing.
; is_column_major       Test for Fortran order.
; transposed_view       Return the transposition of an array in Fortran order, else NULL.
; transpose_in_place    Transpose a new array.
; array_attribute       Read an attribute that is an array as is_contiguous_array tests it; else call the kernel for it.
; set_attribute         Set an attribute and return its value; where that fails, call the kernel, which raises the error.
; is_memory             Test class, element type, shape and strides; ANY_NUMBER stands for any size or stride.
; new_array             Return a new array without values in its elements.
; new_large_array       Return one whose memory a handler allocates, such as that of the array pool.
; new_sized_array       Return one by the handler if its size is one of those that the pool takes, else without it.
; new_view              Return a view of memory that an object owns, which the view keeps alive.
; retain, release       Change the count of references; immortal objects, whose count is beyond 32 bits, are skipped.
;                       `release` takes the slot of the object, and clears it; `release_all` takes several slots.
; keep_spare            Store an array with a single owner among the spare arrays, or release it.
; spare_array           Take a spare array, else return NULL.
; keep_spare_vector     Do so for a vector that is too small for the pool; release a larger one.
; spare_vector          Take a spare vector of at least a size, which it then has; else return NULL.
; grow_bytes            Reserve memory in a bytearray, whose size stays, for more bytes and half of the total again.
; restore_arrays        Call a function with arguments, the first of which becomes the raised error. Then raise that
;                       error again.
; pause                 Let other threads of Python run; return whether a signal interrupts the program.
; resize                Change the size of a vector in place; return whether that failed.
; call_python           Call a function with positional arguments; raise RecursionError if the stack is used up.

declare void @_Py_Dealloc(ptr)
declare ptr @PyArray_Empty(i32, ptr, ptr, i32)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare ptr @PyDataMem_SetHandler(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyObject_SetAttr(ptr, ptr, ptr)
declare i8 @PyArray_EquivTypes(ptr, ptr)
declare ptr @PyArray_Resize(ptr, ptr, i32, i32)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i32 @PyByteArray_Resize(ptr, i64)
declare ptr @PyArray_NewCopy(ptr, i32)
declare void @PyErr_Clear()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @PyErr_SetString(ptr, ptr)
@recursion_error = external global i8
@too_deep = internal constant [33 x i8] c"maximum recursion depth exceeded\00"

define void @retain(ptr %object) nounwind {
  %low_word = load i32, ptr %object
  %is_immortal = icmp slt i32 %low_word, 0
  br i1 %is_immortal, label %done, label %increment
increment:
  %count_before = load i64, ptr %object
  %count_after = add i64 %count_before, 1
  store i64 %count_after, ptr %object
  br label %done
done:
  ret void
}

define void @release(ptr %slot) nounwind {
  %object = load ptr, ptr %slot
  %is_null = icmp eq ptr %object, null
  br i1 %is_null, label %done, label %clear_slot
clear_slot:
  store ptr null, ptr %slot
  %low_word = load i32, ptr %object
  %is_immortal = icmp slt i32 %low_word, 0
  br i1 %is_immortal, label %done, label %decrement
decrement:
  %count_before = load i64, ptr %object
  %count_after = sub i64 %count_before, 1
  store i64 %count_after, ptr %object
  %is_last = icmp eq i64 %count_after, 0
  br i1 %is_last, label %deallocate, label %done
deallocate:
  call void @"_Py_Dealloc"(ptr %object)
  br label %done
done:
  ret void
}

define void @release_all(ptr %slots, i64 %count) nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %slot = getelementptr ptr, ptr %slots, i64 %i
  call void @release(ptr %slot)
  %next = add i64 %i, 1
  %has_more = icmp slt i64 %next, %count
  br i1 %has_more, label %loop, label %done
done:
  ret void
}

define internal i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank) alwaysinline nounwind {
entry:
  %class_at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %own_class = load ptr, ptr %class_at
  %same_class = icmp eq ptr %own_class, %class
  br i1 %same_class, label %check_rank, label %no
check_rank:
  %descriptor_at = getelementptr inbounds i8, ptr %object, i64 $DESCRIPTOR
  %own_descriptor = load ptr, ptr %descriptor_at
  %same_descriptor = icmp eq ptr %own_descriptor, %descriptor
  %rank_at = getelementptr inbounds i8, ptr %object, i64 $RANK
  %narrow_rank = load i32, ptr %rank_at
  %own_rank = zext i32 %narrow_rank to i64
  %same_rank = icmp eq i64 %own_rank, %rank
  br i1 %same_rank, label %check_descriptor, label %no
check_descriptor:
  br i1 %same_descriptor, label %yes, label %compare_descriptors
compare_descriptors:
  %equal = call i8 @"PyArray_EquivTypes"(ptr %own_descriptor, ptr %descriptor)
  %equivalent = icmp ne i8 %equal, 0
  ret i1 %equivalent
yes:
  ret i1 true
no:
  ret i1 false
}

define i1 @is_contiguous_array(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %check_flags, label %no
check_flags:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %layout_flags = and i32 %flags, $PLAIN
  %is_contiguous = icmp eq i32 %layout_flags, $PLAIN
  br i1 %is_contiguous, label %read_shape, label %no
read_shape:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  br label %axes
axes:
  %i = phi i64 [ 0, %read_shape ], [ %next, %next_axis ]
  %has_more = icmp slt i64 %i, %rank
  br i1 %has_more, label %axis, label %yes
axis:
  %own_size_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own_size = load i64, ptr %own_size_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %has_size = icmp eq i64 %own_size, %size
  br i1 %has_size, label %next_axis, label %no
next_axis:
  %next = add i64 %i, 1
  br label %axes
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @array_attribute(
    ptr %object, ptr %name, ptr %class, ptr %descriptor, i64 %rank, ptr %shape, ptr %kernel
) nounwind {
entry:
  %slot = alloca ptr
  %argument = alloca ptr
  store ptr %object, ptr %argument
  %value = call ptr @PyObject_GetAttr(ptr %object, ptr %name)
  %is_missing = icmp eq ptr %value, null
  br i1 %is_missing, label %clear_error, label %check
check:
  %is_plain = call i1 @is_contiguous_array(ptr %value, ptr %class, ptr %descriptor, i64 %rank, ptr %shape)
  br i1 %is_plain, label %done, label %drop
drop:
  store ptr %value, ptr %slot
  call void @release(ptr %slot)
  br label %run_kernel
clear_error:
  call void @PyErr_Clear()
  br label %run_kernel
run_kernel:
  %converted = call ptr @call_python(ptr %kernel, ptr %argument, i64 1)
  br label %done
done:
  %result = phi ptr [ %value, %check ], [ %converted, %run_kernel ]
  ret ptr %result
}

define ptr @set_attribute(ptr %object, ptr %name, ptr %value, ptr %kernel) nounwind {
entry:
  %status = call i32 @PyObject_SetAttr(ptr %object, ptr %name, ptr %value)
  %has_failed = icmp slt i32 %status, 0
  br i1 %has_failed, label %run_kernel, label %done
done:
  call void @retain(ptr %value)
  ret ptr %value
run_kernel:
  call void @PyErr_Clear()
  %arguments = alloca [2 x ptr]
  %second = getelementptr ptr, ptr %arguments, i64 1
  store ptr %object, ptr %arguments
  store ptr %value, ptr %second
  %result = call ptr @call_python(ptr %kernel, ptr %arguments, i64 2)
  ret ptr %result
}

; `%item` is the size of an element in bytes. The result is also NULL for an array that is read as it lies: by its strides,
; or by columns.
define ptr @contiguous_copy(ptr %object, ptr %class, ptr %descriptor, i64 %rank, i64 %item) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %check_flags, label %no_copy
check_flags:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %layout_flags = and i32 %flags, $PLAIN
  %is_contiguous = icmp eq i32 %layout_flags, $PLAIN
  br i1 %is_contiguous, label %no_copy, label %check_strides
check_strides:
  %contiguous_flags = and i32 %flags, $CONTIGUOUS
  %has_no_order = icmp eq i32 %contiguous_flags, 0
  %writable = and i32 %flags, $WRITABLE
  %is_writable = icmp eq i32 %writable, $WRITABLE
  %may_stay_strided = and i1 %has_no_order, %is_writable
  %column_flags = and i32 %flags, $ORDERS
  %is_column_major = icmp eq i32 %column_flags, $BY_COLUMNS
  %may_stay = or i1 %may_stay_strided, %is_column_major
  %sizes_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  br i1 %may_stay, label %axes, label %copy
axes:
  %i = phi i64 [ 0, %check_strides ], [ %next, %axis ]
  %bytes = phi i64 [ %item, %check_strides ], [ %product, %axis ]
  %has_more = icmp slt i64 %i, %rank
  br i1 %has_more, label %axis, label %check_bytes
axis:
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_at
  %product = mul i64 %bytes, %size
  %next = add i64 %i, 1
  br label %axes
check_bytes:
  %is_large = icmp sge i64 %bytes, $MIN_STRIDED_BYTES
  br i1 %is_large, label %no_copy, label %copy
copy:
  %copied = call ptr @"PyArray_NewCopy"(ptr %object, i32 0)
  %has_failed = icmp eq ptr %copied, null
  br i1 %has_failed, label %clear_error, label %done
clear_error:
  call void @PyErr_Clear()
  br label %no_copy
no_copy:
  br label %done
done:
  %result = phi ptr [ %copied, %copy ], [ null, %no_copy ]
  ret ptr %result
}

define i1 @is_column_major(ptr %object, ptr %class) nounwind {
  %class_at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %own_class = load ptr, ptr %class_at
  %same_class = icmp eq ptr %own_class, %class
  br i1 %same_class, label %check_order, label %no
check_order:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %order_flags = and i32 %flags, $ORDERS
  %is_column_major = icmp eq i32 %order_flags, $BY_COLUMNS
  ret i1 %is_column_major
no:
  ret i1 false
}

define ptr @transposed_view(ptr %object, ptr %class, ptr %descriptor, i64 %rank) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %check_order, label %no_view
check_order:
  %is_column_major = call i1 @is_column_major(ptr %object, ptr %class)
  br i1 %is_column_major, label %read_sizes, label %no_view
read_sizes:
  %sizes_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %reversed_sizes = alloca i64, i64 %rank
  br label %axes
axes:
  %i = phi i64 [ 0, %read_sizes ], [ %next, %axis ]
  %next = add i64 %i, 1
  %has_more = icmp slt i64 %i, %rank
  br i1 %has_more, label %axis, label %make_view
axis:
  %mirrored_axis = sub i64 %rank, %next
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %mirrored_axis
  %size = load i64, ptr %size_at
  %reversed_size_at = getelementptr inbounds i64, ptr %reversed_sizes, i64 %i
  store i64 %size, ptr %reversed_size_at
  br label %axes
make_view:
  %narrow_rank = trunc i64 %rank to i32
  %data_at = getelementptr inbounds i8, ptr %object, i64 $DATA
  %data = load ptr, ptr %data_at
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %writable_flag = and i32 %flags, $WRITABLE
  %own_descriptor_at = getelementptr inbounds i8, ptr %object, i64 $DESCRIPTOR
  %own_descriptor = load ptr, ptr %own_descriptor_at
  %view = call ptr @new_view(
      ptr %class, ptr %own_descriptor, i32 %narrow_rank, ptr %reversed_sizes, ptr null, ptr %data, ptr %object, i32 %writable_flag)
  %has_failed = icmp eq ptr %view, null
  br i1 %has_failed, label %clear_error, label %done
clear_error:
  call void @PyErr_Clear()
  br label %no_view
no_view:
  br label %done
done:
  %result = phi ptr [ %view, %make_view ], [ null, %no_view ]
  ret ptr %result
}

define void @transpose_in_place(ptr %array) nounwind {
entry:
  %rank_at = getelementptr inbounds i8, ptr %array, i64 $RANK
  %rank = load i32, ptr %rank_at
  %sizes_at = getelementptr inbounds i8, ptr %array, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr inbounds i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %wide_rank = zext i32 %rank to i64
  br label %axes
axes:
  %i = phi i64 [ 0, %entry ], [ %next, %axis ]
  %next = add i64 %i, 1
  %mirrored = sub i64 %wide_rank, %next
  %has_more = icmp slt i64 %i, %mirrored
  br i1 %has_more, label %axis, label %exchange_flags
axis:
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %i
  %mirrored_size_at = getelementptr inbounds i64, ptr %sizes, i64 %mirrored
  %size = load i64, ptr %size_at
  %mirrored_size = load i64, ptr %mirrored_size_at
  store i64 %mirrored_size, ptr %size_at
  store i64 %size, ptr %mirrored_size_at
  %stride_at = getelementptr inbounds i64, ptr %strides, i64 %i
  %mirrored_stride_at = getelementptr inbounds i64, ptr %strides, i64 %mirrored
  %stride = load i64, ptr %stride_at
  %mirrored_stride = load i64, ptr %mirrored_stride_at
  store i64 %mirrored_stride, ptr %stride_at
  store i64 %stride, ptr %mirrored_stride_at
  br label %axes
exchange_flags:
  %flags_at = getelementptr inbounds i8, ptr %array, i64 $FLAGS
  %old_flags = load i32, ptr %flags_at
  %row_flag = and i32 %old_flags, 1
  %column_flag = and i32 %old_flags, 2
  %other_flags = and i32 %old_flags, -4
  %new_column_flag = shl i32 %row_flag, 1
  %new_row_flag = lshr i32 %column_flag, 1
  %order_flags = or i32 %new_column_flag, %new_row_flag
  %new_flags = or i32 %other_flags, %order_flags
  store i32 %new_flags, ptr %flags_at
  ret void
}

define i1 @is_open_array(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %fill, label %no
fill:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  br label %axes
axes:
  %i = phi i64 [ 0, %fill ], [ %next, %axis ]
  %has_more = icmp slt i64 %i, %rank
  br i1 %has_more, label %axis, label %compare
axis:
  %own_size_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own_size = load i64, ptr %own_size_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %is_open = icmp slt i64 %size, 0
  %known_size = select i1 %is_open, i64 %own_size, i64 %size
  store i64 %known_size, ptr %size_at
  %next = add i64 %i, 1
  br label %axes
compare:
  %is_contiguous = call i1 @is_contiguous_array(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape)
  ret i1 %is_contiguous
no:
  ret i1 false
}

define i1 @is_memory(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape, ptr %strides) nounwind {
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %check_flags, label %no
check_flags:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %writable = and i32 %flags, $WRITABLE
  %is_writable = icmp eq i32 %writable, $WRITABLE
  br i1 %is_writable, label %read_shape, label %no
read_shape:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  %own_strides_at = getelementptr inbounds i8, ptr %object, i64 $STRIDES
  %own_strides = load ptr, ptr %own_strides_at
  br label %axes
axes:
  %i = phi i64 [ 0, %read_shape ], [ %next, %next_axis ]
  %has_more = icmp slt i64 %i, %rank
  br i1 %has_more, label %axis, label %yes
axis:
  %own_size_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own_size = load i64, ptr %own_size_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %same_size = icmp eq i64 %own_size, %size
  %any_size = icmp eq i64 %size, $ANY_NUMBER
  %fits_size = or i1 %same_size, %any_size
  %own_stride_at = getelementptr inbounds i64, ptr %own_strides, i64 %i
  %own_stride = load i64, ptr %own_stride_at
  %stride_at = getelementptr inbounds i64, ptr %strides, i64 %i
  %stride = load i64, ptr %stride_at
  %same_stride = icmp eq i64 %own_stride, %stride
  %any_stride = icmp eq i64 %stride, $ANY_NUMBER
  %fits_stride = or i1 %same_stride, %any_stride
  %fits_axis = and i1 %fits_size, %fits_stride
  br i1 %fits_axis, label %next_axis, label %no
next_axis:
  %next = add i64 %i, 1
  br label %axes
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor) nounwind {
  call void @retain(ptr %descriptor)
  %array = call ptr @"PyArray_Empty"(i32 %rank, ptr %dimensions, ptr %descriptor, i32 0)
  ret ptr %array
}

define ptr @new_large_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler) nounwind {
  %slots = alloca [3 x ptr]
  %previous_handler = call ptr @"PyDataMem_SetHandler"(ptr %handler)
  %has_failed = icmp eq ptr %previous_handler, null
  br i1 %has_failed, label %return_null, label %allocate
return_null:
  ret ptr null
allocate:
  %array = call ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor)
  %has_no_array = icmp eq ptr %array, null
  br i1 %has_no_array, label %save_error, label %restore_handler
save_error:
  %kind_at = alloca ptr
  %error_at = alloca ptr
  %trace_at = alloca ptr
  call void @PyErr_Fetch(ptr %kind_at, ptr %error_at, ptr %trace_at)
  %pool_handler = call ptr @"PyDataMem_SetHandler"(ptr %previous_handler)
  %kind = load ptr, ptr %kind_at
  %error = load ptr, ptr %error_at
  %trace = load ptr, ptr %trace_at
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %trace)
  br label %release_handlers
restore_handler:
  %pool_handler_after = call ptr @"PyDataMem_SetHandler"(ptr %previous_handler)
  br label %release_handlers
release_handlers:
  %own_handler = phi ptr [ %pool_handler, %save_error ], [ %pool_handler_after, %restore_handler ]
  %is_not_restored = icmp eq ptr %own_handler, null
  %dropped_array = select i1 %is_not_restored, ptr %array, ptr null
  %result = select i1 %is_not_restored, ptr null, ptr %array
  store ptr %previous_handler, ptr %slots
  %handler_slot = getelementptr ptr, ptr %slots, i64 1
  store ptr %own_handler, ptr %handler_slot
  %array_slot = getelementptr ptr, ptr %slots, i64 2
  store ptr %dropped_array, ptr %array_slot
  call void @release_all(ptr %slots, i64 3)
  ret ptr %result
}

define ptr @new_sized_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler, i64 %bytes) nounwind {
  %is_above_minimum = icmp sge i64 %bytes, $SMALLEST
  %is_below_maximum = icmp sle i64 %bytes, $LARGEST
  %is_pooled = and i1 %is_above_minimum, %is_below_maximum
  br i1 %is_pooled, label %allocate_large, label %allocate_small
allocate_large:
  %large_array = call ptr @new_large_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler)
  ret ptr %large_array
allocate_small:
  %small_array = call ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor)
  ret ptr %small_array
}

define ptr @new_view(
    ptr %kind, ptr %descriptor, i32 %rank, ptr %sizes, ptr %strides, ptr %data, ptr %owner, i32 %flags) nounwind {
  call void @retain(ptr %descriptor)
  %view = call ptr @"PyArray_NewFromDescr"(
      ptr %kind, ptr %descriptor, i32 %rank, ptr %sizes, ptr %strides, ptr %data,
      i32 %flags, ptr null)
  %has_failed = icmp eq ptr %view, null
  br i1 %has_failed, label %done, label %set_base
set_base:
  call void @retain(ptr %owner)
  %status = call i32 @"PyArray_SetBaseObject"(ptr %view, ptr %owner)
  %is_refused = icmp slt i32 %status, 0
  br i1 %is_refused, label %drop_view, label %done
drop_view:
  %slot = alloca ptr
  store ptr %view, ptr %slot
  call void @release(ptr %slot)
  ret ptr null
done:
  ret ptr %view
}

define void @keep_spare(ptr %slot, ptr %spares, i64 %count) nounwind {
entry:
  %object = load ptr, ptr %slot
  %is_null = icmp eq ptr %object, null
  br i1 %is_null, label %done, label %check_owner
check_owner:
  %has_one_owner = call i1 @is_alone(ptr %object)
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %owner_flag = and i32 %flags, $OWNED
  %owns_data = icmp eq i32 %owner_flag, $OWNED
  %is_reusable = and i1 %has_one_owner, %owns_data
  br i1 %is_reusable, label %next_spare, label %release_object
next_spare:
  %i = phi i64 [ 0, %check_owner ], [ %next, %try_next ]
  %spare = getelementptr ptr, ptr %spares, i64 %i
  %spare_object = load ptr, ptr %spare
  %is_free = icmp eq ptr %spare_object, null
  br i1 %is_free, label %store_spare, label %try_next
try_next:
  %next = add i64 %i, 1
  %has_more = icmp slt i64 %next, %count
  br i1 %has_more, label %next_spare, label %release_object
store_spare:
  store ptr %object, ptr %spare
  store ptr null, ptr %slot
  br label %done
release_object:
  call void @release(ptr %slot)
  br label %done
done:
  ret void
}

define ptr @spare_array(ptr %spares, i64 %count) nounwind {
entry:
  br label %next_spare
next_spare:
  %i = phi i64 [ 0, %entry ], [ %next, %try_next ]
  %spare = getelementptr ptr, ptr %spares, i64 %i
  %spare_object = load ptr, ptr %spare
  %is_free = icmp eq ptr %spare_object, null
  br i1 %is_free, label %try_next, label %take_spare
try_next:
  %next = add i64 %i, 1
  %has_more = icmp slt i64 %next, %count
  br i1 %has_more, label %next_spare, label %return_null
take_spare:
  store ptr null, ptr %spare
  ret ptr %spare_object
return_null:
  ret ptr null
}

define void @keep_spare_vector(ptr %slot, ptr %spares, i64 %count, i64 %item_bytes) nounwind {
entry:
  %object = load ptr, ptr %slot
  %is_null = icmp eq ptr %object, null
  br i1 %is_null, label %done, label %check_size
check_size:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  %size = load i64, ptr %dimensions
  %bytes = mul i64 %size, %item_bytes
  %is_small = icmp slt i64 %bytes, $SMALLEST
  br i1 %is_small, label %keep, label %release_object
keep:
  call void @keep_spare(ptr %slot, ptr %spares, i64 %count)
  br label %done
release_object:
  call void @release(ptr %slot)
  br label %done
done:
  ret void
}

define ptr @spare_vector(ptr %spares, i64 %count, i64 %size) nounwind {
entry:
  %has_elements = icmp sgt i64 %size, 0
  br i1 %has_elements, label %next_spare, label %return_null
next_spare:
  %i = phi i64 [ 0, %entry ], [ %next, %try_next ]
  %spare = getelementptr ptr, ptr %spares, i64 %i
  %object = load ptr, ptr %spare
  %is_free = icmp eq ptr %object, null
  br i1 %is_free, label %try_next, label %check_size
check_size:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  %own_size = load i64, ptr %dimensions
  %fits = icmp sge i64 %own_size, %size
  br i1 %fits, label %take_spare, label %try_next
try_next:
  %next = add i64 %i, 1
  %has_more = icmp slt i64 %next, %count
  br i1 %has_more, label %next_spare, label %return_null
take_spare:
  store i64 %size, ptr %dimensions
  store ptr null, ptr %spare
  ret ptr %object
return_null:
  ret ptr null
}

define i1 @pause() nounwind {
  %state = call ptr @"PyEval_SaveThread"()
  call void @"PyEval_RestoreThread"(ptr %state)
  %status = call i32 @"PyErr_CheckSignals"()
  %is_interrupted = icmp ne i32 %status, 0
  ret i1 %is_interrupted
}

define i1 @resize(ptr %array, i64 %size) nounwind {
  %dimension = alloca i64
  store i64 %size, ptr %dimension
  %dimensions = alloca { ptr, i32 }
  store ptr %dimension, ptr %dimensions
  %count = getelementptr i8, ptr %dimensions, i64 8
  store i32 1, ptr %count
  %result_slot = alloca ptr
  %result = call ptr @"PyArray_Resize"(ptr %array, ptr %dimensions, i32 0, i32 0)
  store ptr %result, ptr %result_slot
  call void @release(ptr %result_slot)
  %has_failed = icmp eq ptr %result, null
  ret i1 %has_failed
}

define i1 @grow_bytes(ptr %bytes, i64 %more) nounwind {
  %size_at = getelementptr inbounds i8, ptr %bytes, i64 $BYTE_COUNT
  %size = load i64, ptr %size_at
  %needed = add i64 %size, %more
  %half = lshr i64 %needed, 1
  %ample_size = add i64 %needed, %half
  %reserved_size = add i64 %ample_size, 64
  %status = call i32 @"PyByteArray_Resize"(ptr %bytes, i64 %reserved_size)
  %has_failed = icmp slt i32 %status, 0
  br i1 %has_failed, label %done, label %restore_size
restore_size:
  store i64 %size, ptr %size_at
  br label %done
done:
  ret i1 %has_failed
}

define ptr @call_python(ptr %function, ptr %arguments, i64 %count) nounwind {
  %stack_mark = alloca i64
  %stack_address = ptrtoint ptr %stack_mark to i64
  %floor = call i64 @stack_floor()
  %is_too_deep = icmp ult i64 %stack_address, %floor
  br i1 %is_too_deep, label %raise_recursion_error, label %call_function
raise_recursion_error:
  call void @PyErr_SetString(ptr @recursion_error, ptr @too_deep)
  ret ptr null
call_function:
  %errors = call i64 @float_errors()
  %result = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  call void @keep_float_errors(i64 %errors)
  ret ptr %result
}

define void @restore_arrays(ptr %function, ptr %arguments, i64 %count) nounwind {
  %slots = alloca [3 x ptr]
  %trace_at = getelementptr ptr, ptr %slots, i64 1
  %result_at = getelementptr ptr, ptr %slots, i64 2
  call void @PyErr_Fetch(ptr %slots, ptr %arguments, ptr %trace_at)
  call void @PyErr_NormalizeException(ptr %slots, ptr %arguments, ptr %trace_at)
  %result = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  store ptr %result, ptr %result_at
  call void @release(ptr %result_at)
  %kind = load ptr, ptr %slots
  %error = load ptr, ptr %arguments
  %trace = load ptr, ptr %trace_at
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %trace)
  ret void
}
