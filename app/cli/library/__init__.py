"""The verbs of the library: what is kept, and questions about it."""
