"""The store: traces that were read, as Parquet, so that they open again without being parsed."""
