"""Runs of files that mark none: as many as were entered, or what repeats in them."""
