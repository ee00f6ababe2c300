"""The answer of a comparison to take along: into the clipboard, and as text to select."""
