"""The HTML report of one trace or variant by itself."""
