"""Engines: one file each, with a session that binds inputs once and runs many times."""
