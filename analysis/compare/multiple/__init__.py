"""Several sides at once: one baseline, several candidates, which may be the fastest, scaling."""
