"""What workers of JAX do."""
