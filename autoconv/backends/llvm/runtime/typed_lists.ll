; Convert a Python list of numbers or of tuples of numbers, possibly nested, to a typed list.
;
; `object_numbers` takes the list, the classes of the numbers in an item, the count of numbers in a tuple (0: the items
; are numbers), the size of an item in bytes and the depth of nesting (see lists/typed_lists.py). It returns NULL if an
; item or number is of another class, an int exceeds 64 bits, or memory runs out; the op's kernel raises the error.

declare i32 @PyList_SetItem(ptr, i64, ptr)
declare ptr @PyByteArray_FromStringAndSize(ptr, i64)
declare void @PyErr_Clear()

declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)

define internal i1 @store_number(ptr %item, ptr %class, ptr %address) alwaysinline nounwind {
entry:
  %overflow = alloca i32
  %item_kind_at = getelementptr inbounds i8, ptr %item, i64 $TYPE
  %item_kind = load ptr, ptr %item_kind_at
  %has_class = icmp eq ptr %item_kind, %class
  br i1 %has_class, label %store_item, label %refuse
store_item:
  %is_float = icmp eq ptr %class, @PyFloat_Type
  br i1 %is_float, label %store_float, label %check_bool
store_float:
  %value_at = getelementptr inbounds i8, ptr %item, i64 $FLOAT_VALUE
  %value = load double, ptr %value_at
  store double %value, ptr %address
  ret i1 true
check_bool:
  %is_bool = icmp eq ptr %class, @PyBool_Type
  br i1 %is_bool, label %store_bool, label %store_int
store_bool:
  %is_true = icmp eq ptr %item, @_Py_TrueStruct
  %byte = zext i1 %is_true to i8
  store i8 %byte, ptr %address
  ret i1 true
store_int:
  %number = call i64 @PyLong_AsLongLongAndOverflow(ptr %item, ptr %overflow)
  store i64 %number, ptr %address
  %overflow_flag = load i32, ptr %overflow
  %fits_int64 = icmp eq i32 %overflow_flag, 0
  ret i1 %fits_int64
refuse:
  ret i1 false
}

define internal i1 @store_tuple(ptr %tuple, ptr %classes, i64 %count, ptr %address) nounwind {
entry:
  %kind_at = getelementptr inbounds i8, ptr %tuple, i64 $TYPE
  %kind = load ptr, ptr %kind_at
  %is_tuple = icmp eq ptr %kind, @PyTuple_Type
  br i1 %is_tuple, label %check_size, label %refuse
check_size:
  %size = call i64 @PyTuple_Size(ptr %tuple)
  %has_size = icmp eq i64 %size, %count
  br i1 %has_size, label %next, label %refuse
next:
  %i = phi i64 [ 0, %check_size ], [ %next_i, %stored ]
  %has_more = icmp slt i64 %i, %count
  br i1 %has_more, label %take, label %done
take:
  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %i)
  %class_at = getelementptr inbounds ptr, ptr %classes, i64 %i
  %class = load ptr, ptr %class_at
  %number_at = getelementptr inbounds i64, ptr %address, i64 %i
  %is_stored = call i1 @store_number(ptr %item, ptr %class, ptr %number_at)
  br i1 %is_stored, label %stored, label %refuse
stored:
  %next_i = add i64 %i, 1
  br label %next
done:
  ret i1 true
refuse:
  ret i1 false
}

define ptr @object_numbers(ptr %list, ptr %classes, i64 %number_count, i64 %size, i64 %depth) nounwind {
entry:
  %kind_at = getelementptr inbounds i8, ptr %list, i64 $TYPE
  %kind = load ptr, ptr %kind_at
  %is_list = icmp eq ptr %kind, @PyList_Type
  br i1 %is_list, label %check_depth, label %refuse
check_depth:
  %count_at = getelementptr inbounds i8, ptr %list, i64 $LIST_COUNT
  %count = load i64, ptr %count_at
  %items_at = getelementptr inbounds i8, ptr %list, i64 $LIST_ITEMS
  %items = load ptr, ptr %items_at
  %is_flat = icmp eq i64 %depth, 1
  br i1 %is_flat, label %numbers, label %rows
rows:
  %inner_depth = sub i64 %depth, 1
  %row_list = call ptr @PyList_New(i64 %count)
  %is_out_of_memory = icmp eq ptr %row_list, null
  br i1 %is_out_of_memory, label %no_memory, label %next_row
next_row:
  %row_number = phi i64 [ 0, %rows ], [ %next_row_number, %put_row ]
  %has_more_rows = icmp slt i64 %row_number, %count
  br i1 %has_more_rows, label %take_row, label %return_rows
take_row:
  %row_at = getelementptr inbounds ptr, ptr %items, i64 %row_number
  %row = load ptr, ptr %row_at
  %typed_row = call ptr @object_numbers(ptr %row, ptr %classes, i64 %number_count, i64 %size, i64 %inner_depth)
  %has_failed = icmp eq ptr %typed_row, null
  br i1 %has_failed, label %drop_rows, label %put_row
put_row:
  %status = call i32 @PyList_SetItem(ptr %row_list, i64 %row_number, ptr %typed_row)
  %next_row_number = add i64 %row_number, 1
  br label %next_row
drop_rows:
  call void @Py_DecRef(ptr %row_list)
  ret ptr null
return_rows:
  ret ptr %row_list
numbers:
  %byte_count = mul i64 %count, %size
  %typed_list = call ptr @PyByteArray_FromStringAndSize(ptr null, i64 %byte_count)
  %has_no_memory = icmp eq ptr %typed_list, null
  br i1 %has_no_memory, label %no_memory, label %begin
begin:
  %start_at = getelementptr inbounds i8, ptr %typed_list, i64 $BYTE_START
  %start = load ptr, ptr %start_at
  %class = load ptr, ptr %classes
  %has_numbers = icmp eq i64 %number_count, 0
  br label %next
next:
  %i = phi i64 [ 0, %begin ], [ %next_i, %stored ]
  %has_more = icmp slt i64 %i, %count
  br i1 %has_more, label %take, label %done
take:
  %item_at = getelementptr inbounds ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %offset = mul i64 %i, %size
  %address = getelementptr inbounds i8, ptr %start, i64 %offset
  br i1 %has_numbers, label %take_number, label %take_tuple
take_number:
  %is_number_stored = call i1 @store_number(ptr %item, ptr %class, ptr %address)
  br i1 %is_number_stored, label %stored, label %drop_list
take_tuple:
  %is_tuple_stored = call i1 @store_tuple(ptr %item, ptr %classes, i64 %number_count, ptr %address)
  br i1 %is_tuple_stored, label %stored, label %drop_list
stored:
  %next_i = add i64 %i, 1
  br label %next
drop_list:
  call void @Py_DecRef(ptr %typed_list)
  ret ptr null
done:
  ret ptr %typed_list
no_memory:
  call void @PyErr_Clear()
  ret ptr null
refuse:
  ret ptr null
}
