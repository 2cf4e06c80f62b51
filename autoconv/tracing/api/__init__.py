"""The decorators and their results: functions, methods of instances, paths of calls, pickling, exported graphs."""
