"""What releases of an engine make of one model, and what changed from one to the next."""
