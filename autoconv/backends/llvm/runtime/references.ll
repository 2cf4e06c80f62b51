; References, new arrays, calls into Python: shared by all native code, compiled once in a process.
;
; `is_array_of` tests class, element type and rank (an unpickled array has a dtype object of its own, which is only
; equal). `is_plain_array` tests the shape and C-contiguity as well. `is_open_array` takes a shape with -1 for open
; dimensions, and replaces these by the array's. `plain_copy` copies an array of the class, element type and rank that
; lies otherwise; it returns NULL for one that lies plain, for another object, and where memory is missing.
; `turned_view` returns the transposition of such an array in Fortran order, as `lies_by_columns` tests it, or NULL, and
; `turn` transposes a new array in place. `is_memory` takes ANY_NUMBER for any size or stride. `retain` and
; `release` skip immortal objects, whose count is beyond 32 bits. `keep` releases an array, or stores one with a single
; owner among the spare arrays, from which `spare_array` takes one, or returns NULL. `grow_bytes` reserves memory in a
; bytearray for more bytes, and for half as many again. `restore_arrays` calls a function with the error that is set and
; further arguments, behind a first place that is free, and sets that error again.

declare void @_Py_Dealloc(ptr)
declare ptr @PyArray_Empty(i32, ptr, ptr, i32)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare ptr @PyDataMem_SetHandler(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
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
  %low = load i32, ptr %object
  %immortal = icmp slt i32 %low, 0
  br i1 %immortal, label %done, label %count
count:
  %before = load i64, ptr %object
  %after = add i64 %before, 1
  store i64 %after, ptr %object
  br label %done
done:
  ret void
}

define void @release(ptr %slot) nounwind {
  %object = load ptr, ptr %slot
  %none = icmp eq ptr %object, null
  br i1 %none, label %done, label %held
held:
  store ptr null, ptr %slot
  %low = load i32, ptr %object
  %immortal = icmp slt i32 %low, 0
  br i1 %immortal, label %done, label %count
count:
  %before = load i64, ptr %object
  %after = sub i64 %before, 1
  store i64 %after, ptr %object
  %last = icmp eq i64 %after, 0
  br i1 %last, label %free, label %done
free:
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
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

define internal i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank) alwaysinline nounwind {
entry:
  %class_at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %own_class = load ptr, ptr %class_at
  %same_class = icmp eq ptr %own_class, %class
  br i1 %same_class, label %look, label %no
look:
  %descriptor_at = getelementptr inbounds i8, ptr %object, i64 $DESCRIPTOR
  %own_descriptor = load ptr, ptr %descriptor_at
  %same_descriptor = icmp eq ptr %own_descriptor, %descriptor
  %rank_at = getelementptr inbounds i8, ptr %object, i64 $RANK
  %short = load i32, ptr %rank_at
  %own_rank = zext i32 %short to i64
  %same_rank = icmp eq i64 %own_rank, %rank
  br i1 %same_rank, label %ask, label %no
ask:
  br i1 %same_descriptor, label %yes, label %compare
compare:
  %equal = call i8 @"PyArray_EquivTypes"(ptr %own_descriptor, ptr %descriptor)
  %equivalent = icmp ne i8 %equal, 0
  ret i1 %equivalent
yes:
  ret i1 true
no:
  ret i1 false
}

