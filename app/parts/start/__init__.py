"""The page Start, and what follows where files are opened on any page."""
