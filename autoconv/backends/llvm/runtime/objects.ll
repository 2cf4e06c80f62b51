; The common cases of operations on Python objects, see objects.py.

declare void @_Py_Dealloc(ptr)
declare ptr @PyObject_RichCompare(ptr, ptr, i32)
declare i32 @PySequence_Contains(ptr, ptr)
declare i32 @PyObject_SetItem(ptr, ptr, ptr)
declare i32 @PyObject_DelItem(ptr, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PySet_New(ptr)
declare i32 @PySet_Add(ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyObject_GetIter(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_VectorcallMethod(ptr, ptr, i64, ptr)
declare i64 @PyObject_Size(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyIter_Next(ptr)
declare ptr @PyObject_GenericGetAttr(ptr, ptr)
declare i32 @PyObject_GenericSetAttr(ptr, ptr, ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyObject_SetAttr(ptr, ptr, ptr)
declare ptr @_PyType_Lookup(ptr, ptr)
declare ptr @PyErr_Occurred()
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare void @PyErr_SetObject(ptr, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
$CLASS_BIT

; Return whether the class of an object is in a set of classes.
define internal i1 @object_is(ptr %object, i64 %classes) nounwind {
  %class_bit = call i64 @object_class_bit(ptr %object)
  %common_bit = and i64 %class_bit, %classes
  %found = icmp ne i64 %common_bit, 0
  ret i1 %found
}

; Return whether the classes of all objects have bits.
define internal i1 @object_are_known(ptr %objects, i64 %count) nounwind {
entry:
  br label %next_object
next_object:
  %i = phi i64 [ 0, %entry ], [ %next, %check_class ]
  %has_more = icmp slt i64 %i, %count
  br i1 %has_more, label %check_class, label %yes
check_class:
  %at = getelementptr inbounds ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %at
  %class_bit = call i64 @object_class_bit(ptr %object)
  %next = add i64 %i, 1
  %is_known = icmp ne i64 %class_bit, 0
  br i1 %is_known, label %next_object, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Return whether the class of the first object is in a set of classes.
define internal i1 @object_first_is(ptr %objects, i64 %classes) nounwind {
  %object = load ptr, ptr %objects
  %found = call i1 @object_is(ptr %object, i64 %classes)
  ret i1 %found
}

; Return True or False for the status of a C function; NULL after an error.
define internal ptr @object_truth_of(i32 %status) nounwind {
  %has_failed = icmp slt i32 %status, 0
  br i1 %has_failed, label %return_null, label %return_truth
return_truth:
  %is_true = icmp ne i32 %status, 0
  %truth = select i1 %is_true, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %truth)
  ret ptr %truth
return_null:
  ret ptr null
}

; Return None for the status of a C function; NULL after an error.
define internal ptr @object_none_of(i32 %status) nounwind {
  %has_failed = icmp slt i32 %status, 0
  br i1 %has_failed, label %return_null, label %return_none
return_none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
return_null:
  ret ptr null
}

$GUARDED
$PACKING
; Return whether an attribute is read and set without code of the user's: by the generic functions, and as an instance
; attribute, a slot, or a plain object of the class.
define internal i1 @object_has_plain_access(ptr %object, ptr %name) nounwind {
  %at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %class = load ptr, ptr %at
  %getter_at = getelementptr inbounds i8, ptr %class, i64 $GETTER
  %getter = load ptr, ptr %getter_at
  %setter_at = getelementptr inbounds i8, ptr %class, i64 $SETTER
  %setter = load ptr, ptr %setter_at
  %has_generic_getter = icmp eq ptr %getter, @PyObject_GenericGetAttr
  %has_generic_setter = icmp eq ptr %setter, @PyObject_GenericSetAttr
  %is_generic = and i1 %has_generic_getter, %has_generic_setter
  br i1 %is_generic, label %look_up_in_class, label %no
look_up_in_class:
  %class_attribute = call ptr @_PyType_Lookup(ptr %class, ptr %name)
  %is_absent = icmp eq ptr %class_attribute, null
  br i1 %is_absent, label %yes, label %check_slot
check_slot:
  %attribute_class_at = getelementptr inbounds i8, ptr %class_attribute, i64 $TYPE
  %attribute_class = load ptr, ptr %attribute_class_at
  %is_slot = icmp eq ptr %attribute_class, @PyMemberDescr_Type
  br i1 %is_slot, label %yes, label %check_value
check_value:
  %is_plain = call i1 @object_is(ptr %class_attribute, i64 $ALL_CLASSES)
  ret i1 %is_plain
yes:
  ret i1 true
no:
  ret i1 false
}

; Store the next item of an iterator at `%current`; return 1, 0 at the end, or -1 after an error.
define i32 @object_advance(ptr %iterator, ptr %current) nounwind {
  %item = call ptr @PyIter_Next(ptr %iterator)
  %has_no_item = icmp eq ptr %item, null
  br i1 %has_no_item, label %check_error, label %store_item
store_item:
  %previous_item = load ptr, ptr %current
  store ptr %item, ptr %current
  call void @Py_DecRef(ptr %previous_item)
  ret i32 1
check_error:
  %error = call ptr @PyErr_Occurred()
  %is_end = icmp eq ptr %error, null
  %status = select i1 %is_end, i32 0, i32 -1
  ret i32 %status
}

; Call a function that adds source spans to the raised error, and raises it again.
define void @object_locate(ptr %locator) nounwind {
  %class_at = alloca ptr
  %error_at = alloca ptr
  %traceback_at = alloca ptr
  call void @PyErr_Fetch(ptr %class_at, ptr %error_at, ptr %traceback_at)
  call void @PyErr_NormalizeException(ptr %class_at, ptr %error_at, ptr %traceback_at)
  %error = load ptr, ptr %error_at
  %traceback = load ptr, ptr %traceback_at
  %has_no_traceback = icmp eq ptr %traceback, null
  br i1 %has_no_traceback, label %call_locator, label %attach_traceback
attach_traceback:
  %status = call i32 @PyException_SetTraceback(ptr %error, ptr %traceback)
  br label %call_locator
call_locator:
  %no_result = call ptr @PyObject_Vectorcall(ptr %locator, ptr %error_at, i64 1, ptr null)
  call void @Py_DecRef(ptr %error)
  %class = load ptr, ptr %class_at
  call void @Py_DecRef(ptr %class)
  br i1 %has_no_traceback, label %done, label %drop_traceback
drop_traceback:
  call void @Py_DecRef(ptr %traceback)
  br label %done
done:
  ret void
}