define i1 @is_plain_array(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %look, label %no
look:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %plain = and i32 %flags, $PLAIN
  %lies_plain = icmp eq i32 %plain, $PLAIN
  br i1 %lies_plain, label %measure, label %no
measure:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  br label %axes
axes:
  %i = phi i64 [ 0, %measure ], [ %next, %same ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %axis, label %yes
axis:
  %own_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own = load i64, ptr %own_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %fits = icmp eq i64 %own, %size
  br i1 %fits, label %same, label %no
same:
  %next = add i64 %i, 1
  br label %axes
yes:
  ret i1 true
no:
  ret i1 false
}

; `%item`: the bytes of an element. Null, too, for an array that is read by its strides.
define ptr @plain_copy(ptr %object, ptr %class, ptr %descriptor, i64 %rank, i64 %item) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %look, label %none
look:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %plain = and i32 %flags, $PLAIN
  %lies_plain = icmp eq i32 %plain, $PLAIN
  br i1 %lies_plain, label %none, label %measure
measure:
  %order = and i32 %flags, $EITHER
  %strided = icmp eq i32 %order, 0
  %writable = and i32 %flags, $WRITABLE
  %is_writable = icmp eq i32 %writable, $WRITABLE
  %readable = and i1 %strided, %is_writable
  %sizes_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  br i1 %readable, label %axes, label %copy
axes:
  %i = phi i64 [ 0, %measure ], [ %next, %axis ]
  %bytes = phi i64 [ %item, %measure ], [ %product, %axis ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %axis, label %measured
axis:
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size_at
  %product = mul i64 %bytes, %size
  %next = add i64 %i, 1
  br label %axes
measured:
  %large = icmp sge i64 %bytes, $MIN_STRIDED_BYTES
  br i1 %large, label %none, label %copy
copy:
  %made = call ptr @"PyArray_NewCopy"(ptr %object, i32 0)
  %missing = icmp eq ptr %made, null
  br i1 %missing, label %forget, label %done
forget:
  call void @PyErr_Clear()
  br label %none
none:
  br label %done
done:
  %found = phi ptr [ %made, %copy ], [ null, %none ]
  ret ptr %found
}

define i1 @lies_by_columns(ptr %object, ptr %class) nounwind {
  %class_at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %own_class = load ptr, ptr %class_at
  %same_class = icmp eq ptr %own_class, %class
  br i1 %same_class, label %look, label %no
look:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %orders = and i32 %flags, $ORDERS
  %found = icmp eq i32 %orders, $BY_COLUMNS
  ret i1 %found
no:
  ret i1 false
}

define ptr @turned_view(ptr %object, ptr %class, ptr %descriptor, i64 %rank) nounwind {
entry:
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %look, label %no
look:
  %by_columns = call i1 @lies_by_columns(ptr %object, ptr %class)
  br i1 %by_columns, label %begin, label %no
begin:
  %sizes_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %turned = alloca i64, i64 %rank
  br label %axes
axes:
  %i = phi i64 [ 0, %begin ], [ %next, %axis ]
  %next = add i64 %i, 1
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %axis, label %made
axis:
  %place = sub i64 %rank, %next
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %place
  %size = load i64, ptr %size_at
  %turned_at = getelementptr inbounds i64, ptr %turned, i64 %i
  store i64 %size, ptr %turned_at
  br label %axes
made:
  %short = trunc i64 %rank to i32
  %data_at = getelementptr inbounds i8, ptr %object, i64 $DATA
  %data = load ptr, ptr %data_at
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %kept = and i32 %flags, $WRITABLE
  %own = getelementptr inbounds i8, ptr %object, i64 $DESCRIPTOR
  %own_descriptor = load ptr, ptr %own
  %view = call ptr @new_view(
      ptr %class, ptr %own_descriptor, i32 %short, ptr %turned, ptr null, ptr %data, ptr %object, i32 %kept)
  %missing = icmp eq ptr %view, null
  br i1 %missing, label %forget, label %done
forget:
  call void @PyErr_Clear()
  br label %no
no:
  br label %done
done:
  %found = phi ptr [ %view, %made ], [ null, %no ]
  ret ptr %found
}

define void @turn(ptr %array) nounwind {
entry:
  %rank_at = getelementptr inbounds i8, ptr %array, i64 $RANK
  %rank = load i32, ptr %rank_at
  %sizes_at = getelementptr inbounds i8, ptr %array, i64 $DIMENSIONS
  %sizes = load ptr, ptr %sizes_at
  %strides_at = getelementptr inbounds i8, ptr %array, i64 $STRIDES
  %strides = load ptr, ptr %strides_at
  %many = zext i32 %rank to i64
  br label %axes
axes:
  %i = phi i64 [ 0, %entry ], [ %next, %axis ]
  %next = add i64 %i, 1
  %other = sub i64 %many, %next
  %more = icmp slt i64 %i, %other
  br i1 %more, label %axis, label %flags
axis:
  %size_at = getelementptr inbounds i64, ptr %sizes, i64 %i
  %other_size_at = getelementptr inbounds i64, ptr %sizes, i64 %other
  %size = load i64, ptr %size_at
  %other_size = load i64, ptr %other_size_at
  store i64 %other_size, ptr %size_at
  store i64 %size, ptr %other_size_at
  %stride_at = getelementptr inbounds i64, ptr %strides, i64 %i
  %other_stride_at = getelementptr inbounds i64, ptr %strides, i64 %other
  %stride = load i64, ptr %stride_at
  %other_stride = load i64, ptr %other_stride_at
  store i64 %other_stride, ptr %stride_at
  store i64 %stride, ptr %other_stride_at
  br label %axes
flags:
  %place = getelementptr inbounds i8, ptr %array, i64 $FLAGS
  %before = load i32, ptr %place
  %by_rows = and i32 %before, 1
  %by_columns = and i32 %before, 2
  %rest = and i32 %before, -4
  %now_columns = shl i32 %by_rows, 1
  %now_rows = lshr i32 %by_columns, 1
  %orders = or i32 %now_columns, %now_rows
  %after = or i32 %rest, %orders
  store i32 %after, ptr %place
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
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %axis, label %compare
axis:
  %own_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own = load i64, ptr %own_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %open = icmp slt i64 %size, 0
  %found = select i1 %open, i64 %own, i64 %size
  store i64 %found, ptr %size_at
  %next = add i64 %i, 1
  br label %axes
compare:
  %plain = call i1 @is_plain_array(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape)
  ret i1 %plain
no:
  ret i1 false
}

define i1 @is_memory(ptr %object, ptr %class, ptr %descriptor, i64 %rank, ptr %shape, ptr %strides) nounwind {
  %same_kind = call i1 @is_array_of(ptr %object, ptr %class, ptr %descriptor, i64 %rank)
  br i1 %same_kind, label %look, label %no
look:
  %flags_at = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %flags_at
  %writable = and i32 %flags, $WRITABLE
  %is_writable = icmp eq i32 %writable, $WRITABLE
  br i1 %is_writable, label %measure, label %no
measure:
  %dimensions_at = getelementptr inbounds i8, ptr %object, i64 $DIMENSIONS
  %dimensions = load ptr, ptr %dimensions_at
  %own_strides_at = getelementptr inbounds i8, ptr %object, i64 $STRIDES
  %own_strides = load ptr, ptr %own_strides_at
  br label %axes
axes:
  %i = phi i64 [ 0, %measure ], [ %next, %same ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %axis, label %yes
axis:
  %own_at = getelementptr inbounds i64, ptr %dimensions, i64 %i
  %own = load i64, ptr %own_at
  %size_at = getelementptr inbounds i64, ptr %shape, i64 %i
  %size = load i64, ptr %size_at
  %same_size = icmp eq i64 %own, %size
  %any_size = icmp eq i64 %size, $ANY_NUMBER
  %fits = or i1 %same_size, %any_size
  %own_stride_at = getelementptr inbounds i64, ptr %own_strides, i64 %i
  %own_stride = load i64, ptr %own_stride_at
  %stride_at = getelementptr inbounds i64, ptr %strides, i64 %i
  %stride = load i64, ptr %stride_at
  %same_stride = icmp eq i64 %own_stride, %stride
  %any_stride = icmp eq i64 %stride, $ANY_NUMBER
  %steps = or i1 %same_stride, %any_stride
  %fits_too = and i1 %fits, %steps
  br i1 %fits_too, label %same, label %no
same:
  %next = add i64 %i, 1
  br label %axes
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor) nounwind {
  call void @retain(ptr %descriptor)
  %made = call ptr @"PyArray_Empty"(i32 %rank, ptr %dimensions, ptr %descriptor, i32 0)
  ret ptr %made
}

define ptr @new_large_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler) nounwind {
  %slots = alloca [3 x ptr]
  %before = call ptr @"PyDataMem_SetHandler"(ptr %handler)
  %unset = icmp eq ptr %before, null
  br i1 %unset, label %missing, label %set
missing:
  ret ptr null
set:
  %made = call ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor)
  %none = icmp eq ptr %made, null
  br i1 %none, label %aside, label %restore
aside:
  %kind_at = alloca ptr
  %error_at = alloca ptr
  %trace_at = alloca ptr
  call void @PyErr_Fetch(ptr %kind_at, ptr %error_at, ptr %trace_at)
  %back = call ptr @"PyDataMem_SetHandler"(ptr %before)
  %kind = load ptr, ptr %kind_at
  %error = load ptr, ptr %error_at
  %trace = load ptr, ptr %trace_at
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %trace)
  br label %end
