"""Comparisons and traces as files for others: HTML and JSON."""
