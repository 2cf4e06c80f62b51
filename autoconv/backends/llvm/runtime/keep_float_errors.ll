; Raise these flags again, which a call of NumPy may have cleared.
define internal void @keep_float_errors(i64 %errors) nounwind {
  %errors_after = call i64 @float_errors()
  %all_errors = or i64 %errors, %errors_after
  %has_all_errors = icmp eq i64 %all_errors, %errors_after
  br i1 %has_all_errors, label %done, label %restore_errors
restore_errors:
  call void @set_float_errors(i64 %all_errors)
  br label %done
done:
  ret void
}
