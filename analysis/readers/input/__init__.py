"""From bytes to typed columns: folders, archives, encodings, CSV, JSON, SQLite, times."""
