"""The library: what is kept and what was recorded, found, named, compared and asked in SQL."""
