; Return whether an array is no view and has a single owner; each module of native code inlines this function.

define internal i1 @is_alone(ptr %array) alwaysinline nounwind {
  %count = load i64, ptr %array
  %single = icmp eq i64 %count, 1
  %place = getelementptr inbounds i8, ptr %array, i64 $BASE
  %base = load ptr, ptr %place
  %whole = icmp eq ptr %base, null
  %alone = and i1 %single, %whole
  ret i1 %alone
}
