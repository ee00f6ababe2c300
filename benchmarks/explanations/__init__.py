"""Explanations held against changes that were planted: `make validate-explanations`."""
