"""What a variant runs in place of the model: pieces of it, or a rewritten copy."""
