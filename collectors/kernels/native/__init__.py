"""Kernels of our own in a library of operators: the same programs, translated to C and compiled
with the registration that the engine asks for, so that they run inside its session."""
