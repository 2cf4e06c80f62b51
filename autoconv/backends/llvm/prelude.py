"""Functions that every module of native code begins with: references, new arrays, calls into Python."""

from __future__ import annotations

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.text import ModuleText

METADATA = '\n!0 = !{!"branch_weights", i32 1, i32 1000000}\n!1 = !{}\n'


def prelude(module: ModuleText) -> str:
    """Declares in `module` what they call, and answers their text. `retain` and `release` leave immortal objects,
    whose count is beyond 32 bits, alone."""
    module.declare("_Py_Dealloc", "void", "ptr")
    module.declare("PyArray_Empty", "ptr", "i32, ptr, ptr, i32")
    module.declare("PyEval_SaveThread", "ptr", "")
    module.declare("PyEval_RestoreThread", "void", "ptr")
    module.declare("PyErr_CheckSignals", "i32", "")
    module.declare("PyArray_Resize", "ptr", "ptr, ptr, i32, i32")
    module.declare("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr")
    return """
define internal void @retain(ptr %object) noinline nounwind {
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

define internal void @release(ptr %slot) noinline nounwind {
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

define internal void @release_all(ptr %slots, i64 %count) noinline nounwind {
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

define internal i1 @is_alone(ptr %array) alwaysinline nounwind {
  %count = load i64, ptr %array
  %single = icmp eq i64 %count, 1
  %place = getelementptr inbounds i8, ptr %array, i64 BASE
  %base = load ptr, ptr %place
  %whole = icmp eq ptr %base, null
  %alone = and i1 %single, %whole
  ret i1 %alone
}

define internal ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor) noinline nounwind {
  call void @retain(ptr %descriptor)
  %made = call ptr @"PyArray_Empty"(i32 %rank, ptr %dimensions, ptr %descriptor, i32 0)
  ret ptr %made
}

define internal i1 @pause() noinline nounwind {
  %state = call ptr @"PyEval_SaveThread"()
  call void @"PyEval_RestoreThread"(ptr %state)
  %found = call i32 @"PyErr_CheckSignals"()
  %interrupted = icmp ne i32 %found, 0
  ret i1 %interrupted
}

define internal i1 @resize(ptr %array, i64 %size) noinline nounwind {
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

define internal ptr @call_python(ptr %function, ptr %arguments, i64 %count) noinline nounwind {
  %found = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  ret ptr %found
}
""".replace("BASE", str(abi.BASE))


__all__ = ["METADATA", "prelude"]
