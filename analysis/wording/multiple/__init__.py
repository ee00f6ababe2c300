"""Several sides at once: what is said of them."""
