"""Traces in, answers out: pure functions from profiler files to comparisons and reports."""