restore:
  %again = call ptr @"PyDataMem_SetHandler"(ptr %before)
  br label %end
end:
  %ours = phi ptr [ %back, %aside ], [ %again, %restore ]
  %stuck = icmp eq ptr %ours, null
  %dropped = select i1 %stuck, ptr %made, ptr null
  %answer = select i1 %stuck, ptr null, ptr %made
  store ptr %before, ptr %slots
  %second = getelementptr ptr, ptr %slots, i64 1
  store ptr %ours, ptr %second
  %third = getelementptr ptr, ptr %slots, i64 2
  store ptr %dropped, ptr %third
  call void @release_all(ptr %slots, i64 3)
  ret ptr %answer
}

define ptr @new_sized_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler, i64 %bytes) nounwind {
  %above = icmp sge i64 %bytes, $SMALLEST
  %below = icmp sle i64 %bytes, $LARGEST
  %pooled = and i1 %above, %below
  br i1 %pooled, label %large, label %small
large:
  %first = call ptr @new_large_array(i32 %rank, ptr %dimensions, ptr %descriptor, ptr %handler)
  ret ptr %first
small:
  %second = call ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor)
  ret ptr %second
}

define ptr @new_view(
    ptr %kind, ptr %descriptor, i32 %rank, ptr %sizes, ptr %strides, ptr %data, ptr %owner, i32 %flags) nounwind {
  call void @retain(ptr %descriptor)
  %made = call ptr @"PyArray_NewFromDescr"(
      ptr %kind, ptr %descriptor, i32 %rank, ptr %sizes, ptr %strides, ptr %data,
      i32 %flags, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %based
based:
  call void @retain(ptr %owner)
  %answer = call i32 @"PyArray_SetBaseObject"(ptr %made, ptr %owner)
  %refused = icmp slt i32 %answer, 0
  br i1 %refused, label %drop, label %done
drop:
  %slot = alloca ptr
  store ptr %made, ptr %slot
  call void @release(ptr %slot)
  ret ptr null
done:
  ret ptr %made
}

define void @keep(ptr %slot, ptr %spares, i64 %count) nounwind {
entry:
  %object = load ptr, ptr %slot
  %none = icmp eq ptr %object, null
  br i1 %none, label %done, label %held
held:
  %alone = call i1 @is_alone(ptr %object)
  %place = getelementptr inbounds i8, ptr %object, i64 $FLAGS
  %flags = load i32, ptr %place
  %own = and i32 %flags, $OWNED
  %owned = icmp eq i32 %own, $OWNED
  %reusable = and i1 %alone, %owned
  br i1 %reusable, label %look, label %drop
look:
  %i = phi i64 [ 0, %held ], [ %next, %taken ]
  %spare = getelementptr ptr, ptr %spares, i64 %i
  %there = load ptr, ptr %spare
  %free = icmp eq ptr %there, null
  br i1 %free, label %put, label %taken
taken:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %look, label %drop
put:
  store ptr %object, ptr %spare
  store ptr null, ptr %slot
  br label %done
drop:
  call void @release(ptr %slot)
  br label %done
done:
  ret void
}

define ptr @spare_array(ptr %spares, i64 %count) nounwind {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %empty ]
  %spare = getelementptr ptr, ptr %spares, i64 %i
  %there = load ptr, ptr %spare
  %free = icmp eq ptr %there, null
  br i1 %free, label %empty, label %take
empty:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %look, label %none
take:
  store ptr null, ptr %spare
  ret ptr %there
none:
  ret ptr null
}

