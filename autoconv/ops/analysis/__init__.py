"""Analyses of graphs that ops, passes and backends share: aliases, ranges, sizes, induction variables."""
