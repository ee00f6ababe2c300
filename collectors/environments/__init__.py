"""Engines with an environment of their own: which there are, where they lie, how they come."""