define i1 @pause() nounwind {
  %state = call ptr @"PyEval_SaveThread"()
  call void @"PyEval_RestoreThread"(ptr %state)
  %found = call i32 @"PyErr_CheckSignals"()
  %interrupted = icmp ne i32 %found, 0
  ret i1 %interrupted
}

define i1 @resize(ptr %array, i64 %size) nounwind {
  %dimension = alloca i64
  store i64 %size, ptr %dimension
  %dimensions = alloca { ptr, i32 }
  store ptr %dimension, ptr %dimensions
  %count = getelementptr i8, ptr %dimensions, i64 8
  store i32 1, ptr %count
  %none = alloca ptr
  %answer = call ptr @"PyArray_Resize"(ptr %array, ptr %dimensions, i32 0, i32 0)
  store ptr %answer, ptr %none
  call void @release(ptr %none)
  %failed = icmp eq ptr %answer, null
  ret i1 %failed
}

define i1 @grow_bytes(ptr %bytes, i64 %more) nounwind {
  %size_at = getelementptr inbounds i8, ptr %bytes, i64 $BYTE_COUNT
  %size = load i64, ptr %size_at
  %least = add i64 %size, %more
  %half = lshr i64 %least, 1
  %ample = add i64 %least, %half
  %wanted = add i64 %ample, 64
  %answer = call i32 @"PyByteArray_Resize"(ptr %bytes, i64 %wanted)
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %done, label %made
made:
  store i64 %size, ptr %size_at
  br label %done
done:
  ret i1 %failed
}

