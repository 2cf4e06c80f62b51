; Native `__call__` of functions: calls the entries of an object's slot in turn, see call_dispatch.py.
;
; CPython's tuples have their length at byte 16 and their items from byte 24 on, and a PyMethodDef its function at byte 8.

@dispatch_miss_handler = global ptr null
@dispatch_failure_handler = global ptr null
@dispatch_not_implemented = global ptr null
@dispatch_slot = global i64 0
@dispatch_methods = global i64 0
@dispatch_detour = global ptr null
@dispatch_busy = global ptr null
@dispatch_error_variable = global ptr null
@dispatch_default_errors = global ptr null
@dispatch_has_actions = global i64 0
@dispatch_flags_handler = global ptr null
declare void @retain(ptr)
declare void @release(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare ptr @PyMem_Malloc(i64)
declare void @PyMem_Free(ptr)
declare ptr @PyErr_NoMemory()
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare void @PyErr_Clear()
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)

define internal void @release_object(ptr %object) nounwind {
  %slot = alloca ptr
  store ptr %object, ptr %slot
  call void @release(ptr %slot)
  ret void
}

define i64 @take_float_errors() nounwind {
  %errors = call i64 @float_errors()
  call void @set_float_errors(i64 0)
  ret i64 %errors
}

; Calls the Python function of an entry made by `native_entry(address, name, function)`.
define ptr @call_python_entry(ptr %owner, ptr %arguments, i64 %count) nounwind {
  %function_at = getelementptr i8, ptr %owner, i64 $KEPT_OBJECTS
  %function = load ptr, ptr %function_at
  %result = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  ret ptr %result
}

