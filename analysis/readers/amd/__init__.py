"""AMD's rocprof, from v1 to rocprofv3."""
