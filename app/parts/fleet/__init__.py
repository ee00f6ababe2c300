"""Pieces of the page Fleet."""
