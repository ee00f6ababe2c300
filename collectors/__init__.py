"""Run a model's variants and write what was measured into one experiment file."""
