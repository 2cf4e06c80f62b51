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
$KINDS

define internal i1 @object_is(ptr %object, i64 %classes) nounwind {
  %kind = call i64 @object_kind(ptr %object)
  %common = and i64 %kind, %classes
  %found = icmp ne i64 %common, 0
  ret i1 %found
}

define internal i1 @object_are_known(ptr %objects, i64 %count) nounwind {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %look ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %look, label %yes
look:
  %at = getelementptr inbounds ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %at
  %kind = call i64 @object_kind(ptr %object)
  %next = add i64 %i, 1
  %known = icmp ne i64 %kind, 0
  br i1 %known, label %head, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @object_first_is(ptr %objects, i64 %classes) nounwind {
  %object = load ptr, ptr %objects
  %found = call i1 @object_is(ptr %object, i64 %classes)
  ret i1 %found
}

define internal ptr @object_truth_of(i32 %answer) nounwind {
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %no, label %yes
yes:
  %is_true = icmp ne i32 %answer, 0
  %truth = select i1 %is_true, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %truth)
  ret ptr %truth
no:
  ret ptr null
}

define internal ptr @object_done(i32 %answer) nounwind {
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %no, label %yes
yes:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
no:
  ret ptr null
}

$GUARDED
$PACKS
define internal i1 @object_holds(ptr %object, ptr %name) nounwind {
  %at = getelementptr inbounds i8, ptr %object, i64 $TYPE
  %class = load ptr, ptr %at
  %get_at = getelementptr inbounds i8, ptr %class, i64 $GETTER
  %get = load ptr, ptr %get_at
  %set_at = getelementptr inbounds i8, ptr %class, i64 $SETTER
  %set = load ptr, ptr %set_at
  %gets = icmp eq ptr %get, @PyObject_GenericGetAttr
  %sets = icmp eq ptr %set, @PyObject_GenericSetAttr
  %generic = and i1 %gets, %sets
  br i1 %generic, label %look, label %no
look:
  %described = call ptr @_PyType_Lookup(ptr %class, ptr %name)
  %own = icmp eq ptr %described, null
  br i1 %own, label %yes, label %ask
ask:
  %kind_at = getelementptr inbounds i8, ptr %described, i64 $TYPE
  %kind = load ptr, ptr %kind_at
  %is_slot = icmp eq ptr %kind, @PyMemberDescr_Type
  br i1 %is_slot, label %yes, label %value
value:
  %is_value = call i1 @object_is(ptr %described, i64 $EVERY)
  ret i1 %is_value
yes:
  ret i1 true
no:
  ret i1 false
}

define i32 @object_advance(ptr %items, ptr %current) nounwind {
  %next = call ptr @PyIter_Next(ptr %items)
  %none = icmp eq ptr %next, null
  br i1 %none, label %end, label %put
put:
  %before = load ptr, ptr %current
  store ptr %next, ptr %current
  call void @Py_DecRef(ptr %before)
  ret i32 1
end:
  %error = call ptr @PyErr_Occurred()
  %well = icmp eq ptr %error, null
  %answer = select i1 %well, i32 0, i32 -1
  ret i32 %answer
}

define void @object_locate(ptr %locator) nounwind {
  %kind = alloca ptr
  %error = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %kind, ptr %error, ptr %trace)
  call void @PyErr_NormalizeException(ptr %kind, ptr %error, ptr %trace)
  %made = load ptr, ptr %error
  %traced = load ptr, ptr %trace
  %untraced = icmp eq ptr %traced, null
  br i1 %untraced, label %go, label %set
set:
  %answer = call i32 @PyException_SetTraceback(ptr %made, ptr %traced)
  br label %go
go:
  %found = call ptr @PyObject_Vectorcall(ptr %locator, ptr %error, i64 1, ptr null)
  call void @Py_DecRef(ptr %made)
  %class = load ptr, ptr %kind
  call void @Py_DecRef(ptr %class)
  br i1 %untraced, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %traced)
  br label %done
done:
  ret void
}
