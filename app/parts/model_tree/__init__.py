"""The model tree on a page."""
