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
    module.declare("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr")
    return """
define internal void @retain(ptr %object) alwaysinline nounwind {
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

define internal void @release(ptr %slot) nounwind {
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

define internal i1 @is_alone(ptr %array) alwaysinline nounwind {
  %count = load i64, ptr %array
  %single = icmp eq i64 %count, 1
  %place = getelementptr inbounds i8, ptr %array, i64 BASE
  %base = load ptr, ptr %place
  %whole = icmp eq ptr %base, null
  %alone = and i1 %single, %whole
  ret i1 %alone
}

define internal ptr @new_array(i32 %rank, ptr %dimensions, ptr %descriptor) nounwind {
  call void @retain(ptr %descriptor)
  %made = call ptr @"PyArray_Empty"(i32 %rank, ptr %dimensions, ptr %descriptor, i32 0)
  ret ptr %made
}

define internal ptr @call_python(ptr %function, ptr %arguments, i64 %count) nounwind {
  %found = call ptr @"PyObject_Vectorcall"(ptr %function, ptr %arguments, i64 %count, ptr null)
  ret ptr %found
}
""".replace("BASE", str(abi.BASE))


__all__ = ["METADATA", "prelude"]
