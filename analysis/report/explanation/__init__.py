"""An explanation in a report: its sentences, and its values as JSON."""
