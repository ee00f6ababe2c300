"""Processes that run engines: how they are started and bounded, and what they are told."""
