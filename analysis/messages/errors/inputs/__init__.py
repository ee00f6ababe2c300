"""Errors of what is given: archives, and well-known files of other tools."""
