"""Noise in sentences: what the times of several runs, or of one, do not say."""
