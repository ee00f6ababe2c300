"""The Python API: traces and comparisons as values, with tables as DataFrames (docs/api.md)."""
