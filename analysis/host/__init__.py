"""What the host did while the device had nothing running, and how far ahead it launched."""
