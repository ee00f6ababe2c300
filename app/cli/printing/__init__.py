"""What verbs print of a comparison and of findings."""