define ptr @dispatch(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind {
entry:
  %class_at = alloca ptr
  %error_at = alloca ptr
  %traceback_at = alloca ptr
  %value_at = alloca ptr
  %methods_offset = load i64, ptr @dispatch_methods
  %methods_at = getelementptr i8, ptr %self, i64 %methods_offset
  %methods = load ptr, ptr %methods_at
  %has_methods = icmp ne ptr %methods, null
  %has_first = icmp sgt i64 %count, 0
  %may_have_method = and i1 %has_methods, %has_first
  br i1 %may_have_method, label %find_method, label %read_entries
find_method:
  %instance = load ptr, ptr %arguments
  %key = call ptr @PyLong_FromVoidPtr(ptr %instance)
  %has_key = icmp ne ptr %key, null
  br i1 %has_key, label %find_entry, label %no_key
no_key:
  call void @PyErr_Clear()
  br label %read_entries
find_entry:
  %pair = call ptr @PyDict_GetItemWithError(ptr %methods, ptr %key)
  %is_known = icmp ne ptr %pair, null
  br i1 %is_known, label %compare_instance, label %unknown_instance
compare_instance:
  %reference_at = getelementptr i8, ptr %pair, i64 24
  %reference = load ptr, ptr %reference_at
  %referent_at = getelementptr i8, ptr %reference, i64 $REFERENT
  %referent = load ptr, ptr %referent_at
  %is_same = icmp eq ptr %referent, %instance
  br i1 %is_same, label %call_method, label %unknown_instance
unknown_instance:
  call void @release_object(ptr %key)
  br label %read_entries
call_method:
  %method_at = getelementptr i8, ptr %pair, i64 32
  %method = load ptr, ptr %method_at
  call void @retain(ptr %method)
  call void @release_object(ptr %key)
  %other_arguments = getelementptr ptr, ptr %arguments, i64 1
  %other_count = sub i64 %count, 1
  %method_result = call ptr @dispatch(ptr %method, ptr %other_arguments, i64 %other_count, ptr %names)
  call void @release_object(ptr %method)
  ret ptr %method_result
read_entries:
  %offset = load i64, ptr @dispatch_slot
  %entries_at = getelementptr i8, ptr %self, i64 %offset
  %entries = load ptr, ptr %entries_at
  %has_entries = icmp ne ptr %entries, null
  %has_no_names = icmp eq ptr %names, null
  %detour_at = load ptr, ptr @dispatch_detour
  %detour = load atomic i64, ptr %detour_at monotonic, align 8
  %is_not_detoured = icmp eq i64 %detour, 0
  %may_try = and i1 %has_entries, %is_not_detoured
  br i1 %may_try, label %retain_entries, label %call_slow
retain_entries:
  call void @retain(ptr %entries)
  %size_at = getelementptr i8, ptr %entries, i64 16
  %size = load i64, ptr %size_at
  %items = getelementptr i8, ptr %entries, i64 24
  %not_implemented = load ptr, ptr @dispatch_not_implemented
  %has_gate = icmp sgt i64 %size, $NAMES
  br i1 %has_gate, label %read_gate, label %drop_entries
read_gate:
  %gate_at = getelementptr ptr, ptr %items, i64 $GATE
  %gate = load ptr, ptr %gate_at
  %state_at = getelementptr i8, ptr %gate, i64 $BUFFER
  %state = load ptr, ptr %state_at
  %passes_left = load i64, ptr %state
  %may_pass = icmp sgt i64 %passes_left, 0
  %plain_flag_at = getelementptr i64, ptr %state, i64 1
  %plain_flag = load i64, ptr %plain_flag_at
  %calls_graph = icmp eq i64 %plain_flag, 0
  %calls_plain = xor i1 %calls_graph, true
  br i1 %may_pass, label %read_form, label %drop_entries
read_form:
  br i1 %calls_plain, label %pass_gate, label %check_limit
check_limit:
  %limit_at = getelementptr i64, ptr %state, i64 3
  %limit = load i64, ptr %limit_at
  %are_positional = icmp sle i64 %count, %limit
  br i1 %are_positional, label %check_names, label %drop_entries
check_names:
  br i1 %has_no_names, label %pass_gate, label %measure_names
measure_names:
  %given_count_at = getelementptr i8, ptr %names, i64 16
  %given_count = load i64, ptr %given_count_at
  %bound_count = add i64 %count, %given_count
  %parameters_at = getelementptr ptr, ptr %items, i64 $NAMES
  %parameters = load ptr, ptr %parameters_at
  %parameter_count_at = getelementptr i8, ptr %parameters, i64 16
  %parameter_count = load i64, ptr %parameter_count_at
  %has_parameters = icmp ule i64 %bound_count, %parameter_count
  %fits_stack = icmp ule i64 %bound_count, $MOST_ON_STACK
  %may_bind = and i1 %has_parameters, %fits_stack
  br i1 %may_bind, label %copy_positions, label %drop_entries
copy_positions:
  %bound = alloca ptr, i64 %bound_count
  %position_bytes = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %bound, ptr %arguments, i64 %position_bytes, i1 false)
  %given_items = getelementptr i8, ptr %names, i64 24
  %parameter_items = getelementptr i8, ptr %parameters, i64 24
  br label %next_name
next_name:
  %k = phi i64 [ 0, %copy_positions ], [ %k_next, %bind_name ]
  %has_name = icmp ult i64 %k, %given_count
  br i1 %has_name, label %read_name, label %pass_gate
read_name:
  %name_at = getelementptr ptr, ptr %given_items, i64 %k
  %name = load ptr, ptr %name_at
  br label %next_parameter
next_parameter:
  %j = phi i64 [ %count, %read_name ], [ %j_next, %compare_name ]
  %has_parameter = icmp ult i64 %j, %bound_count
  br i1 %has_parameter, label %compare_name, label %drop_entries
compare_name:
  %parameter_at = getelementptr ptr, ptr %parameter_items, i64 %j
  %parameter = load ptr, ptr %parameter_at
  %j_next = add i64 %j, 1
  %is_parameter = icmp eq ptr %parameter, %name
  br i1 %is_parameter, label %bind_name, label %next_parameter
bind_name:
  %given_index = add i64 %count, %k
  %given_at = getelementptr ptr, ptr %arguments, i64 %given_index
  %given = load ptr, ptr %given_at
  %bound_at = getelementptr ptr, ptr %bound, i64 %j
  store ptr %given, ptr %bound_at
  %k_next = add i64 %k, 1
  br label %next_name
pass_gate:
  %entry_arguments = phi ptr [ %arguments, %read_form ], [ %arguments, %check_names ], [ %bound, %next_name ]
  %entry_count = phi i64 [ %count, %read_form ], [ %count, %check_names ], [ %bound_count, %next_name ]
  %fewer_passes = sub i64 %passes_left, 1
  store i64 %fewer_passes, ptr %state
  br i1 %calls_graph, label %check_variable, label %check_busy
check_variable:
  %reads_variable_at = getelementptr i64, ptr %state, i64 2
  %reads_variable = load i64, ptr %reads_variable_at
  %reads_no_variable = icmp eq i64 %reads_variable, 0
  br i1 %reads_no_variable, label %next_entry, label %read_variable
read_variable:
  store ptr null, ptr %value_at
  %variable = load ptr, ptr @dispatch_error_variable
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %value_at)
  %value = load ptr, ptr %value_at
  %is_found = icmp ne ptr %value, null
  br i1 %is_found, label %check_actions, label %clear_error
