"""torch.compile, run in workers of its own environment; nothing here is imported elsewhere."""
