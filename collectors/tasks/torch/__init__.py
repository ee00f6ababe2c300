"""What workers of torch do."""
