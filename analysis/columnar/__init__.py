"""A Trace as Arrow tables, and back, exactly: what is kept of a trace that was read."""
