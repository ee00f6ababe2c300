"""MindSpore, in workers of its own environment: models, sessions, what graph kernels hold."""
