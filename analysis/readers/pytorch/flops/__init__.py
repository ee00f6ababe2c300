"""Operations of kernels: what PyTorch counted, or the shapes of its operators give."""
