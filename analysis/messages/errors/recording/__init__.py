"""Errors of what is asked of a recording, and of the device that it names."""
