"""Graphs of a device: their captures, their replays, and names that travel between the two."""
