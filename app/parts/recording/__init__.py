"""Pieces of the Record page."""
