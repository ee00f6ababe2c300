"""Findings, missed fusions, predictions and tries on a page."""
