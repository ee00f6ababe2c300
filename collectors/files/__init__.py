"""Files that are written: whole or not at all, owned, and cleared away."""
