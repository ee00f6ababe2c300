"""Values of tensors: sketched, matched, reseeded, compared."""