define ptr @call_python(ptr %function, ptr %arguments, i64 %count) nounwind {
  %here = alloca i64
  %at = ptrtoint ptr %here to i64
  %floor = call i64 @stack_floor()
  %below = icmp ult i64 %at, %floor
  br i1 %below, label %deep, label %call
deep:
  call void @PyErr_SetString(ptr @recursion_error, ptr @too_deep)
  ret ptr null
call:
  %errors = call i64 @float_errors()
  %found = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  %left = call i64 @float_errors()
  %all = or i64 %errors, %left
  %kept = icmp eq i64 %all, %left
  br i1 %kept, label %done, label %cleared
cleared:
  call void @set_float_errors(i64 %all)
  br label %done
done:
  ret ptr %found
}

define void @restore_arrays(ptr %function, ptr %arguments, i64 %count) nounwind {
  %slots = alloca [3 x ptr]
  %trace_at = getelementptr ptr, ptr %slots, i64 1
  %found_at = getelementptr ptr, ptr %slots, i64 2
  call void @PyErr_Fetch(ptr %slots, ptr %arguments, ptr %trace_at)
  call void @PyErr_NormalizeException(ptr %slots, ptr %arguments, ptr %trace_at)
  %found = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  store ptr %found, ptr %found_at
  call void @release(ptr %found_at)
  %kind = load ptr, ptr %slots
  %error = load ptr, ptr %arguments
  %trace = load ptr, ptr %trace_at
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %trace)
  ret void
}
