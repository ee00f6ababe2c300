"""Fusion groups: which original operators became which operators of either side."""
