"""Tables of which a browser gets a page at a time."""
