"""Pieces of the groups on Compare: one group, and operators in none."""
