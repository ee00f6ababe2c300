"""A comparison or a trace as data: JSON, CSV, and the tables of the Ascend profilers."""
