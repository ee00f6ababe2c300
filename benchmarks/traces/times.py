"""Times as profilers write them."""


def us(ns: int) -> str:
    """A time in ns as µs with all three decimals."""
    return f"{ns // 1000}.{ns % 1000:03d}"
