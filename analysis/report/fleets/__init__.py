"""Fleets of ranks: their answers for programs."""
