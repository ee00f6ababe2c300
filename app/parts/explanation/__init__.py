"""What changed, in rows that open to the kernels behind them."""
