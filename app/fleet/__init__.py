"""Fleets of ranks: a store of Parquet files, how it is filled and read."""
