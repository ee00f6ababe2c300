"""Files that verbs write: one, or the tables of a folder."""
