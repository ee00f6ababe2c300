"""Ranks of one job: their collectives, and which executions of several ranks are one collective."""
