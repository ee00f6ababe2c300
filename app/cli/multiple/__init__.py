"""Several variants, files or settings at once."""
