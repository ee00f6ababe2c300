"""What a report holds to be opened again: traces as packed tables, experiments as their files."""
