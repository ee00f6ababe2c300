"""What torch.compile says of its kernels: logs and folders beside a trace."""
