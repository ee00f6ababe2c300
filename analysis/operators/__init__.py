"""Operators: their types, classes and kernels, what their names tell, and the work they do."""
