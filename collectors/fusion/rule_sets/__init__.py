"""Rules that are built in, as files: `rules:<file>` finds them by their name."""
