"""The answer of a page to take along: into the clipboard, and as text to select."""
