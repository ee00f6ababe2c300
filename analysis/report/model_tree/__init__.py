"""The model tree in the report and in JSON."""
