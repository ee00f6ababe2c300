"""What a profiler recorded of the host: its calls, ranges and spans, waits and launches."""
