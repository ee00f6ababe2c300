"""Several variants or files against one baseline: their report, and what else is taken away."""
