; Native `__call__` of functions: calls the entries of an object's slot in turn, see call_dispatch.py.

@dispatch_slow = global ptr null
@dispatch_failed = global ptr null
@dispatch_missing = global ptr null
@dispatch_slot = global i64 0
@dispatch_methods = global i64 0
@dispatch_detour = global ptr null
@dispatch_busy = global ptr null
@dispatch_variable = global ptr null
@dispatch_default = global ptr null
@dispatch_has_actions = global i64 0
@dispatch_flagged = global ptr null
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

define internal void @let_go(ptr %object) nounwind {
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

define ptr @dispatch(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind {
entry:
  %kind_at = alloca ptr
  %error_at = alloca ptr
  %trace_at = alloca ptr
  %value_at = alloca ptr
  %methods_offset = load i64, ptr @dispatch_methods
  %methods_at = getelementptr i8, ptr %self, i64 %methods_offset
  %methods = load ptr, ptr %methods_at
  %binds = icmp ne ptr %methods, null
  %has_first = icmp sgt i64 %count, 0
  %may_be_bound = and i1 %binds, %has_first
  br i1 %may_be_bound, label %find_method, label %own
find_method:
  %instance = load ptr, ptr %arguments
  %key = call ptr @PyLong_FromVoidPtr(ptr %instance)
  %has_key = icmp ne ptr %key, null
  br i1 %has_key, label %find_entry, label %no_key
no_key:
  call void @PyErr_Clear()
  br label %own
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
  call void @let_go(ptr %key)
  br label %own
call_method:
  %method_at = getelementptr i8, ptr %pair, i64 32
  %method = load ptr, ptr %method_at
  call void @retain(ptr %method)
  call void @let_go(ptr %key)
  %further = getelementptr ptr, ptr %arguments, i64 1
  %fewer = sub i64 %count, 1
  %of_method = call ptr @dispatch(ptr %method, ptr %further, i64 %fewer, ptr %names)
  call void @let_go(ptr %method)
  ret ptr %of_method
own:
  %offset = load i64, ptr @dispatch_slot
  %place = getelementptr i8, ptr %self, i64 %offset
  %entries = load ptr, ptr %place
  %there = icmp ne ptr %entries, null
  %unnamed = icmp eq ptr %names, null
  %detour_at = load ptr, ptr @dispatch_detour
  %detour = load atomic i64, ptr %detour_at monotonic, align 8
  %usual = icmp eq i64 %detour, 0
  %all = and i1 %there, %usual
  br i1 %all, label %try, label %slow
try:
  call void @retain(ptr %entries)
  %size_at = getelementptr i8, ptr %entries, i64 16
  %size = load i64, ptr %size_at
  %items = getelementptr i8, ptr %entries, i64 24
  %missing = load ptr, ptr @dispatch_missing
  %filled = icmp sgt i64 %size, $PLAIN
  br i1 %filled, label %gated, label %none
gated:
  %gate_at = getelementptr ptr, ptr %items, i64 $GATE
  %gate = load ptr, ptr %gate_at
  %state_at = getelementptr i8, ptr %gate, i64 $BUFFER
  %state = load ptr, ptr %state_at
  %left = load i64, ptr %state
  %passes = icmp sgt i64 %left, 0
  %form_at = getelementptr i64, ptr %state, i64 1
  %form = load i64, ptr %form_at
  %graphs = icmp eq i64 %form, 0
  %is_plain_form = xor i1 %graphs, true
  %takes_names = or i1 %unnamed, %is_plain_form
  %goes_on = and i1 %passes, %takes_names
  br i1 %goes_on, label %pass_gate, label %none
pass_gate:
  %lower = sub i64 %left, 1
  store i64 %lower, ptr %state
  br i1 %graphs, label %graph, label %plainly
graph:
  %asks_at = getelementptr i64, ptr %state, i64 2
  %asks = load i64, ptr %asks_at
  %unasked = icmp eq i64 %asks, 0
  br i1 %unasked, label %look, label %ask_variable
ask_variable:
  store ptr null, ptr %value_at
  %variable = load ptr, ptr @dispatch_variable
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %value_at)
  %value = load ptr, ptr %value_at
  %is_found = icmp ne ptr %value, null
  br i1 %is_found, label %compare, label %unknown
unknown:
  call void @PyErr_Clear()
  br label %none
compare:
  %has_actions = load i64, ptr @dispatch_has_actions
  %is_readable = icmp ne i64 %has_actions, 0
  br i1 %is_readable, label %read_actions, label %compare_default
read_actions:
  %content_at = getelementptr i8, ptr %value, i64 $BUFFER
  %content = load ptr, ptr %content_at
  %read = load i32, ptr %content
  call void @let_go(ptr %value)
  %beyond_warnings = and i32 %read, $BEYOND_WARNINGS
  %warns_at_most = icmp eq i32 %beyond_warnings, 0
  br i1 %warns_at_most, label %look, label %none
compare_default:
  call void @let_go(ptr %value)
  %default = load ptr, ptr @dispatch_default
  %is_default = icmp eq ptr %value, %default
  br i1 %is_default, label %look, label %none
plainly:
  %busy_at = load ptr, ptr @dispatch_busy
  %busy = load atomic i64, ptr %busy_at monotonic, align 8
  %idle = icmp eq i64 %busy, 0
  br i1 %idle, label %call_plain, label %none
call_plain:
  %plain_at = getelementptr ptr, ptr %items, i64 $PLAIN
  %plain = load ptr, ptr %plain_at
  %result = call ptr @"PyObject_Vectorcall"(ptr %plain, ptr %arguments, i64 %count, ptr %names)
  call void @let_go(ptr %entries)
  ret ptr %result
look:
  %i = phi i64 [ $ENTRIES, %graph ], [ $ENTRIES, %read_actions ], [ $ENTRIES, %compare_default ], [ %next, %other ]
  %actions = phi i32 [ -1, %graph ], [ %read, %read_actions ], [ -1, %compare_default ], [ %actions, %other ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %ask, label %none
ask:
  %item_at = getelementptr ptr, ptr %items, i64 %i
  %item = load ptr, ptr %item_at
  %definition_at = getelementptr i8, ptr %item, i64 $DEFINITION
  %definition = load ptr, ptr %definition_at
  %owner_at = getelementptr i8, ptr %item, i64 $OWNER
  %owner = load ptr, ptr %owner_at
  %function_at = getelementptr i8, ptr %definition, i64 8
  %function = load ptr, ptr %function_at
  %found = call ptr %function(ptr %owner, ptr %arguments, i64 %count)
  %raised = icmp eq ptr %found, null
  br i1 %raised, label %failed, label %answered
answered:
  %refused = icmp eq ptr %found, %missing
  br i1 %refused, label %other, label %done
done:
  %cell = load ptr, ptr %items
  %buffer_at = getelementptr i8, ptr %cell, i64 $BUFFER
  %buffer = load ptr, ptr %buffer_at
  %calls = load i64, ptr %buffer
  %counted = add i64 %calls, 1
  store i64 %counted, ptr %buffer
  %typed_at = getelementptr i64, ptr %state, i64 2
  %typed = load i64, ptr %typed_at
  %untyped = icmp eq i64 %typed, 0
  br i1 %untyped, label %give, label %read_flags
read_flags:
  %errors = call i64 @float_errors()
  %clean = icmp eq i64 %errors, 0
  br i1 %clean, label %give, label %clear_flags
clear_flags:
  call void @set_float_errors(i64 0)
  %warned_of = call i64 @float_errors_of(i32 %actions)
  %shown_errors = and i64 %errors, %warned_of
  %all_ignored = icmp eq i64 %shown_errors, 0
  br i1 %all_ignored, label %give, label %flagged
give:
  call void @let_go(ptr %entries)
  ret ptr %found
flagged:
  %number = call ptr @PyLong_FromLongLong(i64 %errors)
  %shown = add i64 %count, 4
  %shown_at = alloca ptr, i64 %shown
  store ptr %self, ptr %shown_at
  %entry_at = getelementptr ptr, ptr %shown_at, i64 1
  store ptr %item, ptr %entry_at
  %found_at = getelementptr ptr, ptr %shown_at, i64 2
  store ptr %found, ptr %found_at
  %number_at = getelementptr ptr, ptr %shown_at, i64 3
  store ptr %number, ptr %number_at
  %given_at = getelementptr ptr, ptr %shown_at, i64 4
  %size_of_given = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %given_at, ptr %arguments, i64 %size_of_given, i1 false)
  %judge = load ptr, ptr @dispatch_flagged
  %judged = call ptr @"PyObject_Vectorcall"(ptr %judge, ptr %shown_at, i64 %shown, ptr null)
  call void @let_go(ptr %number)
  call void @let_go(ptr %found)
  call void @let_go(ptr %entries)
  ret ptr %judged
other:
  call void @let_go(ptr %found)
  %next = add i64 %i, 1
  br label %look
none:
  call void @let_go(ptr %entries)
  br label %slow
slow:
  br i1 %unnamed, label %pass, label %measure
measure:
  %named_at = getelementptr i8, ptr %names, i64 16
  %named = load i64, ptr %named_at
  br label %pass
pass:
  %values = phi i64 [ 0, %slow ], [ %named, %measure ]
  %given = add i64 %count, %values
  %length = add i64 %given, 1
  %many = icmp ugt i64 %length, $MOST_ON_STACK
  br i1 %many, label %heap, label %stack
heap:
  %room = shl i64 %length, 3
  %block = call ptr @PyMem_Malloc(i64 %room)
  %full = icmp eq ptr %block, null
  br i1 %full, label %no_memory, label %copy
no_memory:
  %nothing = call ptr @PyErr_NoMemory()
  ret ptr null
stack:
  %frame = alloca ptr, i64 %length
  br label %copy
copy:
  %whole = phi ptr [ %block, %heap ], [ %frame, %stack ]
  store ptr %self, ptr %whole
  %behind = getelementptr ptr, ptr %whole, i64 1
  %bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %behind, ptr %arguments, i64 %bytes, i1 false)
  %callee = load ptr, ptr @dispatch_slow
  %passed = add i64 %count, 1
  %slowly = call ptr @"PyObject_Vectorcall"(ptr %callee, ptr %whole, i64 %passed, ptr %names)
  br i1 %many, label %free, label %answer_slowly
free:
  call void @PyMem_Free(ptr %whole)
  br label %answer_slowly
answer_slowly:
  ret ptr %slowly
failed:
  store ptr null, ptr %kind_at
  store ptr null, ptr %error_at
  store ptr null, ptr %trace_at
  call void @PyErr_Fetch(ptr %kind_at, ptr %error_at, ptr %trace_at)
  call void @PyErr_NormalizeException(ptr %kind_at, ptr %error_at, ptr %trace_at)
  %error = load ptr, ptr %error_at
  %trace = load ptr, ptr %trace_at
  %traced = icmp ne ptr %trace, null
  br i1 %traced, label %attach, label %tell
attach:
  call i32 @PyException_SetTraceback(ptr %error, ptr %trace)
  br label %tell
tell:
  %told = add i64 %count, 3
  %report = alloca ptr, i64 %told
  store ptr %self, ptr %report
  %second = getelementptr ptr, ptr %report, i64 1
  store ptr %item, ptr %second
  %third = getelementptr ptr, ptr %report, i64 2
  store ptr %error, ptr %third
  %rest = getelementptr ptr, ptr %report, i64 3
  %size_of_rest = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr %arguments, i64 %size_of_rest, i1 false)
  %handler = load ptr, ptr @dispatch_failed
  %answer = call ptr @"PyObject_Vectorcall"(ptr %handler, ptr %report, i64 %told, ptr null)
  call void @release(ptr %kind_at)
  call void @release(ptr %error_at)
  call void @release(ptr %trace_at)
  call void @let_go(ptr %entries)
  ret ptr %answer
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
