"""JAX and XLA, run in workers of their own environment; nothing here is imported elsewhere."""
