"""Errors of what is kept in the library, and of questions about it."""
