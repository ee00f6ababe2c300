"""Whether what a file says of times can be true, and what it lacks."""
