"""Recordings as verbs start and show them."""
