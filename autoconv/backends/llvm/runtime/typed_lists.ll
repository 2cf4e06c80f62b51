; Convert a Python list of numbers, possibly nested, to a typed list.
;
; `object_numbers` takes the list, the class of its items, their size in bytes and the depth of nesting (see
; lists/typed_lists.py). It returns NULL if an item is of another class, an int exceeds 64 bits, or memory runs out; the
; op's kernel raises the error.

declare i32 @PyList_SetItem(ptr, i64, ptr)
declare ptr @PyByteArray_FromStringAndSize(ptr, i64)
declare void @PyErr_Clear()

define ptr @object_numbers(ptr %list, ptr %class, i64 %size, i64 %depth) nounwind {
entry:
  %overflow = alloca i32
  %kind_at = getelementptr inbounds i8, ptr %list, i64 $TYPE
  %kind = load ptr, ptr %kind_at
  %is_list = icmp eq ptr %kind, @PyList_Type
  br i1 %is_list, label %look, label %other
look:
  %count_at = getelementptr inbounds i8, ptr %list, i64 $LIST_COUNT
  %count = load i64, ptr %count_at
  %items_at = getelementptr inbounds i8, ptr %list, i64 $LIST_ITEMS
  %items = load ptr, ptr %items_at
  %flat = icmp eq i64 %depth, 1
  br i1 %flat, label %numbers, label %rows
rows:
  %less = sub i64 %depth, 1
  %held = call ptr @PyList_New(i64 %count)
  %no_list = icmp eq ptr %held, null
  br i1 %no_list, label %no_memory, label %next_row
next_row:
  %r = phi i64 [ 0, %rows ], [ %after_r, %put_row ]
  %more_r = icmp slt i64 %r, %count
  br i1 %more_r, label %take_row, label %whole
take_row:
  %row_at = getelementptr inbounds ptr, ptr %items, i64 %r
  %row = load ptr, ptr %row_at
  %inner = call ptr @object_numbers(ptr %row, ptr %class, i64 %size, i64 %less)
  %no_row = icmp eq ptr %inner, null
  br i1 %no_row, label %drop_rows, label %put_row
put_row:
  %set = call i32 @PyList_SetItem(ptr %held, i64 %r, ptr %inner)
  %after_r = add i64 %r, 1
  br label %next_row
drop_rows:
  call void @Py_DecRef(ptr %held)
  ret ptr null
whole:
  ret ptr %held
numbers:
  %bytes = mul i64 %count, %size
  %made = call ptr @PyByteArray_FromStringAndSize(ptr null, i64 %bytes)
  %none = icmp eq ptr %made, null
  br i1 %none, label %no_memory, label %begin
begin:
  %start_at = getelementptr inbounds i8, ptr %made, i64 $BYTE_START
  %start = load ptr, ptr %start_at
  %is_float = icmp eq ptr %class, @PyFloat_Type
  %is_bool = icmp eq ptr %class, @PyBool_Type
  br label %next
next:
  %i = phi i64 [ 0, %begin ], [ %after, %put ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %take, label %done
take:
  %item_at = getelementptr inbounds ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %item_kind_at = getelementptr inbounds i8, ptr %item, i64 $TYPE
  %item_kind = load ptr, ptr %item_kind_at
  %fits = icmp eq ptr %item_kind, %class
  br i1 %fits, label %known, label %drop
known:
  br i1 %is_float, label %float, label %whole_number
float:
  %value_at = getelementptr inbounds i8, ptr %item, i64 $FLOAT_VALUE
  %value = load double, ptr %value_at
  %float_at = getelementptr inbounds double, ptr %start, i64 %i
  store double %value, ptr %float_at
  br label %put
whole_number:
  br i1 %is_bool, label %truth, label %int
truth:
  %yes = icmp eq ptr %item, @_Py_TrueStruct
  %byte = zext i1 %yes to i8
  %truth_at = getelementptr inbounds i8, ptr %start, i64 %i
  store i8 %byte, ptr %truth_at
  br label %put
int:
  %number = call i64 @PyLong_AsLongLongAndOverflow(ptr %item, ptr %overflow)
  %int_at = getelementptr inbounds i64, ptr %start, i64 %i
  store i64 %number, ptr %int_at
  %beyond = load i32, ptr %overflow
  %inside = icmp eq i32 %beyond, 0
  br i1 %inside, label %put, label %drop
put:
  %after = add i64 %i, 1
  br label %next
drop:
  call void @Py_DecRef(ptr %made)
  ret ptr null
done:
  ret ptr %made
no_memory:
  call void @PyErr_Clear()
  ret ptr null
other:
  ret ptr null
}
