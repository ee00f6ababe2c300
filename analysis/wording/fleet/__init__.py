"""A fleet of ranks: what is said of it."""
