; Entry and exit of the handler of a `try`.
;
; `catch_error` takes the raised error and returns a reference to it, and stores the exception handled so far in a slot.
; It returns NULL for an error of the classes `%limits`, which no handler catches, and which stays raised. `end_handling`
; restores the exception handled before.

declare void @release(ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyErr_GivenExceptionMatches(ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare ptr @PyErr_GetHandledException()
declare void @PyErr_SetHandledException(ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)

define ptr @catch_error(ptr %limits, ptr %before) nounwind {
entry:
  %error_parts = alloca [3 x ptr]
  %class_at = getelementptr ptr, ptr %error_parts, i64 0
  %error_at = getelementptr ptr, ptr %error_parts, i64 1
  %traceback_at = getelementptr ptr, ptr %error_parts, i64 2
  call void @PyErr_Fetch(ptr %class_at, ptr %error_at, ptr %traceback_at)
  call void @PyErr_NormalizeException(ptr %class_at, ptr %error_at, ptr %traceback_at)
  %raised_class = load ptr, ptr %class_at
  %raised_error = load ptr, ptr %error_at
  %raised_traceback = load ptr, ptr %traceback_at
  %match_status = call i32 @PyErr_GivenExceptionMatches(ptr %raised_error, ptr %limits)
  %is_limit = icmp ne i32 %match_status, 0
  br i1 %is_limit, label %limit, label %caught
limit:
  call void @PyErr_Restore(ptr %raised_class, ptr %raised_error, ptr %raised_traceback)
  ret ptr null
caught:
  %has_no_traceback = icmp eq ptr %raised_traceback, null
  br i1 %has_no_traceback, label %begin_handling, label %attach_traceback
attach_traceback:
  %status = call i32 @PyException_SetTraceback(ptr %raised_error, ptr %raised_traceback)
  br label %begin_handling
begin_handling:
  call void @release(ptr %class_at)
  call void @release(ptr %traceback_at)
  %outer = call ptr @PyErr_GetHandledException()
  store ptr %outer, ptr %before
  call void @PyErr_SetHandledException(ptr %raised_error)
  ret ptr %raised_error
}

define void @end_handling(ptr %before) nounwind {
entry:
  %outer = load ptr, ptr %before
  call void @PyErr_SetHandledException(ptr %outer)
  call void @release(ptr %before)
  ret void
}
