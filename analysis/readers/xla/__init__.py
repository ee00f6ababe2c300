"""XLA profiles, as JAX, TensorFlow and PyTorch/XLA write them."""