clear_error:
  call void @PyErr_Clear()
  br label %drop_entries
check_actions:
  %has_actions = load i64, ptr @dispatch_has_actions
  %is_readable = icmp ne i64 %has_actions, 0
  br i1 %is_readable, label %read_actions, label %compare_default
read_actions:
  %content_at = getelementptr i8, ptr %value, i64 $BUFFER
  %content = load ptr, ptr %content_at
  %read = load i32, ptr %content
  call void @release_object(ptr %value)
  %beyond_warnings = and i32 %read, $BEYOND_WARNINGS
  %warns_at_most = icmp eq i32 %beyond_warnings, 0
  br i1 %warns_at_most, label %next_entry, label %drop_entries
compare_default:
  call void @release_object(ptr %value)
  %default = load ptr, ptr @dispatch_default_errors
  %is_default = icmp eq ptr %value, %default
  br i1 %is_default, label %next_entry, label %drop_entries
check_busy:
  %busy_at = load ptr, ptr @dispatch_busy
  %busy = load atomic i64, ptr %busy_at monotonic, align 8
  %is_idle = icmp eq i64 %busy, 0
  br i1 %is_idle, label %call_plain, label %drop_entries
call_plain:
  %plain_at = getelementptr ptr, ptr %items, i64 $PLAIN
  %plain = load ptr, ptr %plain_at
  %plain_result = call ptr @"PyObject_Vectorcall"(ptr %plain, ptr %arguments, i64 %count, ptr %names)
  call void @release_object(ptr %entries)
  ret ptr %plain_result
next_entry:
  %i = phi i64 [ $ENTRIES, %check_variable ], [ $ENTRIES, %read_actions ], [ $ENTRIES, %compare_default ], [ %next, %drop_refusal ]
  %actions = phi i32 [ -1, %check_variable ], [ %read, %read_actions ], [ -1, %compare_default ], [ %actions, %drop_refusal ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %call_entry, label %drop_entries
call_entry:
  %item_at = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %definition_at = getelementptr i8, ptr %item, i64 $DEFINITION
  %definition = load ptr, ptr %definition_at
  %owner_at = getelementptr i8, ptr %item, i64 $OWNER
  %owner = load ptr, ptr %owner_at
  %function_at = getelementptr i8, ptr %definition, i64 8
  %function = load ptr, ptr %function_at
  %result = call ptr %function(ptr %owner, ptr %entry_arguments, i64 %entry_count)
  %has_raised = icmp eq ptr %result, null
  br i1 %has_raised, label %handle_error, label %check_refusal
check_refusal:
  %is_refused = icmp eq ptr %result, %not_implemented
  br i1 %is_refused, label %drop_refusal, label %count_call
count_call:
  %cell = load ptr, ptr %items
  %buffer_at = getelementptr i8, ptr %cell, i64 $BUFFER
  %buffer = load ptr, ptr %buffer_at
  %calls = load i64, ptr %buffer
  %next_calls = add i64 %calls, 1
  store i64 %next_calls, ptr %buffer
  %variable_flag_at = getelementptr i64, ptr %state, i64 2
  %variable_flag = load i64, ptr %variable_flag_at
  %has_no_flag = icmp eq i64 %variable_flag, 0
  br i1 %has_no_flag, label %return_result, label %read_flags
read_flags:
  %errors = call i64 @float_errors()
  %has_no_errors = icmp eq i64 %errors, 0
  br i1 %has_no_errors, label %return_result, label %clear_flags
clear_flags:
  call void @set_float_errors(i64 0)
  %warning_errors = call i64 @float_errors_of(i32 %actions)
  %shown_errors = and i64 %errors, %warning_errors
  %all_ignored = icmp eq i64 %shown_errors, 0
  br i1 %all_ignored, label %return_result, label %report_errors
return_result:
  call void @release_object(ptr %entries)
  ret ptr %result
report_errors:
  %error_number = call ptr @PyLong_FromLongLong(i64 %errors)
  %report_length = add i64 %entry_count, 4
  %error_report = alloca ptr, i64 %report_length
  store ptr %self, ptr %error_report
  %entry_at = getelementptr ptr, ptr %error_report, i64 1
  store ptr %item, ptr %entry_at
  %result_at = getelementptr ptr, ptr %error_report, i64 2
  store ptr %result, ptr %result_at
  %number_at = getelementptr ptr, ptr %error_report, i64 3
  store ptr %error_number, ptr %number_at
  %report_arguments_at = getelementptr ptr, ptr %error_report, i64 4
  %argument_bytes = shl i64 %entry_count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %report_arguments_at, ptr %entry_arguments, i64 %argument_bytes, i1 false)
  %error_handler = load ptr, ptr @dispatch_flags_handler
  %judged_result = call ptr @"PyObject_Vectorcall"(ptr %error_handler, ptr %error_report, i64 %report_length, ptr null)
  call void @release_object(ptr %error_number)
  call void @release_object(ptr %result)
  call void @release_object(ptr %entries)
  ret ptr %judged_result
