"""Pieces of the Fusion page: one group, and operators in none."""
