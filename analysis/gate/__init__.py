"""Gate: conditions on a comparison, and whether each holds."""
