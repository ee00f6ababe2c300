"""Recipes on pages and in the terminal: what is recorded, what there is, how it is shown."""
