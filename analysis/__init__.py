"""Traces in, answers out: pure functions from profiler files to comparisons and reports."""

if not __name__.startswith("fusescope."):
    raise ImportError("Import fusescope.analysis: FuseScope has no package named analysis alone.")
