"""Errors of gates."""