drop_refusal:
  call void @release_object(ptr %result)
  %next = add i64 %i, 1
  br label %next_entry
drop_entries:
  call void @release_object(ptr %entries)
  br label %call_slow
call_slow:
  br i1 %has_no_names, label %measure_arguments, label %count_names
count_names:
  %name_count_at = getelementptr i8, ptr %names, i64 16
  %name_count = load i64, ptr %name_count_at
  br label %measure_arguments
measure_arguments:
  %keyword_count = phi i64 [ 0, %call_slow ], [ %name_count, %count_names ]
  %argument_count = add i64 %count, %keyword_count
  %slot_count = add i64 %argument_count, 1
  %needs_heap = icmp ugt i64 %slot_count, $MOST_ON_STACK
  br i1 %needs_heap, label %allocate_heap, label %allocate_stack
allocate_heap:
  %heap_bytes = shl i64 %slot_count, 3
  %block = call ptr @PyMem_Malloc(i64 %heap_bytes)
  %is_out_of_memory = icmp eq ptr %block, null
  br i1 %is_out_of_memory, label %no_memory, label %copy_arguments
no_memory:
  %no_memory_error = call ptr @PyErr_NoMemory()
  ret ptr null
allocate_stack:
  %frame = alloca ptr, i64 %slot_count
  br label %copy_arguments
copy_arguments:
  %all_arguments = phi ptr [ %block, %allocate_heap ], [ %frame, %allocate_stack ]
  store ptr %self, ptr %all_arguments
  %arguments_at = getelementptr ptr, ptr %all_arguments, i64 1
  %copied_bytes = shl i64 %argument_count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %arguments_at, ptr %arguments, i64 %copied_bytes, i1 false)
  %callee = load ptr, ptr @dispatch_miss_handler
  %passed_count = add i64 %count, 1
  %slow_result = call ptr @"PyObject_Vectorcall"(ptr %callee, ptr %all_arguments, i64 %passed_count, ptr %names)
  br i1 %needs_heap, label %free_heap, label %return_slow_result
free_heap:
  call void @PyMem_Free(ptr %all_arguments)
  br label %return_slow_result
return_slow_result:
  ret ptr %slow_result
handle_error:
  store ptr null, ptr %class_at
  store ptr null, ptr %error_at
  store ptr null, ptr %traceback_at
  call void @PyErr_Fetch(ptr %class_at, ptr %error_at, ptr %traceback_at)
  call void @PyErr_NormalizeException(ptr %class_at, ptr %error_at, ptr %traceback_at)
  %error = load ptr, ptr %error_at
  %traceback = load ptr, ptr %traceback_at
  %has_traceback = icmp ne ptr %traceback, null
  br i1 %has_traceback, label %attach_traceback, label %report_failure
attach_traceback:
  call i32 @PyException_SetTraceback(ptr %error, ptr %traceback)
  br label %report_failure
report_failure:
  %failure_length = add i64 %entry_count, 3
  %failure_report = alloca ptr, i64 %failure_length
  store ptr %self, ptr %failure_report
  %failed_entry_at = getelementptr ptr, ptr %failure_report, i64 1
  store ptr %item, ptr %failed_entry_at
  %failed_error_at = getelementptr ptr, ptr %failure_report, i64 2
  store ptr %error, ptr %failed_error_at
  %failed_arguments_at = getelementptr ptr, ptr %failure_report, i64 3
  %failed_bytes = shl i64 %entry_count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %failed_arguments_at, ptr %entry_arguments, i64 %failed_bytes, i1 false)
  %handler = load ptr, ptr @dispatch_failure_handler
  %handler_result = call ptr @"PyObject_Vectorcall"(ptr %handler, ptr %failure_report, i64 %failure_length, ptr null)
  call void @release(ptr %class_at)
  call void @release(ptr %error_at)
  call void @release(ptr %traceback_at)
  call void @release_object(ptr %entries)
  ret ptr %handler_result
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
