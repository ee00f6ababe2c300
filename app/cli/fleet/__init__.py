"""Verbs of a fleet of ranks."""
