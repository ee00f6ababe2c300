"""What a function of the user's gives for torch: inputs, or a training step."""
