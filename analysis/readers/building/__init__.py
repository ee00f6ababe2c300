"""From columns, one entry a call, to a Trace."""
